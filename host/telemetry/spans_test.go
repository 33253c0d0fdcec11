package telemetry_test

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"

	"spillway/host/state/record"
	"spillway/host/telemetry"
	"spillway/host/telemetry/telemetrytest"
	"spillway/sdk"
)

var (
	began  = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	claude = sdk.Route{Provider: "anthropic", Model: "claude"}
	kimi   = sdk.Route{Provider: "kimi", Model: "k3"}
)

func at(d time.Duration) time.Time { return began.Add(d) }

func ms(n int) record.Duration { return record.Duration(time.Duration(n) * time.Millisecond) }

func peers(provider, dialect string) telemetry.Peer {
	return telemetry.Peer{Name: "the " + provider, Address: dialect + ".example", Port: 443}
}

// seen is what is compared of a span.
type seen struct {
	Name       string
	Kind       otlp.Span_SpanKind
	From, To   time.Duration // since the request began
	Error      string        // of the status
	Attributes map[string]string
}

func seenOf(s telemetrytest.Span) seen {
	v := seen{
		Name: s.Name, Kind: s.Kind, Attributes: s.Attributes,
		From: time.Unix(0, int64(s.StartTimeUnixNano)).Sub(began), To: time.Unix(0, int64(s.EndTimeUnixNano)).Sub(began),
	}
	if s.Status.GetCode() == otlp.Status_STATUS_CODE_ERROR {
		v.Error = s.Status.GetMessage()
	}
	return v
}

// open is an exporter before a collector.
func open(t *testing.T, o telemetry.Options) *telemetry.Exporter {
	t.Helper()
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	x, err := telemetry.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Stop(context.Background()) })
	return x
}

func kept(rec record.Request) func() record.Request {
	return func() record.Request { return rec }
}

