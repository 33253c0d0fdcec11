package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"spillway/host/state"
	"spillway/host/state/record"
	"spillway/host/story"
	"spillway/sdk"
)

const (
	// pageSize is how many requests are sent at a time.
	pageSize = 50
	// maxScanned bounds how many records are read for one page: the store cannot
	// look for a vendor or a part of an id.
	maxScanned = 2000
)

// summary is a request in one line.
type summary struct {
	ID           string          `json:"id"`
	Started      time.Time       `json:"started"`
	Dialect      string          `json:"dialect"`
	Stream       bool            `json:"stream"`
	Head         string          `json:"head"`
	Conversation string          `json:"conversation,omitempty"`
	Outcome      record.Outcome  `json:"outcome"`
	Took         record.Duration `json:"took_ms"`
	Tried        []string        `json:"tried"` // routes, in order; one that was asked again stands there again
	Ending       string          `json:"ending"`
	Tone         story.Tone      `json:"tone"`
}

func summaryOf(rec record.Request, o story.Options) summary {
	w := story.Words(rec, o)
	s := summary{
		ID: rec.ID, Started: rec.Started, Dialect: rec.Dialect, Stream: rec.Stream, Head: rec.Head.String(),
		Conversation: rec.Conversation, Outcome: rec.Outcome, Took: rec.Took, Tried: []string{}, Ending: w.Ending, Tone: w.Tone,
	}
	for _, a := range rec.Attempts {
		s.Tried = append(s.Tried, a.Route.String())
	}
	return s
}

// question is which requests a page asks for.
type question struct {
	filter state.Filter
	route  string // a provider or provider/model that was asked or wished for
	text   string // part of the id, or the conversation
}

func parseQuestion(q url.Values) (question, error) {
	x := question{route: q.Get("route"), text: q.Get("text")}
	x.filter.Outcome = record.Outcome(q.Get("outcome"))
	x.filter.Conversation = q.Get("conversation")
	for name, at := range map[string]*time.Time{"since": &x.filter.Since, "before": &x.filter.Before} {
		text := q.Get(name)
		if text == "" {
			continue
		}
		var err error
		if *at, err = time.Parse(time.RFC3339Nano, text); err != nil {
			return x, fmt.Errorf("%s: %q is no time (allowed: 2006-01-02T15:04:05Z)", name, text)
		}
	}
	return x, nil
}

// wants reports whether a record that the filter has selected is asked for.
func (x question) wants(rec record.Request) bool {
	if x.text != "" && !strings.Contains(rec.ID, x.text) && !strings.HasPrefix(rec.Conversation, x.text) {
		return false
	}
	if x.route == "" || named(rec.Head, x.route) {
		return true
	}
	return slices.ContainsFunc(rec.Attempts, func(a record.Attempt) bool { return named(a.Route, x.route) })
}

func named(r sdk.Route, name string) bool { return r.Provider == name || r.String() == name }

// list is the newest page of what is asked for, and from when on to ask for the
// next; zero: there is none.
func (h *Handler) list(ctx context.Context, x question, o story.Options) (found []summary, next time.Time, err error) {
	found = []summary{}
	for scanned := 0; scanned < maxScanned; {
		recs, err := h.runtime.Records().List(ctx, x.filter, pageSize)
		if err != nil {
			return nil, time.Time{}, err
		}
		for _, rec := range recs {
			if x.wants(rec) {
				found = append(found, summaryOf(rec, o))
			}
			x.filter.Before = rec.Started
			if len(found) == pageSize {
				return found, x.filter.Before, nil
			}
		}
		if len(recs) < pageSize {
			return found, time.Time{}, nil
		}
		scanned += len(recs)
	}
	return found, x.filter.Before, nil
}

func (h *Handler) requests(w http.ResponseWriter, r *http.Request) {
	x, err := parseQuestion(r.URL.Query())
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	found, next, err := h.list(r.Context(), x, telling(r))
	if err != nil {
		refuse(w, http.StatusServiceUnavailable, err.Error())
		return
	}
	reply(w, struct {
		Requests []summary `json:"requests"`
		Next     time.Time `json:"next,omitzero"`
	}{found, next})
}

// request is one request: its record, in words, and its story as "explain" tells
// it, cols wide.
func (h *Handler) request(w http.ResponseWriter, r *http.Request) {
	rec, err := h.runtime.Records().Get(r.Context(), r.PathValue("id"))
	switch {
	case errors.Is(err, sdk.ErrNotFound):
		refuse(w, http.StatusNotFound, fmt.Sprintf("no request %q in this profile", r.PathValue("id")))
		return
	case err != nil:
		refuse(w, http.StatusServiceUnavailable, err.Error())
		return
	}
	o := telling(r)
	if n, err := strconv.Atoi(r.URL.Query().Get("cols")); err == nil {
		o.Width = min(max(n, 40), 200)
	}
	var told strings.Builder
	_ = story.Request(&told, rec, o) // a Builder never fails
	reply(w, struct {
		Record record.Request     `json:"record"`
		Words  story.RequestWords `json:"words"`
		Story  string             `json:"story"`
	}{rec, story.Words(rec, o), told.String()})
}
