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
// and what it has used until then is booked: as reported, else by estimate.
func TestClientLeaves(t *testing.T) {
	tests := []struct {
		name    string
		rows    string
		content bool                                               // some came
		hear    func(t *testing.T, dialect string, body io.Reader) // how far the client reads
	}{
		{"before anything came", keep(never, never), false, nil},
		{"while it is kept waiting", keep(1, 10), false, func(t *testing.T, dialect string, body io.Reader) { listen(t, dialect, body, 2) }},
		{"in the middle", keep(never, never), true, func(t *testing.T, _ string, body io.Reader) {
			if _, err := io.ReadAtLeast(body, make([]byte, 32<<10), 20); err != nil {
				t.Error(err)
			}
		}},
		{"in a silence", keep(never, 10), true, func(t *testing.T, dialect string, body io.Reader) { listen(t, dialect, body, 2) }},
	}
	for _, vendor := range apis {
		for _, client := range apis {
			for _, tt := range tests {
				t.Run(fmt.Sprintf("%s from %s/%s", client.name, vendor.name, tt.name), func(t *testing.T) {
					p := newPlayer(t, vendor)
					r := openRig(t, p.row()+tt.rows, gateway.Options{})
					asked, ended := make(chan struct{}), make(chan time.Time, 1)
					p.play(func(s *stage) bool {
						if tt.content {
							s.say(tokens(), start(), text("one"))
						}
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
					want, reports := sdk.Usage{}, vendor.name == "anthropic" // the others do at the end
					switch {
					case tt.content && reports:
						want = sdk.Usage{Input: 11, Output: 3}
					case tt.content:
						want = sdk.Usage{Input: rec.Shape.PromptTokens, Output: 1}
					}
					if a := rec.Attempts[0]; a.Usage != want || a.Estimated != (tt.content && !reports) {
						t.Errorf("booked %+v, estimated %t, want %+v", a.Usage, a.Estimated, want)
					}
				})
			}
		}
	}
}

// TestVendorIsLeftAtOnce: within 100 ms, which a busy machine may spoil some times
// but not every time.
func TestVendorIsLeftAtOnce(t *testing.T) {
	const limit, tries = 100 * time.Millisecond, 8
	for _, a := range apis {
		for _, stream := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/stream=%t", a.name, stream), func(t *testing.T) {
				p := newPlayer(t, a)
				r := openRig(t, p.row(), gateway.Options{})
				best := time.Hour
				for range tries {
					asked, ended := make(chan struct{}), make(chan time.Time, 1)
					p.play(func(s *stage) bool {
						if stream {
							s.say(start(), text("one"))
						}
						close(asked)
						<-s.ctx.Done()
						ended <- time.Now()
						return false
					})
					ctx, leave := context.WithCancel(t.Context())
					answered := make(chan struct{})
					go func() {
						defer close(answered)
						if resp, err := send(ctx, r.url+a.path, fmt.Sprintf(a.body, stream)); err == nil {
							_, _ = io.Copy(io.Discard, resp.Body)
							resp.Body.Close()
						}
					}()
					<-asked
					left := time.Now()
					leave()
					best = min(best, (<-ended).Sub(left))
					<-answered
					if best <= limit {
						return
					}
				}
				t.Errorf("the vendor's call went on for %s, want %s at most", best, limit)
			})
		}
	}
}
