package gateway_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"spillway/host"
	"spillway/host/dialect"
	"spillway/host/gateway"
	"spillway/host/profile"
	"spillway/host/sim"
	"spillway/host/state/record"
)

// rig is a gateway before one vendor, without plugins.
type rig struct {
	t       testing.TB
	vendor  *sim.Endpoint // nil if it is none of package sim
	server  *gateway.Server
	http    *httptest.Server
	url     string
	dir     string
	runtime *host.Runtime
	faulty  bool // an answer is to break its grammar
}

// api is one of the APIs with a request.
type api struct{ name, module, path, body string }

// dialects are all of them.
var dialects = []api{
	{"anthropic", "provider-anthropic", "/v1/messages", `{"model":"p/m1","max_tokens":99,"stream":%t,"messages":[{"role":"user","content":"hi"}]}`},
	{"openai", "provider-openai", "/v1/chat/completions", `{"model":"p/m1","stream":%t,"messages":[{"role":"user","content":"hi"}]}`},
	{"responses", "provider-responses", "/v1/responses", `{"model":"p/m1","stream":%t,"input":"hi"}`},
}

func (a api) dialect(t *testing.T) dialect.Dialect {
	t.Helper()
	d, ok := dialect.ByName(a.name)
	if !ok {
		t.Fatalf("no dialect %s", a.name)
	}
	return d
}

// newRig is a rig before a vendor of package sim.
func newRig(t testing.TB, script, module string, o gateway.Options) *rig {
	t.Helper()
	s, err := sim.New(sim.Options{Vendors: []sim.Vendor{{Name: "p", Like: "anthropic", Script: script, Answer: sim.Answer{Tokens: 20, Numbered: true}}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(context.Background(), "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	r := openRig(t, row(module, s.Vendor("p").URL()), o)
	r.vendor = s.Vendor("p")
	return r
}

// row is the vendor's row in a profile.
func row(module, url string) string {
	return fmt.Sprintf("- {id: p, name: %s, config: {base_url: %q, models: [m1], vendor: anthropic, key: k}}\n", module, url+"/v1")
}

// openRig is a rig of a profile with the rows. The shape of every streamed answer
// is checked.
func openRig(t testing.TB, rows string, o gateway.Options) *rig {
	t.Helper()
	r := &rig{t: t, dir: t.TempDir()}
	if !strings.Contains(rows, "name: gateway") {
		rows += "- {id: gateway, name: gateway, config: {checkGrammar: 1}}\n"
	}
	r.write(rows)
	rt, err := host.Open(t.Context(), host.Options{Dir: r.dir, Memory: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(rt.Close)
	o.Runtime = rt
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	r.runtime, r.server = rt, gateway.New(o)
	r.http = httptest.NewUnstartedServer(nil)
	r.http.Config = gateway.HTTPServer(r.server)
	r.http.Start()
	t.Cleanup(r.http.Close)
	r.url = r.http.URL
	t.Cleanup(func() {
		if faults := r.server.GrammarFaults(); (faults != "") != r.faulty {
			t.Errorf("faults of grammar: %q", faults)
		}
	})
	return r
}

func (r *rig) write(rows string) {
	r.t.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, profile.BaseFile), []byte(rows), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// record waits for the record of a request that has ended.
func (r *rig) record(id string) record.Request {
	r.t.Helper()
	for {
		rec, err := r.runtime.Records().Get(r.t.Context(), id)
		if err == nil && rec.Outcome != "" && !slices.ContainsFunc(rec.Attempts, func(a record.Attempt) bool { return a.Outcome == "" }) {
			return rec
		}
		if r.t.Context().Err() != nil {
			r.t.Fatalf("no record of %s", id)
		}
	}
}

// newest waits for the first record and returns its id.
func (r *rig) newest() string {
	r.t.Helper()
	for {
		rec, err := r.runtime.Records().Last(r.t.Context())
		if err == nil {
			return rec.ID
		}
		if r.t.Context().Err() != nil {
			r.t.Fatal("no record")
		}
	}
}

func post(t testing.TB, url, body string) (*http.Response, []byte, error) {
	t.Helper()
	resp := open(t, t.Context(), url, body)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp, b, err
}

// open is post without the body, which the caller reads and closes.
func open(t testing.TB, ctx context.Context, url, body string) *http.Response {
	t.Helper()
	resp, err := send(ctx, url, body)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

func send(ctx context.Context, url, body string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("X-Api-Key", "k")
	return http.DefaultClient.Do(req)
}

func digitless(b []byte) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return '0'
		}
		return r
	}, string(b))
}
