package web

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"spillway/host"
	"spillway/host/profile"
)

// pageOf runs a profile of built-in modules, with a home patch if that is not "".
func pageOf(t *testing.T, home string) (h *Handler, patch string) {
	t.Helper()
	dir := t.TempDir()
	o := host.Options{Dir: dir, Memory: true, Log: slog.New(slog.DiscardHandler)}
	files := map[string]string{filepath.Join(dir, profile.BaseFile): "- {id: sim, name: provider-sim, config: {models: [m]}}\n- {id: gateway, name: gateway, config: {holdHeadersMs: 1000}}\n"}
	if home != "" {
		o.Home = t.TempDir()
		files[filepath.Join(o.Home, profile.PatchFile)] = home
	}
	for file, text := range files {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	rt, err := host.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	h = New(Options{Runtime: rt, Log: o.Log})
	t.Cleanup(rt.Close)
	t.Cleanup(h.Close)
	return h, filepath.Join(dir, profile.PatchFile)
}

func call(h *Handler, method, path, revision, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	if revision != "" {
		r.Header.Set("If-Match", `"`+revision+`"`)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func settingsNow(t *testing.T, h *Handler) settingsView {
	t.Helper()
	var v settingsView
	if w := call(h, http.MethodGet, "/api/settings", "", ""); w.Code != http.StatusOK || json.Unmarshal(w.Body.Bytes(), &v) != nil {
		t.Fatalf("got %d %s", w.Code, w.Body)
	}
	return v
}

func TestSettingsAPI(t *testing.T) {
	const home = "- id: gateway\n  config: {keepAliveMs: 20}\n"
	tests := []struct {
		name, home, id, revision, body string
		status                         int
		want                           string // part of the answer
	}{
		{"saved", "", "gateway", "now", `{"changes": [{"path": "keepAliveMs", "value": 500}]}`, 200, `"line":3`},
		{"nothing to write", "", "gateway", "now", `{"changes": [{"path": "holdHeadersMs", "value": 1000}]}`, 200, `"written":false`},
		{"no such entry", "", "nobody", "now", `{"changes": []}`, 404, `"missing"`},
		{"no volatile fields", "", "sim", "now", `{"changes": []}`, 404, `"missing"`},
		{"the home patch decides", home, "gateway", "now", `{"changes": [{"path": "keepAliveMs", "value": 500}]}`, 409, `"line":2`},
		{"another revision", "", "gateway", "0", `{"changes": []}`, 412, `"changed"`},
		{"wrong value", "", "gateway", "now", `{"changes": [{"path": "keepAliveMs", "value": 1}]}`, 422, `"path":"keepAliveMs"`},
		{"not volatile", "", "gateway", "now", `{"changes": [{"path": "nonsense", "value": 1}]}`, 422, `"path":"nonsense"`},
		{"no revision", "", "gateway", "", `{"changes": []}`, 428, "If-Match"},
		{"not JSON", "", "gateway", "now", `{`, 400, "body"},
		{"unknown key", "", "gateway", "now", `{"change": []}`, 400, "change"},
		{"too many", "", "gateway", "now", `{"changes": [` + strings.Repeat(`{"path": "keepAliveMs"},`, maxChanges) + `{"path": "keepAliveMs"}]}`, 400, "at most"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h, patch := pageOf(t, tt.home)
			revision := tt.revision
			if revision == "now" {
				revision = settingsNow(t, h).Entries[0].Revision
			}
			w := call(h, http.MethodPut, "/api/settings/"+tt.id, revision, tt.body)
			if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.want) {
				t.Errorf("got %d %s, want %d with %s", w.Code, w.Body, tt.status, tt.want)
			}
			if _, err := os.Stat(patch); (err == nil) != (tt.name == "saved") {
				t.Errorf("the patch: %v", err)
			}
		})
	}
}

func TestSettingsView(t *testing.T) {
	h, _ := pageOf(t, "")
	v := settingsNow(t, h)
	if len(v.Entries) != 1 || v.Entries[0].ID != "gateway" || string(v.Entries[0].Values) != `{"holdHeadersMs":1000}` {
		t.Fatalf("got entries %+v", v.Entries)
	}
	if at := v.Entries[0].Origins["holdHeadersMs"]; at.Layer != "base" || at.Line != 2 {
		t.Errorf("holdHeadersMs comes from %+v", at)
	}
	if len(v.Providers) != 1 || v.Providers[0].Name != "sim" || len(v.Providers[0].Models) != 1 {
		t.Errorf("got providers %+v", v.Providers)
	}
}
