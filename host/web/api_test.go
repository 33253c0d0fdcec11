package web

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spillway/host/profile"
	"spillway/host/state/record"
	"spillway/host/story"
	"spillway/sdk"
)

func TestStatus(t *testing.T) {
	s := serve(t, "")
	v := get[struct {
		Now  time.Time
		View struct {
			Began  time.Time
			Status struct {
				Listen    string
				Uptime    float64 `json:"uptime_ms"`
				Providers []struct{ Name string }
			}
			Priority []string
			States   map[sdk.CircuitState]string
		}
	}](s, "/api/status?lang=zh")
	if v.Now.IsZero() || v.View.Began.IsZero() || v.View.Status.Listen != "http://here" || v.View.Status.Uptime != 0 {
		t.Errorf("got %+v", v)
	}
	if len(v.View.Status.Providers) != 1 || v.View.Priority == nil {
		t.Errorf("got %+v", v.View)
	}
	if got, want := v.View.States[sdk.CircuitOpen], story.State(sdk.CircuitOpen, story.Options{Language: story.Chinese}); got != want {
		t.Errorf("open is called %q, want %q", got, want)
	}
}

// noon is yesterday's: old records are dropped.
func noon() time.Time {
	return time.Now().UTC().Truncate(24 * time.Hour).Add(-12 * time.Hour)
}

// sample is a request that failed at one vendor and was answered by another.
func sample(id string, at time.Time, outcome record.Outcome) record.Request {
	claude, kimi := sdk.Route{Provider: "anthropic", Model: "claude"}, sdk.Route{Provider: "kimi", Model: "k2"}
	return record.Request{
		ID: id, Started: at, Dialect: "anthropic", Stream: true, Head: claude, Conversation: "k_" + id, Outcome: outcome, Took: record.Duration(time.Second),
		Attempts: []record.Attempt{
			{N: 1, Kind: sdk.KindPrimary, Route: claude, Sent: at, Outcome: record.AttemptFailed, Took: record.Duration(time.Millisecond), Failure: record.Failure{
				Code: sdk.CodeQuota, Class: sdk.ClassDeterministic, Scope: sdk.ScopeVendor, Status: 429, Message: "<b>no\x1b[31m more</b>",
			}, Circuits: []sdk.Change{{Target: "anthropic", From: sdk.CircuitClosed, To: sdk.CircuitOpen, Until: at.Add(time.Hour)}}},
			{N: 2, Kind: sdk.KindFallback, Route: kimi, Sent: at.Add(time.Millisecond), Outcome: record.AttemptOK, Took: record.Duration(time.Second),
				Skipped: []sdk.Skip{{Route: sdk.Route{Provider: "x", Model: "y"}, Reason: "disabled"}}},
		},
	}
}

type listed struct {
	Requests []summary
	Next     string
}

func ids(l listed) string {
	var all []string
	for _, r := range l.Requests {
		all = append(all, r.ID)
	}
	return strings.Join(all, " ")
}

func TestRequests(t *testing.T) {
	s := serve(t, "")
	at := noon()
	s.put(
		sample("req_a1", at, record.OK),
		sample("req_b2", at.Add(time.Hour), record.FailedClean),
		sample("req_c3", at.Add(2*time.Hour), record.OKAfterFallback),
	)
	one := at.Add(time.Hour).Format(time.RFC3339)
	for _, tt := range []struct{ query, want string }{
		{"", "req_c3 req_b2 req_a1"},
		{"outcome=failed_clean", "req_b2"},
		{"route=kimi", "req_c3 req_b2 req_a1"},
		{"route=kimi/k2", "req_c3 req_b2 req_a1"},
		{"route=k2", ""},
		{"route=nobody", ""},
		{"text=b2", "req_b2"},
		{"text=k_req_c", "req_c3"},
		{"conversation=k_req_a1", "req_a1"},
		{"since=" + one, "req_c3 req_b2"},
		{"before=" + one, "req_a1"},
		{"since=" + one + "&text=a1", ""},
	} {
		if got := ids(get[listed](s, "/api/requests?"+tt.query)); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.query, got, tt.want)
		}
	}
	if resp := s.call(http.MethodGet, "/api/requests?since=yesterday", ""); resp.StatusCode != http.StatusBadRequest {
		t.Errorf("a time that is none: got %d", resp.StatusCode)
	}
}

