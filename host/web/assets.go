package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"fmt"
	"net/http"
	"path"
	"time"
)

//go:embed page
var page embed.FS

// kinds are what the page's files are. There are no others.
var kinds = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
}

func (h *Handler) index(w http.ResponseWriter, r *http.Request) { send(w, r, "index.html") }

func (h *Handler) asset(w http.ResponseWriter, r *http.Request) { send(w, r, r.PathValue("name")) }

// send sends one of the page's files. A browser asks each time whether it has
// changed, which it does when spillway is replaced.
func send(w http.ResponseWriter, r *http.Request, name string) {
	kind, ok := kinds[path.Ext(name)]
	data, err := page.ReadFile("page/" + name)
	if !ok || err != nil {
		refuse(w, http.StatusNotFound, "the page has no such file: "+name)
		return
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("ETag", fmt.Sprintf(`"%x"`, sha256.Sum256(data)))
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(data))
}
