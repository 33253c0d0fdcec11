package gateway_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spillway/host/gateway"
	"spillway/host/profile"
)

// TestAccessLog: one line a request, with the facts and nothing that was said.
func TestAccessLog(t *testing.T) {
	tests := []struct {
		name, script string
		stream       bool
		body         string // "" for the dialect's own
		want         map[string]any
		also         []string // keys that vary
	}{
		{"stream", "ok", true, "", map[string]any{
			"outcome": "ok", "status": 200.0, "head": "p/m1", "attempts": 1.0, "route": "p/m1",
		}, []string{"first_content", "input", "output"}},
		{"whole", "ok", false, "", map[string]any{
			"outcome": "ok", "status": 200.0, "head": "p/m1", "attempts": 1.0, "route": "p/m1",
		}, []string{"first_content", "input", "output"}},
		{"failed", "500", true, "", map[string]any{
			"outcome": "failed_clean", "status": 503.0, "head": "p/m1", "attempts": 1.0, "route": "p/m1", "code": "SERVER",
		}, []string{"input", "output"}},
		{"broken", "cut=6", true, "", map[string]any{
			"outcome": "failed_midstream", "status": 200.0, "head": "p/m1", "attempts": 1.0, "route": "p/m1", "code": "TRANSPORT",
		}, []string{"first_content", "input", "output"}},
		{"refused", "ok", true, `{"model":7}`, map[string]any{"outcome": "refused", "status": 400.0, "code": "INVALID_REQUEST"}, nil},
	}
	for _, d := range dialects {
		for _, tt := range tests {
			t.Run(d.name+"/"+tt.name, func(t *testing.T) {
				var lines bytes.Buffer
				r := newRig(t, tt.script, d.module, gateway.Options{Log: slog.New(slog.NewJSONHandler(&lines, nil))})
				body := tt.body
				if body == "" {
					body = strings.Replace(fmt.Sprintf(d.body, tt.stream), "hi", "a secret question", 1)
				}
				resp, _, _ := post(t, r.url+d.path, body)
				r.http.Close() // its handlers are over then
				text := lines.String()
				if strings.Count(text, "\n") != 1 || strings.Contains(text, "secret") || strings.Contains(text, "w0@p") {
					t.Fatalf("log: %s", text)
				}
				var got map[string]any
				if err := json.Unmarshal(lines.Bytes(), &got); err != nil {
					t.Fatal(err)
				}
				tt.want["level"], tt.want["msg"] = "INFO", "request"
				tt.want["dialect"], tt.want["id"] = d.name, resp.Header.Get("X-Spillway-Request-Id")
				for _, key := range append([]string{"time", "took"}, tt.also...) {
					if got[key] == nil {
						t.Errorf("no %s: %s", key, text)
					}
					delete(got, key)
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
			})
		}
	}
}

// scrape is what a Prometheus gets: samples only, without those of Go's runtime.
func (r *rig) scrape(token profile.Secret) (status int, samples string) {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodGet, r.url+"/metrics", nil)
	if err != nil {
		r.t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token.Reveal())
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return resp.StatusCode, string(regexp.MustCompile(`(?m)^(#|go_).*\n`).ReplaceAll(b, nil))
}

