package faults

import (
	"fmt"
	"strings"
	"testing"

	"spillway/host/state/record"
	"spillway/tests/internal/caller"
)

// TestResume: a client that opted in sees what was produced, who was interrupted
// and who goes on, in one sound answer of its dialect; everybody else an error.
func TestResume(t *testing.T) {
	const (
		cut   = "primary primary/large TRANSPORT"
		sorry = `[interrupted: TRANSPORT at primary/large; continued by `
	)
	for _, tt := range []struct {
		name, primary string
		policy        string // the client's, "" for none
		settings      string // the profile's
		outcome       record.Outcome
		attempts      []string
		marks         []string
	}{
		{"the same vendor goes on", "cut=40; ok", "resume", "fail", record.OKAfterRetry,
			[]string{cut, "resume primary/large ok"}, []string{sorry + "primary/large]"}},
		{"another one", "cut=40", "resume", "fail", record.OKAfterFallback,
			[]string{cut, "resume primary/large TRANSPORT", "resume fallback/small ok"},
			[]string{sorry + "primary/large]", sorry + "fallback/small]"}},
		{"by the profile", "cut=40; ok", "", "resume", record.OKAfterRetry,
			[]string{cut, "resume primary/large ok"}, []string{sorry + "primary/large]"}},
		{"not by this client", "cut=40; ok", "fail", "resume", record.FailedMidstream,
			[]string{cut}, nil},
	} {
		for _, d := range caller.Dialects() {
			t.Run(tt.name+" "+string(d), func(t *testing.T) {
				t.Parallel()
				s := play(t, d, defaults().but(settings{"stream": tt.settings}), primary(tt.primary), fallback("ok"))
				var header []string
				if tt.policy != "" {
					header = []string{"X-Spillway-Stream", tt.policy}
				}
				r := s.askWith(t.Context(), s.question(large), header...)
				s.record(r.ID, tt.outcome, tt.attempts...)
				if tt.marks == nil {
					if !r.Cut() {
						t.Errorf("answer: got %+v, want a clean error", r.Answer)
					}
					return
				}
				if last := fmt.Sprintf("w%d@", answerTokens-1); !r.Whole() || !strings.Contains(r.Text, last) {
					t.Errorf("answer: got %+v, want it whole", r.Answer)
				}
				for _, mark := range tt.marks {
					if !strings.Contains(r.Text, mark) {
						t.Errorf("no %q in %q", mark, r.Text)
					}
				}
			})
		}
	}
}
