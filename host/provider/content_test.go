package provider

import (
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"spillway/host/dialect"
	"spillway/sdk"
)

// TestContentLimit: the default is the time of the interactive budget, and more for
// an answer in one piece.
func TestContentLimit(t *testing.T) {
	tests := []struct {
		name string
		r    sdk.Request
		want time.Duration
	}{
		{"stream", sdk.Request{Stream: true}, 2 * time.Minute},
		{"stream, long prompt", sdk.Request{Stream: true, Shape: sdk.Shape{PromptTokens: 800_000, Reasoning: true}}, 2 * time.Minute},
		{"whole", sdk.Request{}, 2*time.Minute + 204800*time.Millisecond},
		{"whole, short", sdk.Request{MaxTokens: 100}, 125 * time.Second},
		{"whole, more than the deadline", sdk.Request{MaxTokens: 1_000_000}, 10 * time.Minute},
		{"whole, absurd", sdk.Request{MaxTokens: 1 << 40}, 10 * time.Minute},
	}
	for _, tt := range tests {
		if got := contentLimit(&tt.r); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}

// TestKeepAlives: a vendor that sends nothing but signs of life does not hold a
// call for longer, whoever has set no limit.
func TestKeepAlives(t *testing.T) {
	for _, tt := range []struct {
		stream bool
		sign   string
		want   time.Duration
	}{{true, ": ping\n\n", 2 * time.Minute}, {false, "\n", 324800 * time.Millisecond}} {
		synctest.Test(t, func(t *testing.T) {
			p := inMemory(t, func(w http.ResponseWriter, r *http.Request) {
				if tt.stream {
					w.Header().Set("Content-Type", "text/event-stream")
				}
				tick := time.NewTicker(time.Second)
				defer tick.Stop()
				for {
					select {
					case <-tick.C:
					case <-r.Context().Done():
						return
					}
					_, _ = io.WriteString(w, tt.sign) // whether the caller is gone is seen above
					_ = http.NewResponseController(w).Flush()
				}
			})
			a := ask(t, p, dialect.OpenAI(), tt.stream, 1, sdk.Limits{})
			began := time.Now()
			f := sdk.AwaitVisible(t.Context(), a)
			if took := time.Since(began); f == nil || f.Code != sdk.CodeTimeout || f.Rule != sdk.RuleFirstContent || took != tt.want {
				t.Errorf("stream=%t: got %v after %s, want TIMEOUT after %s", tt.stream, f, took, tt.want)
			}
		})
	}
}
