package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"time"

	"spillway/host/story"
)

// maxBody bounds what the page sends.
const maxBody = 256 << 10

// reply sends v as JSON.
func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// refuse says what is wrong, in the form that the gateway's refusals have.
func refuse(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]string{"type": "invalid_request_error", "message": message}})
}

func isJSON(r *http.Request) bool {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && kind == "application/json"
}

// read decodes a request's body into v. If it is wrong it has been answered.
func read(w http.ResponseWriter, r *http.Request, v any) bool {
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	d.DisallowUnknownFields()
	err := d.Decode(v)
	if err == nil {
		return true
	}
	if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
		refuse(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("body: at most %d bytes are allowed", large.Limit))
		return false
	}
	refuse(w, http.StatusBadRequest, "body: "+err.Error())
	return false
}

// telling is how the page of a request wants things told: in which language, and
// in whose time.
func telling(r *http.Request) story.Options {
	o := story.Options{Now: time.Now(), Language: story.English}
	q := r.URL.Query()
	if q.Get("lang") == string(story.Chinese) {
		o.Language = story.Chinese
	}
	if name := q.Get("tz"); name != "" {
		if zone, err := time.LoadLocation(name); err == nil { // else this machine's
			o.Now = o.Now.In(zone)
		}
	}
	return o
}