// TestMetrics: what a Prometheus sees of a few requests.
func TestMetrics(t *testing.T) {
	p := newPlayer(t, dialects[0])
	r := openRig(t, p.row()+keep(1, 10), gateway.Options{})
	url, body := r.url+dialects[0].path, fmt.Sprintf(dialects[0].body, true)
	pause := make(chan struct{})
	p.play(func(s *stage) bool {
		s.wait(pause)
		s.say(start(), text("one"), stop())
		return true
	})
	resp := open(t, t.Context(), url, body)
	defer resp.Body.Close()
	if _, got := r.scrape(""); !strings.Contains(got, "spillway_streams_in_flight 1\n") {
		t.Errorf("no stream is in flight:\n%s", got)
	}
	close(pause)
	if _, err := io.ReadAll(resp.Body); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"unheard-of", "another", "p/m2\nx"} { // no series of their own
		_, _, _ = post(t, url, strings.Replace(body, `"p/m1"`, fmt.Sprintf("%q", name), 1))
	}
	p.play(func(*stage) bool { return false })
	_, _, _ = post(t, url, body)
	_, _, _ = post(t, url, `{"model":7}`)
	of := func(model string) string {
		return `gen_ai_operation_name="chat",gen_ai_provider_name="anthropic",gen_ai_request_model="` + model + `"`
	}
	want := []string{
		`gen_ai_client_operation_duration_seconds_count{error_type="",` + of("m1") + `} 1`,
		`gen_ai_client_operation_duration_seconds_count{error_type="",` + of("other") + `} 3`,
		`gen_ai_client_operation_duration_seconds_count{error_type="TRANSPORT",` + of("m1") + `} 1`,
		`gen_ai_client_operation_time_to_first_chunk_seconds_count{` + of("m1") + `} 1`,
		`gen_ai_client_operation_time_to_first_chunk_seconds_count{` + of("other") + `} 3`,
		`gen_ai_server_request_duration_seconds_count{error_type="",` + of("m1") + `} 1`,
		`gen_ai_server_request_duration_seconds_count{error_type="",` + of("other") + `} 3`,
		`gen_ai_server_request_duration_seconds_count{error_type="TRANSPORT",` + of("m1") + `} 1`,
		`gen_ai_server_time_to_first_token_seconds_count{` + of("m1") + `} 1`,
		`gen_ai_server_time_to_first_token_seconds_count{` + of("other") + `} 3`,
		`spillway_attempts_total{code="OK",kind="primary",model="m1",provider="p"} 1`,
		`spillway_attempts_total{code="OK",kind="primary",model="other",provider="p"} 3`,
		`spillway_attempts_total{code="TRANSPORT",kind="primary",model="m1",provider="p"} 1`,
		`spillway_keep_alives_total{dialect="anthropic"} some`,
		`spillway_records_dropped_total 0`,
		`spillway_requests_total{dialect="anthropic",outcome="failed_clean"} 1`,
		`spillway_requests_total{dialect="anthropic",outcome="ok"} 4`,
		`spillway_requests_total{dialect="anthropic",outcome="refused"} 1`,
		`spillway_store_up 1`,
		`spillway_streams_begun_early_total{dialect="anthropic"} some`,
		`spillway_streams_held 0`,
		`spillway_streams_in_flight 0`,
	}
	got := ""
	for !strings.Contains(got, want[len(want)-1]) && t.Context().Err() == nil { // a handler ends after its client's answer
		_, got = r.scrape("")
	}
	var samples []string
	timed := regexp.MustCompile(`^(spillway_(?:keep_alives|streams_begun_early)_total.*) [1-9]\d*$`)
	for line := range strings.Lines(got) {
		if !strings.Contains(line, "_bucket") && !strings.Contains(line, "_sum") {
			samples = append(samples, timed.ReplaceAllString(strings.TrimSpace(line), "$1 some"))
		}
	}
	if diff := cmp.Diff(want, samples); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestMetricsAreGuarded: they are given to who may ask at all.
func TestMetricsAreGuarded(t *testing.T) {
	r := newRig(t, "ok", dialects[0].module, gateway.Options{Token: "letmein"})
	if status, _ := r.scrape(""); status != http.StatusUnauthorized {
		t.Errorf("without the token: %d", status)
	}
	if status, got := r.scrape("letmein"); status != http.StatusOK || !strings.Contains(got, "spillway_streams_in_flight 0\n") {
		t.Errorf("with the token: %d\n%s", status, got)
	}
}

// TestGrammarFault: an answer of a wrong shape is told, without what it said.
func TestGrammarFault(t *testing.T) {
	for _, share := range []string{"0", "1"} {
		t.Run(share, func(t *testing.T) {
			p := newPlayer(t, dialects[0])
			p.play(func(s *stage) bool {
				s.say(start(), text("a secret"), end())
				s.write([]byte("event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":7}\n\n"))
				s.say(tokens(), stop())
				return true
			})
			var lines bytes.Buffer
			r := openRig(t, p.row()+"- {id: gateway, name: gateway, config: {checkGrammar: "+share+"}}\n", gateway.Options{Log: slog.New(slog.NewTextHandler(&lines, nil))})
			r.faulty = share == "1"
			resp, _, err := post(t, r.url+dialects[0].path, fmt.Sprintf(dialects[0].body, true))
			if err != nil || resp.StatusCode != http.StatusOK {
				t.Fatal(resp.StatusCode, err)
			}
			r.http.Close()
			told := strings.Contains(lines.String(), "grammar") && strings.Contains(lines.String(), "route=p/m1 fault=\"a piece or an end of no open block\"")
			if told != r.faulty || strings.Contains(lines.String(), "secret") {
				t.Errorf("log: %s", lines.String())
			}
		})
	}
}
