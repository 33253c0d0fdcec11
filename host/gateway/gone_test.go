package gateway_test

import (
	"context"
	"fmt"
	"io"
	"testing"
	"time"

	"spillway/host/gateway"
	"spillway/host/state/record"
	"spillway/sdk"
)

// promptly is how soon a vendor's call must end after its caller, with what a
// busy machine adds.
const promptly = time.Second

// TestClientLeaves: the vendor's call ends with its caller, at whatever moment,
// and what it has reported until then is booked.
func TestClientLeaves(t *testing.T) {
	tests := []struct {
		name string
		rows string
		say  func(s *stage)
		hear func(t *testing.T, dialect string, body io.Reader) // how far the client reads
		used sdk.Usage
	}{
		{"before anything came", keep(never, never), func(*stage) {}, nil, sdk.Usage{}},
		{"while it is kept waiting", keep(1, 10), func(*stage) {}, func(t *testing.T, dialect string, body io.Reader) { listen(t, dialect, body, 2) }, sdk.Usage{}},
		{"in the middle", keep(never, never), func(s *stage) { s.say(tokens(), start(), text("one")) }, func(t *testing.T, _ string, body io.Reader) {
			if _, err := io.ReadAtLeast(body, make([]byte, 32<<10), 20); err != nil {
				t.Error(err)
			}
		}, sdk.Usage{Input: 11, Output: 3}},
		{"in a silence", keep(never, 10), func(s *stage) { s.say(tokens(), start(), text("one")) }, func(t *testing.T, dialect string, body io.Reader) { listen(t, dialect, body, 2) }, sdk.Usage{Input: 11, Output: 3}},
	}
	for _, vendor := range dialects {
		for _, client := range apis {
			for _, tt := range tests {
				t.Run(fmt.Sprintf("%s from %s/%s", client.name, vendor.name, tt.name), func(t *testing.T) {
					p := newPlayer(t, vendor)
					r := openRig(t, p.row()+tt.rows, gateway.Options{})
					asked, ended := make(chan struct{}), make(chan time.Time, 1)
					p.play(func(s *stage) bool {
						tt.say(s)
						close(asked)
						<-s.ctx.Done()
						ended <- time.Now()
						return false
					})
					ctx, leave := context.WithCancel(t.Context())
					defer leave()
					id := ""
					var left time.Time
					if tt.hear == nil {
						go func() { <-asked; left = time.Now(); leave() }()
						if _, err := send(ctx, r.url+client.path, fmt.Sprintf(client.body, true)); err == nil {
							t.Fatal("an answer came")
						}
						id = r.newest()
					} else {
						resp := open(t, ctx, r.url+client.path, fmt.Sprintf(client.body, true))
						defer resp.Body.Close()
						tt.hear(t, client.name, resp.Body)
						id = resp.Header.Get("X-Spillway-Request-Id")
						left = time.Now()
						leave()
					}
					if took := (<-ended).Sub(left); took > promptly {
						t.Errorf("the vendor's call went on for %s", took)
					}
					rec := r.record(id)
					if rec.Outcome != record.Cancelled || len(rec.Attempts) != 1 || rec.Attempts[0].Outcome != record.AttemptCancelled {
						t.Fatalf("record: %+v", rec)
					}
					if vendor.name == "anthropic" && rec.Attempts[0].Usage != tt.used { // the other one reports usage last
						t.Errorf("booked %+v, want %+v", rec.Attempts[0].Usage, tt.used)
					}
				})
			}
		}
	}
}