// TestPages: the next page begins where the last one ended, and the last says so.
func TestPages(t *testing.T) {
	s := serve(t, "")
	at := noon()
	for i := range 2*pageSize + 1 {
		s.put(sample(fmt.Sprintf("req_%03d", i), at.Add(time.Duration(i)*time.Second), record.OK))
	}
	var sizes []int
	seen := map[string]bool{}
	for next := "start"; next != ""; {
		query := "/api/requests?route=kimi"
		if next != "start" {
			query += "&before=" + next
		}
		l := get[listed](s, query)
		for _, r := range l.Requests {
			seen[r.ID] = true
		}
		sizes = append(sizes, len(l.Requests))
		next = l.Next
	}
	if d := cmp.Diff([]int{pageSize, pageSize, 1}, sizes); d != "" || len(seen) != 2*pageSize+1 {
		t.Errorf("%d requests seen, sizes of pages (-want +got):\n%s", len(seen), d)
	}
}

// TestRequest: one request has its record, its words and the very text of explain.
func TestRequest(t *testing.T) {
	s := serve(t, "")
	at := noon()
	s.put(sample("req_a1", at, record.OKAfterFallback))
	type answer struct {
		Record record.Request
		Words  story.RequestWords
		Story  string
	}
	en, zh := get[answer](s, "/api/requests/req_a1?tz=UTC"), get[answer](s, "/api/requests/req_a1?lang=zh&tz=Asia/Shanghai&cols=60")
	for _, want := range []string{"out of quota", "kimi/k2 is asked instead", at.Format(time.DateOnly) + " 12:00"} {
		if !strings.Contains(en.Story, want) {
			t.Errorf("%q is missing in:\n%s", want, en.Story)
		}
	}
	for _, want := range []string{"额度用完", at.Format(time.DateOnly) + " 20:00"} {
		if !strings.Contains(zh.Story, want) {
			t.Errorf("%q is missing in:\n%s", want, zh.Story)
		}
	}
	if strings.Contains(en.Story, "\x1b") {
		t.Error("the vendor's escape codes are in the story")
	}
	want := []story.AttemptWords{
		{
			Title: "anthropic/claude is asked, as the caller wished", Outcome: "out of quota", Tone: story.ToneBad, Skipped: []story.SkipWords{},
			Circuits: []story.CircuitWord{{Target: "anthropic (the whole vendor)", State: "paused", Tone: story.ToneBad, Until: at.Add(time.Hour)}},
		},
		{
			Title: "kimi/k2 is asked instead: another model", Outcome: "answered", Tone: story.ToneGood,
			Skipped: []story.SkipWords{{Route: "x/y", Why: "a person has switched it off"}}, Circuits: []story.CircuitWord{},
		},
	}
	if d := cmp.Diff(want, en.Words.Attempts); d != "" {
		t.Errorf("words (-want +got):\n%s", d)
	}
	if resp := s.call(http.MethodGet, "/api/requests/req_none", ""); resp.StatusCode != http.StatusNotFound {
		t.Errorf("no such request: got %d", resp.StatusCode)
	}
}

func TestOrders(t *testing.T) {
	s := serve(t, "")
	for _, tt := range []struct {
		body   string
		status int
		says   string
	}{
		{`{"verb":"destroy","target":"p"}`, 400, `verb: \"destroy\" is none`},
		{`{"verb":"disable","target":"p","seconds":-1}`, 400, "seconds: got -1"},
		{`{"verb":"disable","target":"p","seconds":1e300}`, 400, "seconds: got 1e+300"},
		{`{"verb":"disable","target":"p","note":"` + strings.Repeat("n", maxNote+1) + `"}`, 400, "note: 1001 bytes"},
		{`{"verb":"disable","target":"p","force":true}`, 400, `unknown field \"force\"`},
		{`{"verb":"disable","target":"` + strings.Repeat("p", maxBody) + `"}`, 413, "at most 262144 bytes"},
		{`[]`, 400, "body: "},
		{`{"verb":"disable","target":"p"}`, 422, "no plugin of this profile takes orders"},
	} {
		resp := s.call(http.MethodPost, "/api/orders", tt.body, asJSON)
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode != tt.status || !strings.Contains(string(body), tt.says) {
			t.Errorf("%.60s: got %d %s, want %d with %q", tt.body, resp.StatusCode, body, tt.status, tt.says)
		}
	}
}

