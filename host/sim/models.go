package sim

import (
	"encoding/json"
	"time"
)

// modelsSince is when every simulated model came out.
var modelsSince = time.Date(2025, time.January, 1, 0, 0, 0, 0, time.UTC)

func anthropicModels(models []string, _ string) []byte {
	type model struct {
		Type        string `json:"type"`
		ID          string `json:"id"`
		DisplayName string `json:"display_name"`
		CreatedAt   string `json:"created_at"`
	}
	list := struct {
		Data    []model `json:"data"`
		HasMore bool    `json:"has_more"`
		FirstID *string `json:"first_id"`
		LastID  *string `json:"last_id"`
	}{Data: []model{}}
	for _, id := range models {
		list.Data = append(list.Data, model{"model", id, id, modelsSince.Format(time.RFC3339)})
	}
	if n := len(models); n > 0 {
		list.FirstID, list.LastID = &models[0], &models[n-1]
	}
	return encode(list)
}

func openaiModels(models []string, owner string) []byte {
	type model struct {
		ID      string `json:"id"`
		Object  string `json:"object"`
		Created int64  `json:"created"`
		OwnedBy string `json:"owned_by"`
	}
	list := struct {
		Object string  `json:"object"`
		Data   []model `json:"data"`
	}{"list", []model{}}
	for _, id := range models {
		list.Data = append(list.Data, model{id, "model", modelsSince.Unix(), owner})
	}
	return encode(list)
}

// encode writes a value that always has a JSON form.
func encode(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}
