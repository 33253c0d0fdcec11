package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"spillway/host"
	"spillway/host/profile"
)

// maxChanges bounds the changes of one save.
const maxChanges = 256

// settingsView is what can be edited, and what may be named in it.
type settingsView struct {
	Entries   []entryView    `json:"entries"`
	Providers []providerView `json:"providers"` // whom a route may begin with
}

// entryView is one entry's form. Paths are those of sdk.Fault.
type entryView struct {
	ID        string           `json:"id"`
	Module    string           `json:"module"`
	Schema    json.RawMessage  `json:"schema"`    // of the volatile fields
	Values    json.RawMessage  `json:"values"`    // those that are set
	Inherited json.RawMessage  `json:"inherited"` // those that are set without the profile's patch
	Origins   map[string]place `json:"origins"`   // by path, where the value stands
	Revision  string           `json:"revision"`
	Error     string           `json:"error,omitempty"` // why the entry does not run so
}

type providerView struct {
	Name   string   `json:"name"`
	Models []string `json:"models"`
}

// place is where something stands in the profile's files.
type place struct {
	Layer string `json:"layer"`
	File  string `json:"file"`
	Line  int    `json:"line,omitempty"` // 0: nowhere in it
}

func placeOf(p profile.Pos) place { return place{p.Layer, p.File, p.Line} }

// settings tells what can be edited.
func (h *Handler) settings(w http.ResponseWriter, _ *http.Request) {
	all, err := h.runtime.Settings()
	if err != nil { // the files are not as they should be
		refuse(w, http.StatusUnprocessableEntity, err.Error())
		return
	}
	v := settingsView{Entries: []entryView{}, Providers: []providerView{}}
	for _, s := range all {
		e := entryView{
			ID: s.ID, Module: s.Module, Schema: s.Schema, Values: s.Values, Inherited: s.Inherited,
			Origins: map[string]place{}, Revision: s.Revision, Error: s.Error,
		}
		for path, at := range s.Origins {
			e.Origins[path] = placeOf(at)
		}
		v.Entries = append(v.Entries, e)
	}
	for _, p := range h.runtime.Graph().Catalogue().Providers {
		one := providerView{Name: p.Name, Models: []string{}}
		for _, m := range p.Models {
			one.Models = append(one.Models, m.ID)
		}
		v.Providers = append(v.Providers, one)
	}
	reply(w, v)
}

// saveSettings makes changes of one entry. If-Match is the revision that they were
// made of.
func (h *Handler) saveSettings(w http.ResponseWriter, r *http.Request) {
	revision := strings.Trim(r.Header.Get("If-Match"), `"`)
	if revision == "" {
		refuse(w, http.StatusPreconditionRequired, "If-Match: missing (allowed: the revision that was read)")
		return
	}
	var in struct {
		Changes []profile.Change `json:"changes"`
	}
	if !read(w, r, &in) {
		return
	}
	if len(in.Changes) > maxChanges {
		refuse(w, http.StatusBadRequest, fmt.Sprintf("changes: at most %d are allowed", maxChanges))
		return
	}
	saved, err := h.runtime.SaveSettings(r.Context(), r.PathValue("id"), revision, in.Changes)
	if err != nil {
		h.unsaved(w, err)
		return
	}
	reply(w, struct {
		At       place  `json:"at"` // of the entry's config in the profile's patch
		Revision string `json:"revision"`
		Written  bool   `json:"written"` // false: the files said so already
	}{placeOf(saved.Pos), saved.Revision, saved.Written})
}

// settingsError is why settings are not saved, told so that a form can show it.
type settingsError struct {
	Type    string      `json:"type"` // "missing", "changed", "overridden", "invalid" or "failed"
	Message string      `json:"message"`
	At      *place      `json:"at,omitempty"`     // of what decides in their place
	Faults  []faultView `json:"faults,omitempty"` // for "invalid"
}

type faultView struct {
	Path    string `json:"path"` // "" for the whole
	Value   string `json:"value,omitempty"`
	Message string `json:"message"`
	Allowed string `json:"allowed,omitempty"`
}

// unsaved answers a save that failed. Nothing of it was written.
func (h *Handler) unsaved(w http.ResponseWriter, err error) {
	e := settingsError{Type: "failed", Message: err.Error()}
	status := http.StatusUnprocessableEntity
	if errors.Is(err, host.ErrNoSettings) || errors.Is(err, profile.ErrNoEntry) {
		e.Type, status = "missing", http.StatusNotFound
	} else if errors.Is(err, profile.ErrChanged) {
		e.Type, status = "changed", http.StatusPreconditionFailed
	} else if over, ok := errors.AsType[*profile.OverriddenError](err); ok {
		at := placeOf(over.Pos)
		e.Type, e.At, status = "overridden", &at, http.StatusConflict
	} else if no, ok := errors.AsType[*profile.NotVolatileError](err); ok {
		e.Type, e.Faults = "invalid", []faultView{{Path: no.Path, Message: err.Error()}}
	} else if bad, ok := errors.AsType[*host.InvalidError](err); ok {
		e.Type = "invalid"
		for _, f := range bad.Faults {
			e.Faults = append(e.Faults, faultView{Path: f.Path, Value: f.Value, Message: f.Message, Allowed: f.Allowed})
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]settingsError{"error": e})
}
