package gateway_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"

	"spillway/host/dialect/dialecttest"
	"spillway/host/gateway"
	"spillway/host/state/record"
)

// breaks are answers that do not come to their end.
var breaks = []struct {
	name    string
	visible bool // something had come that a client may have been shown
	say     func(s *stage)
}{
	{"start", false, func(s *stage) { s.say(start()) }},
	{"pings", false, func(s *stage) { s.ping(); s.ping(); s.ping() }},
	{"reasoning", true, func(s *stage) { s.say(start(), think("hm"), think(" so")) }},
	{"half an argument", true, func(s *stage) { s.say(start()); s.say(call(`{"a":"`)...) }},
	{"text", true, func(s *stage) { s.say(start(), text("one "), text("two")) }},
	{"text after reasoning", true, func(s *stage) { s.say(start(), think("hm"), text("one")) }},
	{"a finished call", true, func(s *stage) { s.say(start()); s.say(call(`{"a":1}`)...); s.say(end()) }},
	{"a second call", true, func(s *stage) {
		s.say(start())
		s.say(call(`{"a":1}`)...)
		s.say(end())
		s.say(call(`{"b"`)...)
	}},
}

// endings are how they break.
var endings = []struct {
	name string
	end  func(s *stage) bool
}{
	{"error event", func(s *stage) bool { s.error(); return true }},
	{"end of the body", func(*stage) bool { return true }},
	{"lost connection", func(*stage) bool { return false }},
}

// TestCommitPoint: whatever breaks, a client gets a real status as long as it has
// seen nothing, and after that one sound beginning, the dialect's error event and
// an aborted connection.
func TestCommitPoint(t *testing.T) {
	for _, vendor := range apis {
		p := newPlayer(t, vendor)
		for _, hold := range []int{never, 1} {
			r := openRig(t, p.row()+keep(hold, never), gateway.Options{})
			for _, client := range apis {
				for _, b := range breaks {
					for _, e := range endings {
						t.Run(fmt.Sprintf("%s from %s/%s, then %s/hold=%d", client.name, vendor.name, b.name, e.name, hold), func(t *testing.T) {
							begun := make(chan struct{})
							p.play(func(s *stage) bool {
								if hold == 1 {
									s.wait(begun)
								}
								b.say(s)
								return e.end(s)
							})
							resp := open(t, t.Context(), r.url+client.path, fmt.Sprintf(client.body, true))
							defer resp.Body.Close()
							close(begun)
							got, err := io.ReadAll(resp.Body)
							want := record.FailedClean
							if b.visible {
								want = record.FailedMidstream
							}
							id := resp.Header.Get("X-Spillway-Request-Id")
							if rec := r.record(id); rec.Outcome != want {
								t.Errorf("outcome: got %s, want %s", rec.Outcome, want)
							}
							if !bytes.Contains(got, []byte(id)) {
								t.Errorf("the request is not named: %s", got)
							}
							if hold == never && !b.visible {
								if resp.StatusCode != http.StatusServiceUnavailable || err != nil || !json.Valid(got) {
									t.Errorf("got %d, %v: %s", resp.StatusCode, err, got)
								}
								return
							}
							if resp.StatusCode != http.StatusOK || err == nil {
								t.Errorf("got %d, want 200; the connection ended with %v, want an abort", resp.StatusCode, err)
							}
							if err := dialecttest.CheckFailed(client.name, got); err != nil {
								t.Errorf("%v\n%s", err, got)
							}
						})
					}
				}
			}
		}
	}
}

// TestNeverStarted: a vendor's failure that comes after our own start is told in
// the stream, whatever its kind.
func TestNeverStarted(t *testing.T) {
	refuse := func(status int, body string) act {
		return func(s *stage) bool {
			s.w.Header().Set("Content-Type", "application/json")
			s.w.WriteHeader(status)
			s.write([]byte(body))
			return true
		}
	}
	tests := []struct {
		name string
		act  act
	}{
		{"500", refuse(http.StatusInternalServerError, `{"error":{"message":"sorry"}}`)},
		{"401", refuse(http.StatusUnauthorized, `{"error":{"type":"authentication_error","message":"invalid x-api-key"}}`)},
		{"400", refuse(http.StatusBadRequest, `{"error":{"type":"invalid_request_error","message":"no such field"}}`)},
		{"reset", func(*stage) bool { return false }},
		{"nothing", func(*stage) bool { return true }},
	}
	for _, client := range apis {
		p := newPlayer(t, client)
		r := openRig(t, p.row()+keep(1, never), gateway.Options{})
		for _, tt := range tests {
			t.Run(client.name+"/"+tt.name, func(t *testing.T) {
				begun := make(chan struct{})
				p.play(func(s *stage) bool {
					s.wait(begun)
					return tt.act(s)
				})
				resp := open(t, t.Context(), r.url+client.path, fmt.Sprintf(client.body, true))
				defer resp.Body.Close()
				close(begun)
				got, err := io.ReadAll(resp.Body)
				if resp.StatusCode != http.StatusOK || err == nil {
					t.Errorf("got %d, %v", resp.StatusCode, err)
				}
				if err := dialecttest.CheckFailed(client.name, got); err != nil {
					t.Errorf("%v\n%s", err, got)
				}
			})
		}
	}
}