// stories are records, each with its spans.
var stories = []struct {
	name string
	rec  record.Request
	want []seen
}{
	{
		name: "healthy",
		rec: record.Request{
			ID: "req_1", Started: began, Dialect: "openai", Stream: true, Head: claude, Conversation: "k_c0", MaxTokens: 99, Graph: 3,
			Outcome: record.OK, Took: ms(900),
			Attempts: []record.Attempt{{
				N: 1, Kind: sdk.KindPrimary, Route: claude, Key: "k_f00d", Reason: "head", Sent: at(time.Millisecond),
				Outcome: record.AttemptOK, Committed: true, FirstContent: ms(250), Took: ms(890), Finish: sdk.FinishToolCalls,
				Usage:   sdk.Usage{Input: 100, Output: 20, CacheRead: 60, CacheWrite: 10, Reasoning: 5},
				Dropped: []string{"top_k"}, Skipped: []sdk.Skip{{Route: kimi, Reason: "vision"}},
			}},
		},
		want: []seen{
			{"chat claude", otlp.Span_SPAN_KIND_SERVER, 0, 900 * time.Millisecond, "", map[string]string{
				"gen_ai.operation.name": "chat", "gen_ai.provider.name": "the anthropic",
				"gen_ai.request.model": "claude", "gen_ai.request.stream": "true", "gen_ai.request.max_tokens": "99",
				"gen_ai.response.model": "claude", "gen_ai.response.finish_reasons": "[tool_call]", "gen_ai.response.time_to_first_chunk": "0.251",
				"spillway.request": "req_1", "spillway.conversation": "k_c0", "spillway.dialect": "openai", "spillway.graph": "3",
				"spillway.head": "anthropic/claude", "spillway.route": "anthropic/claude", "spillway.attempts": "1", "spillway.outcome": "ok",
			}},
			{"chat claude", otlp.Span_SPAN_KIND_CLIENT, time.Millisecond, 891 * time.Millisecond, "", map[string]string{
				"gen_ai.operation.name": "chat", "gen_ai.provider.name": "the anthropic",
				"gen_ai.request.model": "claude", "gen_ai.request.stream": "true", "gen_ai.request.max_tokens": "99",
				"gen_ai.response.finish_reasons": "[tool_call]", "gen_ai.response.time_to_first_chunk": "0.25",
				"gen_ai.usage.input_tokens": "100", "gen_ai.usage.output_tokens": "20", "gen_ai.usage.cache_read.input_tokens": "60",
				"gen_ai.usage.cache_creation.input_tokens": "10", "gen_ai.usage.reasoning.output_tokens": "5",
				"server.address": "openai.example", "server.port": "443",
				"spillway.request": "req_1", "spillway.attempt": "1", "spillway.kind": "primary", "spillway.provider": "anthropic",
				"spillway.route": "anthropic/claude", "spillway.key": "k_f00d", "spillway.reason": "head",
				"spillway.dropped": "[top_k]", "spillway.skipped": "[kimi/k3: vision]", "spillway.committed": "true", "spillway.outcome": "ok",
			}},
		},
	},
	{
		name: "failover, then cut",
		rec: record.Request{
			ID: "req_2", Started: began, Dialect: "anthropic", Stream: true, Head: claude,
			Outcome: record.FailedMidstream, Took: ms(700),
			Failure: &record.Failure{Code: sdk.CodeTransport, Scope: sdk.ScopeRoute, Phase: sdk.PhaseStream, Message: "said by a vendor"},
			Attempts: []record.Attempt{
				{
					N: 1, Kind: sdk.KindPrimary, Route: claude, Sent: at(0), Outcome: record.AttemptFailed, Took: ms(100), Finish: sdk.FinishError,
					Failure: record.Failure{
						Code: sdk.CodeServer, Scope: sdk.ScopeRoute, Phase: sdk.PhaseResponse, Status: 500, Rule: "status:500",
						Message: "said by a vendor", VendorCode: "said by a vendor", VendorType: "said by a vendor",
					},
					Action: sdk.ActionFallback, JudgedCode: sdk.CodeQuota, JudgedScope: sdk.ScopeVendor, Next: &kimi,
					Circuits: []sdk.Change{{Target: "anthropic", From: sdk.CircuitClosed, To: sdk.CircuitOpen}},
				},
				{
					N: 2, Kind: sdk.KindFallback, Route: kimi, Reason: "QUOTA", Delay: ms(50), Sent: at(150 * time.Millisecond),
					Outcome: record.AttemptFailed, Committed: true, FirstContent: ms(200), Took: ms(550), Finish: sdk.FinishError,
					Usage: sdk.Usage{Output: 3}, Estimated: true,
					Failure: record.Failure{Code: sdk.CodeTransport, Cause: sdk.CauseCut, Scope: sdk.ScopeRoute, Phase: sdk.PhaseStream},
				},
			},
		},
		want: []seen{
			{"chat claude", otlp.Span_SPAN_KIND_SERVER, 0, 700 * time.Millisecond, "TRANSPORT", map[string]string{
				"gen_ai.operation.name": "chat", "gen_ai.provider.name": "the kimi", "gen_ai.request.model": "claude",
				"gen_ai.request.stream": "true", "gen_ai.response.model": "k3", "gen_ai.response.finish_reasons": "[error]",
				"gen_ai.response.time_to_first_chunk": "0.35", "error.type": "TRANSPORT",
				"spillway.request": "req_2", "spillway.dialect": "anthropic", "spillway.head": "anthropic/claude", "spillway.route": "kimi/k3",
				"spillway.attempts": "2", "spillway.outcome": "failed_midstream", "spillway.scope": "route", "spillway.phase": "stream",
			}},
			{"chat claude", otlp.Span_SPAN_KIND_CLIENT, 0, 100 * time.Millisecond, "QUOTA", map[string]string{
				"gen_ai.operation.name": "chat", "gen_ai.provider.name": "the anthropic", "gen_ai.request.model": "claude",
				"gen_ai.request.stream": "true", "error.type": "QUOTA", "http.response.status_code": "500",
				"server.address": "anthropic.example", "server.port": "443",
				"spillway.request": "req_2", "spillway.attempt": "1", "spillway.kind": "primary", "spillway.provider": "anthropic",
				"spillway.route": "anthropic/claude", "spillway.outcome": "failed", "spillway.code": "SERVER", "spillway.scope": "vendor",
				"spillway.phase": "response", "spillway.rule": "status:500", "spillway.action": "fallback",
				"spillway.circuits": "[anthropic: closed to open]",
			}},
			{"chat k3", otlp.Span_SPAN_KIND_CLIENT, 150 * time.Millisecond, 700 * time.Millisecond, "TRANSPORT", map[string]string{
				"gen_ai.operation.name": "chat", "gen_ai.provider.name": "the kimi", "gen_ai.request.model": "k3",
				"gen_ai.request.stream": "true", "gen_ai.response.finish_reasons": "[error]", "gen_ai.response.time_to_first_chunk": "0.2",
				"error.type": "TRANSPORT", "server.address": "anthropic.example", "server.port": "443",
				"spillway.request": "req_2", "spillway.attempt": "2", "spillway.kind": "fallback", "spillway.provider": "kimi",
				"spillway.route": "kimi/k3", "spillway.reason": "QUOTA", "spillway.delay": "0.05", "spillway.outcome": "failed",
				"spillway.committed": "true", "spillway.estimated": "true", "gen_ai.usage.output_tokens": "3", "spillway.code": "TRANSPORT", "spillway.cause": "cut", "spillway.scope": "route", "spillway.phase": "stream",
			}},
		},
	},
	{
		name: "cancelled, made inside, an attempt that never left and one that has not ended",
		rec: record.Request{
			ID: "req_3", Started: began, Head: claude, Outcome: record.Cancelled, Took: ms(300),
			Failure: &record.Failure{Code: sdk.CodeAborted},
			Attempts: []record.Attempt{
				{N: 1, Kind: sdk.KindPrimary, Route: claude, Outcome: record.AttemptCancelled, Failure: record.Failure{Code: sdk.CodeAborted}},
				{N: 2, Kind: sdk.KindRetry, Route: claude, Sent: at(100 * time.Millisecond)},
			},
		},
		want: []seen{
			{"chat claude", otlp.Span_SPAN_KIND_INTERNAL, 0, 300 * time.Millisecond, "", map[string]string{
				"gen_ai.operation.name": "chat", "gen_ai.provider.name": "the anthropic", "gen_ai.request.model": "claude", "error.type": "ABORTED",
				"spillway.request": "req_3", "spillway.head": "anthropic/claude", "spillway.route": "anthropic/claude",
				"spillway.attempts": "2", "spillway.outcome": "cancelled",
			}},
			{"chat claude", otlp.Span_SPAN_KIND_CLIENT, 0, 0, "", map[string]string{
				"gen_ai.operation.name": "chat", "gen_ai.provider.name": "the anthropic", "gen_ai.request.model": "claude", "error.type": "ABORTED",
				"server.address": ".example", "server.port": "443", "spillway.request": "req_3", "spillway.attempt": "1", "spillway.kind": "primary",
				"spillway.provider": "anthropic", "spillway.route": "anthropic/claude", "spillway.outcome": "cancelled", "spillway.code": "ABORTED",
			}},
			{"chat claude", otlp.Span_SPAN_KIND_CLIENT, 100 * time.Millisecond, 300 * time.Millisecond, "", map[string]string{
				"gen_ai.operation.name": "chat", "gen_ai.provider.name": "the anthropic", "gen_ai.request.model": "claude",
				"server.address": ".example", "server.port": "443", "spillway.request": "req_3", "spillway.attempt": "2", "spillway.kind": "retry",
				"spillway.provider": "anthropic", "spillway.route": "anthropic/claude",
			}},
		},
	},
	{
		name: "nobody was asked, for a model that is no text",
		rec: record.Request{
			ID: "req_4", Started: began, Dialect: "openai", Head: sdk.Route{Provider: "p", Model: "m\xff" + strings.Repeat("x", 1000)},
			Outcome: record.FailedClean, Failure: &record.Failure{Code: sdk.CodeQuota}, Reason: "all out",
			Skipped: []sdk.Skip{{Route: kimi, Reason: "open"}},
		},
		want: []seen{
			{"chat m\uFFFD" + strings.Repeat("x", 254), otlp.Span_SPAN_KIND_SERVER, 0, 0, "QUOTA", map[string]string{
				"gen_ai.operation.name": "chat", "gen_ai.provider.name": "the p", "gen_ai.request.model": "m\uFFFD" + strings.Repeat("x", 254),
				"error.type": "QUOTA", "spillway.request": "req_4", "spillway.dialect": "openai", "spillway.head": "p/m\uFFFD" + strings.Repeat("x", 252),
				"spillway.attempts": "0", "spillway.outcome": "failed_clean", "spillway.reason": "all out", "spillway.skipped": "[kimi/k3: open]",
			}},
		},
	},
}

