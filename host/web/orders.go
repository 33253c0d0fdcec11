package web

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"spillway/sdk"
)

// maxLasting bounds how long an order may last that has an end.
const maxLasting = 366 * 24 * time.Hour

// maxNote bounds a note, in bytes.
const maxNote = 1000

// order carries out a person's order. Seconds is for how long it holds, 0 until it
// is taken back.
func (h *Handler) order(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Verb    sdk.Verb `json:"verb"`
		Target  string   `json:"target"`
		Seconds float64  `json:"seconds"`
		Note    string   `json:"note"`
	}
	if !read(w, r, &in) {
		return
	}
	switch {
	case !slices.Contains(sdk.Verbs(), in.Verb):
		refuse(w, http.StatusBadRequest, fmt.Sprintf("verb: %q is none (allowed: %v)", in.Verb, sdk.Verbs()))
		return
	case len(in.Note) > maxNote:
		refuse(w, http.StatusBadRequest, fmt.Sprintf("note: %d bytes, allowed: %d", len(in.Note), maxNote))
		return
	case !(in.Seconds >= 0 && in.Seconds <= maxLasting.Seconds()):
		refuse(w, http.StatusBadRequest, fmt.Sprintf("seconds: got %g, allowed: 0 to %.0f", in.Seconds, maxLasting.Seconds()))
		return
	}
	o := sdk.Order{Verb: in.Verb, Target: in.Target, Note: in.Note}
	if in.Seconds > 0 {
		o.Until = time.Now().Add(time.Duration(in.Seconds * float64(time.Second))).Round(time.Second)
	}
	if err := h.runtime.Operate(r.Context(), o); err != nil {
		refuse(w, http.StatusUnprocessableEntity, err.Error())
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
