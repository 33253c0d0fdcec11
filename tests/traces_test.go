package tests

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"

	"spillway/host/profile"
	"spillway/host/sim"
	"spillway/host/telemetry"
	"spillway/host/telemetry/telemetrytest"
	"spillway/sdk"
	"spillway/tests/internal/rig"
)

const (
	tracesToken    = "canary-of-collector"
	tracesQuestion = "canary question"
	tracesAnswer   = "canary answer"
)

// traced is a server whose requests are traced, two vendors and a collector.
type traced struct {
	*rig.Server
	t         *testing.T
	vendors   *sim.Server
	collector *telemetrytest.Collector
	base      string // the profile without the row of its telemetry
	requests  []string
}

// serveTraced serves a profile with the row.
func serveTraced(t *testing.T, script, row string, env ...string) *traced {
	t.Helper()
	s := &traced{t: t, collector: telemetrytest.New(t)}
	var vendors []sim.Vendor
	for _, v := range [][2]string{{"anthropic", script}, {"deepseek", "ok"}} {
		vendors = append(vendors, sim.Vendor{
			Name: v[0], Like: v[0], Script: v[1], Keys: []string{rig.Key(v[0])}, Models: []string{v[0] + "-model"},
			Answer: sim.Answer{Text: strings.Repeat(tracesAnswer+" ", 20)},
		})
	}
	var err error
	if s.vendors, err = sim.New(sim.Options{Vendors: vendors, KeepRequests: true}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.vendors.Close)
	if err := s.vendors.Start(context.Background(), "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	rows, keys := rig.Providers(s.vendors, "anthropic")
	s.base = strings.NewReplacer("key: !env ANT", "models: [anthropic-model], key: !env ANT", "key: !env DEE", "models: [deepseek-model], key: !env DEE").Replace(rows) + `
- id: failover
  name: failover
  config:
    priority: [anthropic, deepseek]
    failureThreshold: 1000
    keys: {cooldownMs: 1, maxCooldownMs: 1}
    cooldownMs: 1
    maxCooldownMs: 1
    budget: {maxSameTargetAttempts: 1}
`
	s.Server = rig.Serve(t, s.base+row, slices.Concat(keys, env, []string{
		"COLLECTOR_TOKEN=" + tracesToken, "OTEL_EXPORTER_OTLP_ENDPOINT=" + s.collector.URL,
	})...)
	return s
}

// ask makes a streamed call and returns when it has ended, or when until does.
func (s *traced) ask(until func(), header ...string) {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.t.Context())
	defer cancel()
	body := fmt.Sprintf(`{"model":"anthropic/anthropic-model","max_tokens":99,"stream":true,"messages":[{"role":"user","content":%q}]}`, tracesQuestion)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/v1/messages", strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	if until != nil {
		go func() { until(); cancel() }()
	}
	resp, err := http.DefaultClient.Do(req)
	if errors.Is(err, context.Canceled) && until != nil {
		return
	}
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	s.requests = append(s.requests, resp.Header.Get("X-Spillway-Request-Id"))
	_, _ = io.Copy(io.Discard, resp.Body) // one of them is cut
}

// scrape is what a Prometheus gets.
func (s *traced) scrape() string {
	s.t.Helper()
	resp, err := http.Get(s.URL + "/metrics")
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(b)
}

// told is what is compared of a span.
func told(spans []telemetrytest.Span) (all []string) {
	for _, s := range spans {
		a := s.Attributes
		kind := strings.ToLower(strings.TrimPrefix(s.Kind.String(), "SPAN_KIND_"))
		attempt := a["spillway.kind"]
		if attempt == string(sdk.KindProbe) { // it depends on what the plugin had been told by then
			attempt = string(sdk.KindPrimary)
		}
		words := []string{kind, s.Name, a["gen_ai.provider.name"], attempt, a["spillway.outcome"], a["error.type"], a["gen_ai.response.finish_reasons"]}
		if s.Status.GetCode() == otlp.Status_STATUS_CODE_ERROR {
			words = append(words, "error")
		}
		all = append(all, strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), " "))
	}
	return all
}

