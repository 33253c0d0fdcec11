package gateway

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
)

// models lists the aliases, and every model under provider/model, and under its own name where
// that is unambiguous, in the format of the client's dialect.
func (s *Server) models(w http.ResponseWriter, r *http.Request) {
	var ids []string
	for _, p := range s.runtime.Graph().Catalogue().Providers {
		for _, m := range p.Models {
			ids = append(ids, p.Name+"/"+m.ID)
			if !slices.Contains(ids, m.ID) {
				ids = append(ids, m.ID)
			}
		}
	}
	for _, name := range s.runtime.Graph().Aliases() {
		if !slices.Contains(ids, name) {
			ids = append(ids, name)
		}
	}
	slices.Sort(ids)
	w.Header().Set("Content-Type", "application/json")
	if r.Header.Get("Anthropic-Version") != "" {
		page, more := page(ids, r.URL.Query())
		_ = json.NewEncoder(w).Encode(anthropicModels(page, more))
		return
	}
	_ = json.NewEncoder(w).Encode(openaiModels(ids))
}

// page is the part of a list that the Messages API's parameters limit and
// after_id ask for, and whether more follows. Without a limit it is the rest.
func page(ids []string, q url.Values) (part []string, more bool) {
	if i := slices.Index(ids, q.Get("after_id")); i >= 0 {
		ids = ids[i+1:]
	}
	if n, err := strconv.Atoi(q.Get("limit")); err == nil && n > 0 && n < len(ids) {
		return ids[:n], true
	}
	return ids, false
}

type openaiModel struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	OwnedBy string `json:"owned_by"`
}

func openaiModels(ids []string) any {
	data := make([]openaiModel, len(ids))
	for i, id := range ids {
		data[i] = openaiModel{ID: id, Object: "model", OwnedBy: "spillway"}
	}
	return struct {
		Object string        `json:"object"`
		Data   []openaiModel `json:"data"`
	}{"list", data}
}

type anthropicModel struct {
	Type        string `json:"type"`
	ID          string `json:"id"`
	DisplayName string `json:"display_name"`
	CreatedAt   string `json:"created_at"`
}

func anthropicModels(ids []string, more bool) any {
	data := make([]anthropicModel, len(ids))
	for i, id := range ids {
		data[i] = anthropicModel{Type: "model", ID: id, DisplayName: id, CreatedAt: "1970-01-01T00:00:00Z"}
	}
	page := struct {
		Data    []anthropicModel `json:"data"`
		HasMore bool             `json:"has_more"`
		FirstID *string          `json:"first_id"`
		LastID  *string          `json:"last_id"`
	}{Data: data, HasMore: more}
	if len(ids) > 0 {
		page.FirstID, page.LastID = &ids[0], &ids[len(ids)-1]
	}
	return page
}