// event reads the next event of a stream.
func event(t *testing.T, r *bufio.Reader) (name, data string) {
	t.Helper()
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatalf("the stream ended: %v", err)
		}
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "event: "):
			name = line[len("event: "):]
		case strings.HasPrefix(line, "data: "):
			data = line[len("data: "):]
		case line == "" && name != "":
			return name, data
		}
	}
}

// TestEvents: the status comes at once, and again when it has changed; a request
// comes when it has ended.
func TestEvents(t *testing.T) {
	s := serve(t, "")
	resp := s.call(http.MethodGet, "/api/events", "")
	r := bufio.NewReader(resp.Body)
	if name, data := event(t, r); name != "status" || !strings.Contains(data, `"listen":"http://here"`) {
		t.Fatalf("first event: %s %s", name, data)
	}
	answer := s.call(http.MethodPost, "/v1/messages", `{"model":"p/m1","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}`, asJSON)
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		t.Fatal(err)
	}
	id := answer.Header.Get("X-Spillway-Request-Id")
	if name, data := event(t, r); name != "request" || !strings.Contains(data, `"id":"`+id+`"`) {
		t.Errorf("after a request: %s %s", name, data)
	}
	if err := os.WriteFile(filepath.Join(s.dir, profile.BaseFile), []byte("- {"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.runtime.Reload(t.Context()); err == nil {
		t.Error("a broken profile was taken")
	}
	if name, data := event(t, r); name != "status" || !strings.Contains(data, `"refused":`) {
		t.Errorf("after a bad save: %s %s", name, data)
	}
	s.page.Close()
	if rest, err := io.ReadAll(r); err != nil || len(rest) != 0 {
		t.Errorf("after the end: %q, %v", rest, err)
	}
}

// TestEventsEndWithTheSession: whoever logs out, or is put out by others, is told
// nothing more; who shows the token itself is not concerned.
func TestEventsEndWithTheSession(t *testing.T) {
	s := serve(t, "secret")
	logIn := func() string {
		resp := s.call(http.MethodPost, "/api/session", "{}", asJSON, "Authorization: Bearer secret")
		cookie, _, _ := strings.Cut(resp.Header.Get("Set-Cookie"), ";")
		if resp.StatusCode != http.StatusNoContent || cookie == "" {
			t.Fatalf("got %d", resp.StatusCode)
		}
		return "Cookie: " + cookie
	}
	follow := func(header string) *bufio.Reader {
		r := bufio.NewReader(s.call(http.MethodGet, "/api/events", "", header).Body)
		if name, _ := event(t, r); name != "status" {
			t.Fatalf("first event: %s", name)
		}
		return r
	}
	ends := func(r *bufio.Reader, why string) {
		if _, err := io.Copy(io.Discard, r); err != nil {
			t.Errorf("%s: %v", why, err)
		}
	}
	out, crowded := logIn(), logIn()
	followed, other, bearer := follow(out), follow(crowded), follow("Authorization: Bearer secret")
	if resp := s.call(http.MethodDelete, "/api/session", "{}", asJSON, out); resp.StatusCode != http.StatusNoContent {
		t.Fatalf("got %d", resp.StatusCode)
	}
	ends(followed, "logged out")
	if err := os.WriteFile(filepath.Join(s.dir, profile.BaseFile), []byte("- {"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.runtime.Reload(t.Context()); err == nil {
		t.Error("a broken profile was taken")
	}
	for who, r := range map[string]*bufio.Reader{"another browser": other, "the token": bearer} {
		if name, data := event(t, r); name != "status" || !strings.Contains(data, `"refused":`) {
			t.Errorf("%s, after a bad save: %s %s", who, name, data)
		}
	}
	for range maxSessions {
		logIn()
	}
	ends(other, "put out by others")
	s.page.Close()
	ends(bearer, "closed")
}

// TestWatchingIsBounded: one page too many is told so, and gets in when another has
// gone.
func TestWatchingIsBounded(t *testing.T) {
	s := serve(t, "")
	var first *http.Response
	for range maxWatching {
		resp := s.call(http.MethodGet, "/api/events", "")
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("got %d", resp.StatusCode)
		}
		if first == nil {
			first = resp
		}
	}
	if resp := s.call(http.MethodGet, "/api/events", ""); resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("one too many: got %d, want 503", resp.StatusCode)
	}
	first.Body.Close()
	for {
		if resp := s.call(http.MethodGet, "/api/events", ""); resp.StatusCode == http.StatusOK {
			return
		}
	}
}