// TestTraces: a real process tells a collector of each request and its attempts,
// its metrics have the names of the table, its log has a line for each request,
// and none of the three has anything of what was said, or a key.
func TestTraces(t *testing.T) {
	const row = "- {id: traces, name: telemetry, config: {headers: {Authorization: !env COLLECTOR_TOKEN}%s}}\n"
	s := serveTraced(t, "ok; invalid-key; cut=6; hang; ok", fmt.Sprintf(row, ""))
	const trace, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	s.ask(nil, "Traceparent", "00-"+trace+"-"+parent+"-01")
	s.ask(nil)
	s.ask(nil)
	s.ask(func() { _, _ = s.vendors.Vendor("anthropic").Wait(t.Context(), 4) })
	resp, err := http.Post(s.URL+"/v1/messages", "application/json", strings.NewReader(`{"model":7}`))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()

	want := []string{
		"server chat anthropic-model anthropic ok [stop]",
		"client chat anthropic-model anthropic primary ok [stop]",
		"server chat anthropic-model deepseek ok_after_fallback [stop]",
		"client chat anthropic-model anthropic primary failed INVALID_CREDENTIAL error",
		"client chat deepseek-model deepseek fallback ok [stop]",
		"server chat anthropic-model anthropic failed_midstream TRANSPORT [error] error",
		"client chat anthropic-model anthropic primary failed TRANSPORT [error] error",
		"server chat anthropic-model anthropic cancelled ABORTED",
		"client chat anthropic-model anthropic primary cancelled ABORTED",
	}
	spans := s.collector.Spans(len(want))
	if diff := cmp.Diff(want, told(spans)); diff != "" {
		t.Fatalf("spans (-want +got):\n%s", diff)
	}
	if got := hex.EncodeToString(spans[0].TraceId) + " " + hex.EncodeToString(spans[0].ParentSpanId); got != trace+" "+parent {
		t.Errorf("the first request is in %s", got)
	}
	for i, above := range []int{-1, 0, -1, 2, 2, -1, 5, -1, 7} {
		if above >= 0 && (string(spans[i].ParentSpanId) != string(spans[above].SpanId) || string(spans[i].TraceId) != string(spans[above].TraceId)) {
			t.Errorf("span %d is not below span %d", i, above)
		}
	}
	if h := s.collector.Messages(1)[0]; h.Get("Authorization") != tracesToken {
		t.Errorf("the collector got no credential: %v", h)
	}
	for _, v := range s.vendors.Vendors() {
		for _, c := range v.Calls() {
			if c.Header.Get("Traceparent") != "" {
				t.Errorf("%s was told of the trace", v.Name())
			}
		}
	}

	text := s.scrape()
	s.metrics(text)
	s.reloaded(fmt.Sprintf(row, ", propagate: true, serviceName: another"))
	leaks := s.Leaks(tracesQuestion, tracesAnswer, tracesToken, rig.Key("anthropic"), rig.Key("deepseek"))
	for place, data := range map[string]string{"the spans": string(s.collector.Raw()), "the metrics": text} {
		if strings.Contains(data, "canary") {
			leaks = append(leaks, place)
		}
	}
	if leaks != nil {
		t.Errorf("what is to be nowhere is in\n%s", strings.Join(leaks, "\n"))
	}
	s.lines()
}

// reloaded changes the row while the server runs, and asks once more: the new
// exporter sends, and the vendor is told of the trace.
func (s *traced) reloaded(row string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.Dir, profile.BaseFile), []byte(s.base+row), 0o600); err != nil {
		s.t.Fatal(err)
	}
	before := len(s.collector.Spans(0))
	for s.t.Context().Err() == nil {
		s.ask(nil)
		calls := s.vendors.Vendor("anthropic").Calls()
		got := calls[len(calls)-1].Header.Get("Traceparent")
		if got == "" { // not in force yet
			before += 2
			continue
		}
		spans := s.collector.Spans(before + 2)
		last := spans[len(spans)-1]
		if want := fmt.Sprintf("00-%x-%x-01", last.TraceId, last.SpanId); got != want || last.Resource["service.name"] != "another" {
			s.t.Errorf("the vendor was told %s, want %s; by %v", got, want, last.Resource)
		}
		return
	}
}

