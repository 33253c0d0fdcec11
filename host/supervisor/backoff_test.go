package supervisor

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestBackoff plays lives of processes, each restarted after the pause that it
// earned.
func TestBackoff(t *testing.T) {
	const ms = time.Millisecond
	type life struct {
		lasts    time.Duration
		answered bool
	}
	answered := life{time.Second, true}
	tests := []struct {
		name  string
		lives []life
		want  []time.Duration // pauses; shorter than lives if they are a crash loop
	}{
		{"answered", []life{answered, answered, answered}, []time.Duration{0, 0, 0}},
		{"answered, however short", []life{{ms, true}, {ms, true}, {ms, true}}, []time.Duration{0, 0, 0}},
		{
			"dies of its start", []life{{ms, false}, {ms, false}, {ms, false}, {ms, false}, {ms, false}},
			[]time.Duration{100 * ms, 200 * ms, 400 * ms, 800 * ms},
		},
		{"an answer forgives", []life{{ms, false}, {ms, false}, answered, {ms, false}}, []time.Duration{100 * ms, 200 * ms, 0, 100 * ms}},
		{
			"always dies a little later", []life{{300 * ms, false}, {300 * ms, false}, {300 * ms, false}, {300 * ms, false}, {300 * ms, false}, {300 * ms, false}, {300 * ms, false}, {300 * ms, false}},
			[]time.Duration{100 * ms, 200 * ms, 400 * ms, 800 * ms, 1600 * ms, 3200 * ms, 5000 * ms, 5000 * ms},
		},
		{
			"now early, now late", []life{{ms, false}, {300 * ms, false}, {ms, false}, {300 * ms, false}},
			[]time.Duration{100 * ms, 100 * ms, 100 * ms, 200 * ms},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b backoff
			var got []time.Duration
			now := time.Unix(0, 0)
			for _, l := range tt.lives {
				now = now.Add(l.lasts)
				b.ended(now, l.lasts, l.answered)
				if b.loop() {
					break
				}
				pause := b.pause(now)
				now = now.Add(pause)
				got = append(got, pause)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("pauses (-want +got):\n%s", d)
			}
		})
	}
}

// TestBackoffBoundsRestarts: a plugin that answers and dies, again and again, is
// started six times a second at most.
func TestBackoffBoundsRestarts(t *testing.T) {
	for _, every := range []time.Duration{time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond, time.Second} {
		var b backoff
		const lives = 1000
		now := time.Unix(0, 0)
		for range lives {
			now = now.Add(every)
			b.ended(now, every, true)
			now = now.Add(b.pause(now))
		}
		took := now.Sub(time.Unix(0, 0))
		bound := max(lives*every, (lives-maxRestarts)*restartWindow/maxRestarts)
		if took < bound-restartWindow || took > bound+restartWindow {
			t.Errorf("one each %s: %d lives took %s, want about %s", every, lives, took, bound)
		}
	}
}

// TestBackoffAfterFailedStarts: five in a row are a crash loop, however they
// failed.
func TestBackoffAfterFailedStarts(t *testing.T) {
	var b backoff
	b.ended(time.Unix(0, 0), time.Millisecond, false)
	for range maxFailedStarts - 1 {
		if b.loop() {
			t.Fatal("off too early")
		}
		b.startFailed()
	}
	if !b.loop() {
		t.Error("not off")
	}
}
