package sim

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// bodiesFile holds vendor answers as they were seen, one a line, each with the
// page it was seen on.
//
//go:embed bodies.jsonl
var bodiesFile []byte

// record is a recorded vendor answer.
type record struct {
	ID      string            `json:"id"`
	Vendor  string            `json:"vendor"`
	For     string            `json:"for"`     // another vendor that plays it as its own
	Dialect string            `json:"dialect"` // "anthropic", "openai" or "other"
	Status  int               `json:"status"`
	Stream  bool              `json:"stream"` // the body is what came of an event stream
	Plays   []string          `json:"plays"`  // steps it is the answer to
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
	Source  string            `json:"source"`
}

// records reads bodiesFile once. That it reads well is a test's business.
var records = sync.OnceValue(func() []record {
	var all []record
	for line := range bytes.Lines(bodiesFile) {
		var r record
		if err := json.Unmarshal(line, &r); err != nil {
			panic(fmt.Sprintf("bodies.jsonl: %v", err))
		}
		all = append(all, r)
	}
	return all
})

func findRecord(id string) (*record, error) {
	all := records()
	i := slices.IndexFunc(all, func(r record) bool { return r.ID == id })
	if i < 0 {
		return nil, fmt.Errorf("no recorded body %q; want one of %s", id, strings.Join(Bodies(), ", "))
	}
	return &all[i], nil
}

// Bodies returns the ids of the recorded answers.
func Bodies() []string {
	var ids []string
	for _, r := range records() {
		ids = append(ids, r.ID)
	}
	return ids
}

// pick returns the record that answers a step: the vendor's own in that
// dialect, else one of the dialect's author, else any of that dialect, else one
// of no dialect. Both of OpenAI's dialects refuse in the same way.
func pick(step, vendor, dialect string) *record {
	if dialect == "responses" {
		dialect = "openai"
	}
	all := records()
	for _, fits := range []func(record) bool{
		func(r record) bool { return r.Dialect == dialect && (r.Vendor == vendor || r.For == vendor) },
		func(r record) bool { return r.Dialect == dialect && r.Vendor == dialect },
		func(r record) bool { return r.Dialect == dialect },
		func(r record) bool { return r.Dialect == "other" },
	} {
		i := slices.IndexFunc(all, func(r record) bool { return fits(r) && slices.Contains(r.Plays, step) })
		if i >= 0 {
			return &all[i]
		}
	}
	return nil
}

// contentType is the one it came with, else the one its looks call for.
func (r *record) contentType() string {
	body := strings.TrimSpace(r.Body)
	switch {
	case r.Headers["content-type"] != "":
		return r.Headers["content-type"]
	case r.Stream:
		return eventStream
	case strings.HasPrefix(body, "<"):
		return "text/html; charset=UTF-8"
	case body == "" || strings.HasPrefix(body, "{") || strings.HasPrefix(body, `"`):
		return "application/json"
	}
	return "text/plain; charset=utf-8"
}

// payload is the JSON of a body that may be written as an event.
func (r *record) payload() string {
	for line := range strings.Lines(r.Body) {
		if data, ok := strings.CutPrefix(line, "data:"); ok {
			return strings.TrimSpace(data)
		}
	}
	return r.Body
}