// metrics checks that what a Prometheus gets is in the table, and some of it.
func (s *traced) metrics(text string) {
	s.t.Helper()
	known := map[string]string{}
	for _, m := range telemetry.Metrics() {
		known[m.Prometheus()] = string(m.Kind)
	}
	for _, m := range regexp.MustCompile(`(?m)^# TYPE (\S+) (\S+)$`).FindAllStringSubmatch(text, -1) {
		if strings.HasPrefix(m[1], "go_") {
			continue // the client library's own, of Go's runtime
		}
		if known[m[1]] != m[2] {
			s.t.Errorf("metric %s is a %s, in the table %q", m[1], m[2], known[m[1]])
		}
	}
	const anthropic = `gen_ai_operation_name="chat",gen_ai_provider_name="anthropic",gen_ai_request_model="anthropic-model"`
	for _, want := range []string{
		`spillway_requests_total{dialect="anthropic",outcome="ok_after_fallback"} 1`,
		`spillway_requests_total{dialect="anthropic",outcome="failed_midstream"} 1`,
		`spillway_requests_total{dialect="anthropic",outcome="cancelled"} 1`,
		`spillway_requests_total{dialect="anthropic",outcome="refused"} 1`,
		`spillway_attempts_total{code="OK",kind="fallback",model="deepseek-model",provider="deepseek"} 1`,
		`gen_ai_client_operation_duration_seconds_count{error_type="INVALID_CREDENTIAL",` + anthropic + `} 1`,
		`gen_ai_server_request_duration_seconds_count{error_type="TRANSPORT",` + anthropic + `} 1`,
		`gen_ai_client_token_usage_count{` + anthropic + `,gen_ai_token_type="output"}`,
		`gen_ai_server_time_to_first_token_seconds_count{` + anthropic + `}`,
		`spillway_plugin_up{plugin="failover"} 1`,
		`spillway_plugin_restarts_total{plugin="failover"} 0`,
		`spillway_bypassed_calls_total{plugin="failover"} 0`,
		`spillway_streams_held 0`,
		`spillway_store_up 1`,
		`spillway_traces_dropped_total 0`,
	} {
		if !strings.Contains(text, want) {
			s.t.Errorf("no %s", want)
		}
	}
	if s.t.Failed() {
		s.t.Logf("metrics:\n%s", text)
	}
}

// lines checks that the log has one line for each request.
func (s *traced) lines() {
	s.t.Helper()
	got := map[string]int{}
	for _, m := range regexp.MustCompile(`(?m)^time=\S+ level=INFO msg=request id=(\S+) dialect=anthropic outcome=`).FindAllStringSubmatch(s.Log(), -1) {
		got[m[1]]++
	}
	for id, n := range got {
		if n != 1 {
			s.t.Errorf("request %s has %d lines", id, n)
		}
	}
	for _, id := range s.requests {
		if got[id] == 0 {
			s.t.Errorf("request %s has no line", id)
		}
	}
	if want := len(s.requests) + 2; len(got) != want { // one was cancelled, one refused
		s.t.Errorf("%d requests have a line, want %d", len(got), want)
	}
}

// TestNoTraces: without the row nobody is told anything, whatever the variables
// say.
func TestNoTraces(t *testing.T) {
	s := serveTraced(t, "ok", "", "OTEL_TRACES_EXPORTER=otlp")
	s.ask(nil, "Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	if text := s.scrape(); strings.Contains(text, "spillway_traces") {
		t.Errorf("metrics of traces:\n%s", text)
	}
	s.Stop()
	if n := s.collector.Count(); n != 0 {
		t.Errorf("the collector was sent %d messages", n)
	}
	if got := s.vendors.Vendor("anthropic").Calls()[0].Header.Get("Traceparent"); got != "" {
		t.Errorf("the vendor was told of the trace: %s", got)
	}
}