// TestSpans: one span for the request and one below it for each attempt, with
// the times of the record.
func TestSpans(t *testing.T) {
	for _, tt := range stories {
		t.Run(tt.name, func(t *testing.T) {
			c := telemetrytest.New(t)
			x := open(t, telemetry.Options{Endpoint: c.URL + "/", Ratio: 1})
			x.End(x.Begin(tt.rec.ID, nil), kept(tt.rec), peers)
			x.Stop(t.Context())
			spans := c.Spans(len(tt.want))
			var got []seen
			for i, s := range spans {
				got = append(got, seenOf(s))
				if parent := spans[0].SpanId; i > 0 && string(s.ParentSpanId) != string(parent) {
					t.Errorf("span %d is not below the first", i)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if strings.Contains(string(c.Raw()), "said by a vendor") {
				t.Error("a vendor's words are in a span")
			}
			if x.Sent() != 1 || x.Dropped() != 0 {
				t.Errorf("sent %d, dropped %d", x.Sent(), x.Dropped())
			}
		})
	}
}

// TestFinishReasons: the conventions' words.
func TestFinishReasons(t *testing.T) {
	want := map[sdk.Finish]string{
		sdk.FinishStop: "[stop]", sdk.FinishToolCalls: "[tool_call]", sdk.FinishMaxTokens: "[length]", sdk.FinishRefusal: "[content_filter]",
	}
	got := map[sdk.Finish]string{}
	for f := range maps.Keys(want) {
		c := telemetrytest.New(t)
		x := open(t, telemetry.Options{Endpoint: c.URL, Ratio: 1})
		rec := record.Request{ID: "r", Started: began, Attempts: []record.Attempt{{N: 1, Outcome: record.AttemptOK, Finish: f}}}
		x.End(x.Begin("r", nil), kept(rec), peers)
		x.Stop(t.Context())
		got[f] = c.Spans(2)[0].Attributes["gen_ai.response.finish_reasons"]
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestTrace: a client's trace is joined and its word on sampling counts; without
// one the ratio does. What a vendor would be told is the attempt's span.
func TestTrace(t *testing.T) {
	const trace, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	tests := []struct {
		name, traceparent string
		ratio             float64
		want              bool
		joined            bool
	}{
		{"none", "", 1, true, false},
		{"none, not sampled", "", 0, false, false},
		{"sampled by the client", "00-" + trace + "-" + parent + "-01", 0, true, true},
		{"not sampled by the client", "00-" + trace + "-" + parent + "-00", 1, false, true},
		{"no traceparent at all", "00-" + trace + "-zz-01", 1, true, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := telemetrytest.New(t)
			x := open(t, telemetry.Options{Endpoint: c.URL, Ratio: tt.ratio})
			tr := x.Begin("req_1", http.Header{"Traceparent": {tt.traceparent}})
			x.End(tr, kept(stories[0].rec), peers)
			x.Stop(t.Context())
			told := strings.Split(tr.Traceparent(1), "-")
			if len(told) != 4 || (told[1] == trace) != tt.joined || told[3] != map[bool]string{true: "01", false: "00"}[tt.want] {
				t.Errorf("a vendor is told %q", told)
			}
			if !tt.want {
				if c.Count() != 0 || x.Sent() != 0 || x.Dropped() != 0 {
					t.Errorf("%d messages, sent %d, dropped %d", c.Count(), x.Sent(), x.Dropped())
				}
				return
			}
			spans := c.Spans(2)
			top := ""
			if tt.joined {
				top = parent
			}
			if got := hexOf(spans[0].ParentSpanId); got != top {
				t.Errorf("the request is below %q, want %q", got, top)
			}
			if a := spans[1]; hexOf(a.TraceId) != told[1] || hexOf(a.SpanId) != told[2] {
				t.Errorf("the attempt is %s in %s, a vendor is told %q", hexOf(a.SpanId), hexOf(a.TraceId), told)
			}
		})
	}
}
