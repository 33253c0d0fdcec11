package web

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"spillway/host/story"
	"spillway/sdk"
)

// statusView is the state of everything as the page draws it. Equal states make
// equal JSON.
type statusView struct {
	Began    time.Time                    `json:"began"`    // when the host was started
	Read     time.Time                    `json:"read"`     // when the profile's files were read last
	Status   story.StatusView             `json:"status"`   // but for its uptime
	Priority []string                     `json:"priority"` // who is tried, in this order: provider, or provider/model
	Targets  map[string]story.TargetWords `json:"targets"`  // what stands against a target, in words
	States   map[sdk.CircuitState]string  `json:"states"`   // what circuits' states are called
	Verbs    map[sdk.Verb]string          `json:"verbs"`    // what orders in force mean
}

// view is the present state as JSON.
func (h *Handler) view(ctx context.Context, o story.Options) (json.RawMessage, error) {
	v := statusView{
		Began: h.runtime.Began().Round(0), Read: h.runtime.Reloaded().At.Round(0), Status: h.runtime.Status(ctx), Priority: append([]string{}, h.runtime.Graph().Priority()...),
		Targets: map[string]story.TargetWords{}, States: map[sdk.CircuitState]string{}, Verbs: map[sdk.Verb]string{},
	}
	v.Status.Listen, v.Status.Uptime = h.address, 0
	for _, p := range v.Status.Plugins {
		for _, t := range p.Targets {
			v.Targets[t.Target] = story.Target(t, o)
		}
	}
	for _, state := range []sdk.CircuitState{sdk.CircuitClosed, sdk.CircuitHalfOpen, sdk.CircuitOpen} {
		v.States[state] = story.State(state, o)
	}
	for _, verb := range []sdk.Verb{sdk.VerbDisable, sdk.VerbPin, sdk.VerbDrain} {
		v.Verbs[verb] = story.Verb(verb, o)
	}
	return json.Marshal(v)
}

// stamped is a view with the time of this machine, from which the page counts.
type stamped struct {
	Now  time.Time       `json:"now"`
	View json.RawMessage `json:"view"`
}

func (h *Handler) status(w http.ResponseWriter, r *http.Request) {
	v, err := h.view(r.Context(), telling(r))
	if err != nil {
		refuse(w, http.StatusInternalServerError, err.Error())
		return
	}
	reply(w, stamped{time.Now(), v})
}
