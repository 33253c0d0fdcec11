package record

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spillway/sdk"
)

func sample() Request {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	kimi := sdk.Route{Provider: "kimi-coding", Model: "k2"}
	r := Request{
		ID: "req_1", Started: at, Dialect: "anthropic", Stream: true,
		Head:    sdk.Route{Provider: "anthropic", Model: "claude"},
		Graph:   3,
		Outcome: OKAfterFallback, Took: Duration(1500 * time.Millisecond),
		Attempts: []Attempt{
			{N: 1, Kind: sdk.KindPrimary, Route: sdk.Route{Provider: "anthropic", Model: "claude"}, Key: "f00d"},
			{N: 2, Kind: sdk.KindFallback, Route: kimi, Reason: "quota", Delay: Duration(250 * time.Microsecond)},
		},
	}
	r.Decide(sdk.Decision{
		Attempt: 1, Code: sdk.CodeQuota, Scope: sdk.ScopeVendor, Rule: "phrase.weekly-limit",
		Action: sdk.ActionFallback, Reason: "quota", Target: &kimi, Delay: 250 * time.Microsecond, Left: 90 * time.Second,
		Changes: []sdk.Change{{Target: "anthropic", From: sdk.CircuitClosed, To: sdk.CircuitOpen, Until: at.Add(time.Hour)}},
	})
	r.Attempts[0].End(sdk.Outcome{
		Started: at, Took: 12345678 * time.Nanosecond,
		Failure: &sdk.Failure{
			Code: sdk.CodeRateLimit, Scope: sdk.ScopeRoute, Phase: sdk.PhaseResponse, Status: 429,
			Message: "weekly limit reached", RetryAfter: 2 * time.Second, HintSource: "retry-after", Rule: "status.429",
		},
	})
	r.Attempts[1].End(sdk.Outcome{
		Started: at, Committed: true, FirstContent: 40 * time.Millisecond, Took: 900 * time.Millisecond,
		Usage: sdk.Usage{Input: 10, Output: 20},
	})
	return r
}

const sampleJSON = `{
  "id": "req_1",
  "started": "2026-03-01T12:00:00Z",
  "dialect": "anthropic",
  "stream": true,
  "head": {"provider": "anthropic", "model": "claude"},
  "graph": 3,
  "outcome": "ok_after_fallback",
  "took_ms": 1500,
  "attempts": [
    {
      "n": 1, "kind": "primary", "route": {"provider": "anthropic", "model": "claude"}, "key": "f00d",
      "sent": "2026-03-01T12:00:00Z", "outcome": "failed", "committed": false, "took_ms": 12.346,
      "code": "RATE_LIMIT", "class": "transient", "scope": "route", "phase": "response", "status": 429,
      "message": "weekly limit reached", "retry_after_ms": 2000, "hint_source": "retry-after", "rule": "status.429",
      "action": "fallback", "why": "quota", "decided_by": "phrase.weekly-limit",
      "judged_code": "QUOTA", "judged_class": "deterministic", "judged_scope": "vendor",
      "next": {"provider": "kimi-coding", "model": "k2"}, "next_delay_ms": 0.25, "left_ms": 90000,
      "circuits": [{"target": "anthropic", "from": "closed", "to": "open", "until": "2026-03-01T13:00:00Z"}]
    },
    {
      "n": 2, "kind": "fallback", "route": {"provider": "kimi-coding", "model": "k2"}, "reason": "quota",
      "delay_ms": 0.25, "sent": "2026-03-01T12:00:00Z", "outcome": "ok", "committed": true,
      "ttfc_ms": 40, "took_ms": 900, "usage": {"input": 10, "output": 20}
    }
  ]
}`

func TestJSON(t *testing.T) {
	data, err := json.Marshal(sample())
	if err != nil {
		t.Fatal(err)
	}
	var got, want any
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(sampleJSON), &want); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("record as JSON (-want +got):\n%s", d)
	}

	var back Request
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	rounded := sample()
	rounded.Attempts[0].Took = Duration(12346 * time.Microsecond)
	if d := cmp.Diff(rounded, back); d != "" {
		t.Errorf("record read back (-want +got):\n%s", d)
	}
}

func TestEnd(t *testing.T) {
	for _, tt := range []struct {
		name    string
		failure *sdk.Failure
		want    AttemptOutcome
	}{
		{"clean", nil, AttemptOK},
		{"failed", sdk.NewFailure(sdk.CodeServer, "r", "m"), AttemptFailed},
		{"caller went away", sdk.NewFailure(sdk.CodeAborted, "r", "m"), AttemptCancelled},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var a Attempt
			a.End(sdk.Outcome{Failure: tt.failure})
			if a.Outcome != tt.want {
				t.Errorf("got %q, want %q", a.Outcome, tt.want)
			}
		})
	}
}

func TestMessageIsCapped(t *testing.T) {
	f := FailureOf(&sdk.Failure{Message: strings.Repeat("ä", sdk.MaxMessage)})
	if len(f.Message) > sdk.MaxMessage {
		t.Errorf("message has %d bytes, want at most %d", len(f.Message), sdk.MaxMessage)
	}
}

func TestDecideWithoutAttempt(t *testing.T) {
	var r Request
	skipped := []sdk.Skip{{Route: sdk.Route{Provider: "p"}, Reason: "circuit open"}}
	r.Decide(sdk.Decision{Attempt: 3, Reason: "of an attempt the record does not have"})
	r.Decide(sdk.Decision{Reason: "nothing can serve", Skipped: skipped})
	if d := cmp.Diff(Request{Reason: "nothing can serve", Skipped: skipped}, r); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestDurationRejects(t *testing.T) {
	for _, in := range []string{`"1s"`, `1e300`, `{}`} {
		var d Duration
		if err := json.Unmarshal([]byte(in), &d); err == nil {
			t.Errorf("%s: got %v, want an error", in, d)
		}
	}
}
