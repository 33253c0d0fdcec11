package drill

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spillway/host"
	"spillway/host/profile"
	"spillway/host/story"
	"spillway/sdk"
)

// folder writes a profile.
func folder(t *testing.T, base string) host.Options {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, profile.BaseFile), []byte(base), 0o600); err != nil {
		t.Fatal(err)
	}
	return host.Options{Dir: dir, Env: func(string) (string, bool) { return "", false }}
}

// TestNothingLeaves: neither vendors nor collectors nor stores of the profile are
// dialled, and nothing of what happens is stored.
func TestNothingLeaves(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var dialled atomic.Int64
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			dialled.Add(1)
			c.Close()
		}
	}()
	at := l.Addr().String()
	o := folder(t, fmt.Sprintf(`
- {id: a, name: provider-openai, config: {base_url: "http://%[1]s/v1", key: k, models: [m]}}
- {id: keyless, name: provider-anthropic, config: {base_url: "http://%[1]s/v1", key: !env NO_SUCH_KEY, vendor: anthropic}}
- {id: unlisted, name: provider-openai, config: {base_url: "http://%[1]s/v1", key: k}}
- {id: own, name: provider-anthropic, config: {base_url: "http://%[1]s/v1", auth: passthrough, vendor: anthropic}}
- {id: traces, name: telemetry, config: {endpoint: "http://%[1]s"}}
- {id: shared, name: state-redis, config: {url: "redis://%[1]s/0"}}
`, at))
	s := &surveyed{options: Options{Host: o, Faster: 5}, most: maxPerVendor}
	for _, provider := range []string{"a", "keyless", "unlisted", "own"} {
		model := map[string]string{"a": "m", "unlisted": "any"}[provider]
		if model == "" {
			model = "claude-sonnet-5"
		}
		r := sdk.Route{Provider: provider, Model: model}
		for _, scenario := range []string{"server-error", "no-terminator", "refused"} {
			chosen, err := choose([]string{scenario})
			if err != nil {
				t.Fatal(err)
			}
			v := s.run(t.Context(), play{line: Line{Routes: []sdk.Route{r}, to: host.Alias{Route: r}}, scenario: chosen[0]})
			want := SawError
			if scenario == "no-terminator" {
				want = SawAnswer
			}
			if v.Saw != want || len(v.Faults) > 0 {
				t.Errorf("%s, %s: saw %q (%s), faults %v; want %q", provider, scenario, v.Saw, v.Message, v.Faults, want)
			}
		}
	}
	if n := dialled.Load(); n > 0 {
		t.Errorf("%d connections to where the profile's own vendors, store and collector are", n)
	}
	if kept, _ := filepath.Glob(filepath.Join(o.Dir, profile.StateDir, "*.db*")); kept != nil {
		t.Errorf("stored: %v", kept)
	}
}

// TestBroken: what needs no rehearsal is told without one.
func TestBroken(t *testing.T) {
	o := folder(t, `
- {id: a, name: provider-sim, config: {models: [m, n]}}
- {id: b, name: provider, config: {vendor: nobody}}
- {id: names, name: aliases, config: {quick: {route: c/x}}}
`)
	r, err := Run(t.Context(), Options{Host: o})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, b := range r.Broken {
		got = append(got, strings.TrimPrefix(strings.ReplaceAll(b.String(), o.Dir, ""), "/"))
	}
	want := []string{
		`cordis.yml:3:36: b: vendor: unknown vendor, got "nobody" (allowed: anthropic, deepseek, kimi-coding, moonshot, openai; another one needs its endpoints or base_url)`,
		`cordis.yml:4:47: names: quick.route: unknown provider, got "c/x" (allowed: a, b); nearest known: a, b`,
		`a/m: ` + strings.TrimPrefix(english.broken[BrokenNoFailover], "{about}: "),
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("broken (-want +got):\n%s", d)
	}
	if r.Passed != 0 || r.Failed != 3 {
		t.Errorf("%d passed, %d failed; want 0 and 3", r.Passed, r.Failed)
	}
	for _, language := range []story.Language{story.English, story.Chinese} {
		var b strings.Builder
		if err := r.Write(&b, story.Options{Language: language}); err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(b.String(), "\ndrill: 0 passed, 3 failed\n") {
			t.Errorf("%s ends with %q", language, b.String()[max(0, b.Len()-60):])
		}
	}
}

// TestOneCause: what follows from one missing plugin is told once, behind its cause.
func TestOneCause(t *testing.T) {
	o := folder(t, `
- {id: a, name: provider-sim, config: {models: [m]}}
- {id: b, name: provider-sim, config: {models: [n]}}
- {id: failover, name: failovr, config: {priority: [a, b]}}
- {id: names, name: aliases, config: {quick: {route: b/n}}}
`)
	r, err := Run(t.Context(), Options{Host: o})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, b := range r.Broken {
		got = append(got, string(b.Kind)+" "+b.Entry+b.About)
	}
	if d := cmp.Diff([]string{"fault failover", "no_failover a/m, quick (b/n)"}, got); d != "" {
		t.Errorf("broken (-want +got):\n%s", d)
	}
}

func TestReadLists(t *testing.T) {
	o := folder(t, `
- id: failover
  name: failover
  config:
    priority: [a/m, {provider: b}]
    chains:
      - provider: c
        model: x
        routes: [a]
    budgets: {patient: {maxPerVendor: 9}, slow: {like: batch}}
`)
	p, err := profile.Load(o.Dir, profile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	entries, _ := p.Entries(o.Env)
	got, most := readLists(entries)
	for i := range got {
		got[i].place = strings.TrimPrefix(got[i].place, o.Dir)
	}
	want := []listed{
		{entry: "failover", path: "chains[0]", route: sdk.Route{Provider: "c", Model: "x"}, head: true, place: "/cordis.yml:7:9"},
		{entry: "failover", path: "chains[0].routes[0]", route: sdk.Route{Provider: "a"}, place: "/cordis.yml:9:18"},
		{entry: "failover", path: "priority[0]", route: sdk.Route{Provider: "a", Model: "m"}, place: "/cordis.yml:5:16"},
		{entry: "failover", path: "priority[1]", route: sdk.Route{Provider: "b"}, place: "/cordis.yml:5:21"},
	}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(listed{})); d != "" {
		t.Errorf("lists (-want +got):\n%s", d)
	}
	if most != maxPerVendorBatch {
		t.Errorf("most: got %d, want %d", most, maxPerVendorBatch)
	}
}
