package cli

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"spillway/host/agent"
	"spillway/host/state/record"
	"spillway/sdk"
)

// TestProgress: a terminal shows who is asked once nothing has come for a while, and
// that line is gone when something comes.
func TestProgress(t *testing.T) {
	ask := agent.Event{Kind: agent.EventAsked, Attempt: record.Attempt{Route: sdk.Route{Provider: "a", Model: "m"}}}
	begin := agent.Event{Kind: agent.EventAnswer, Answer: &sdk.Event{Kind: sdk.KindBlockStart, Block: sdk.BlockText}}
	text := agent.Event{Kind: agent.EventAnswer, Answer: &sdk.Event{Kind: sdk.KindTextDelta, Text: "hi\n"}}
	for _, tt := range []struct {
		name   string
		counts bool
		wait   time.Duration
		want   string
	}{
		{"soon", true, 1900 * time.Millisecond, "hi\n"},
		{"late", true, 3500 * time.Millisecond, rewrite + "asking a/m (2s)" + rewrite + "asking a/m (3s)" + rewrite + "hi\n"},
		{"no terminal", false, time.Minute, "hi\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var screen bytes.Buffer
				w := &teller{out: &screen, err: &screen, live: true, counts: tt.counts}
				w.Tell(ask)
				time.Sleep(tt.wait)
				w.Tell(begin)
				w.Tell(text)
				w.Close()
				if got := screen.String(); got != tt.want {
					t.Errorf("shown %q, want %q", got, tt.want)
				}
			})
		})
	}
}

func TestPatiently(t *testing.T) {
	for _, tt := range []struct {
		takes time.Duration
		want  int
	}{{silence - time.Millisecond, 0}, {time.Minute, 1}} {
		synctest.Test(t, func(t *testing.T) {
			told := 0
			patiently(func() { time.Sleep(tt.takes) }, func() { told++ })
			if told != tt.want {
				t.Errorf("after %s: told %d times, want %d", tt.takes, told, tt.want)
			}
		})
	}
}
