package load

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spillway/tests/bench/mark"
	"spillway/tests/bench/upstream"
)

// chunk is a line of a stream with a mark.
func chunk(vendor string, seq int) string {
	m := mark.Mark{Name: vendor, Seq: seq, At: time.Now()}
	return `data: {"choices":[{"delta":{"content":"` + string(m.Append(nil)) + `"},"finish_reason":null}],"error":null}` + "\n\n"
}

const (
	stop = `data: {"choices":[{"delta":{},"finish_reason": "stop"}]}` + "\n\n"
	done = "data: [DONE]\n\n"
)

func TestOutcomes(t *testing.T) {
	two := chunk("a", 0) + chunk("a", 1)
	for _, tt := range []struct {
		name   string
		answer string
		broken bool
		want   Outcome
	}{
		{"whole", two + stop + done, false, OK},
		{"comments between", ": wait\n\n" + two + "\n: wait\n\n" + stop + done, false, OK},
		{"no end", two, false, Unfinished},
		{"no terminal", two + stop, false, Unfinished},
		{"cut", chunk("a", 0), false, Cut},
		{"cut and claimed", chunk("a", 0) + stop + done, false, ClaimedEnd},
		{"broken", chunk("a", 0), true, Broken},
		{"broken before any", "", true, Broken},
		{"error in the stream", chunk("a", 0) + `data: {"error":{"message":"no"}}` + "\n\n", false, ErrorEvent},
		{"named error", chunk("a", 0) + "event: error\ndata: {}\n\n", true, ErrorEvent},
		{"two vendors", chunk("a", 0) + chunk("b", 1) + stop + done, false, TwoVendors},
		{"begun anew by another", chunk("a", 0) + chunk("b", 0) + chunk("b", 1) + stop + done, false, TwoVendors},
		{"doubled", two + chunk("a", 1) + stop + done, false, OutOfOrder},
		{"exchanged", chunk("a", 1) + chunk("a", 0) + stop + done, false, OutOfOrder},
		{"one missing", chunk("a", 0) + chunk("a", 2) + stop + done, false, OutOfOrder},
		{"one too many", two + chunk("a", 2) + stop + done, false, OutOfOrder},
		{"nothing", stop + done, false, Unreadable},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var r reading
			for line := range strings.Lines(tt.answer) {
				r.line([]byte(strings.TrimSuffix(line, "\n")))
			}
			if got := r.outcome(2, tt.broken); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// gateway answers each request with h, and is closed with the test.
func gateway(t *testing.T, h http.HandlerFunc) Target {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return Target{BaseURL: s.URL + "/v1", Model: "m", Headers: map[string]string{"X-Bench": "yes"}}
}

func TestClosed(t *testing.T) {
	var most, now atomic.Int64
	target := gateway(t, func(w http.ResponseWriter, r *http.Request) {
		defer now.Add(-1)
		for n := now.Add(1); n > most.Load(); {
			most.Store(n)
		}
		body, _ := io.ReadAll(r.Body)
		m, _, ok := mark.Find(body)
		if !ok || r.Header.Get("X-Bench") != "yes" || !strings.Contains(string(body), `"model":"m","stream":true`) {
			http.Error(w, "not what was planned", http.StatusBadRequest)
			return
		}
		if m.Seq == 3 {
			w.WriteHeader(http.StatusTooManyRequests)
			fmt.Fprint(w, "too many")
			return
		}
		fmt.Fprint(w, chunk("a", 0)+chunk("a", 1)+stop+done)
	})
	r := Run(t.Context(), target, Plan{Stream: true, Chunks: 2, Bytes: 10, Callers: 4, Requests: 40, Limit: time.Minute, Timeout: time.Minute})
	if d := cmp.Diff(map[Outcome]int{OK: 39, "status 429": 1}, r.Outcomes); d != "" || r.Said["status 429"] != "too many" {
		t.Errorf("outcomes (-want +got):\n%ssaid %q", d, r.Said)
	}
	if r.Requests != 40 || r.Chunks != 78 || len(r.Took) != 39 || len(r.First) != 39 || len(r.Delays) != 78 || r.Delays[0] <= 0 {
		t.Errorf("got %d requests, %d chunks, %d, %d and %d durations", r.Requests, r.Chunks, len(r.Took), len(r.First), len(r.Delays))
	}
	if most.Load() > 4 {
		t.Errorf("%d at once, want 4 at most", most.Load())
	}
}

// TestOpen: a request that has to wait for its turn took that long.
func TestOpen(t *testing.T) {
	const slow = 50 * time.Millisecond
	target := gateway(t, func(w http.ResponseWriter, r *http.Request) {
		<-time.After(slow)
		m := mark.Mark{Name: "a", At: time.Now()}
		fmt.Fprintf(w, `{"content":"%s%s","finish_reason":"stop"}`, m.Append(nil), upstream.Filler(10))
	})
	r := Run(t.Context(), target, Plan{Bytes: 10, Callers: 1, Requests: 4, Rate: 1000, Limit: time.Minute, Timeout: time.Minute})
	if r.Outcomes[OK] != 4 || r.Took[3] < 3*slow {
		t.Errorf("got %v, %v; want the last to have waited for three others", r.Outcomes, r.Took)
	}
	r = Run(t.Context(), target, Plan{Bytes: 10, Callers: 9, Requests: 100, Rate: 50, Limit: 60 * time.Millisecond, Timeout: time.Minute})
	if r.Requests != 3 {
		t.Errorf("got %d requests in 60 ms at 50/s, want 3", r.Requests)
	}
}

func TestNoAnswer(t *testing.T) {
	plan := Plan{Stream: true, Chunks: 1, Callers: 1, Requests: 1, Limit: time.Minute, Timeout: 20 * time.Millisecond}
	gone := httptest.NewServer(nil)
	gone.Close()
	if r := Run(t.Context(), Target{BaseURL: gone.URL}, plan); r.Outcomes[NoAnswer] != 1 || r.Said[NoAnswer] == "" {
		t.Errorf("nobody there: got %v", r.Outcomes)
	}
	silent := gateway(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // else the server does not notice that the caller left
		<-r.Context().Done()
	})
	if r := Run(t.Context(), silent, plan); r.Outcomes[Timeout] != 1 {
		t.Errorf("silence: got %v", r.Outcomes)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if r := Run(ended, silent, plan); r.Requests != 0 {
		t.Errorf("ended before it began: got %v", r.Outcomes)
	}
}

// TestWhole: an answer that lacks a part is none.
func TestWhole(t *testing.T) {
	text := string(mark.Mark{Name: "a", At: time.Now()}.Append(nil)) + upstream.Filler(100)
	for _, tt := range []struct {
		name, answer string
		want         Outcome
	}{
		{"whole", `{"content":"` + text + `","finish_reason":"stop"}`, OK},
		{"short", `{"content":"` + text[:60] + `","finish_reason":"stop"}`, Unreadable},
		{"no end", `{"content":"` + text + `"}`, Unreadable},
		{"nothing", `{}`, Unreadable},
	} {
		target := gateway(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, tt.answer) })
		r := Run(t.Context(), target, Plan{Bytes: 100, Callers: 1, Requests: 1, Limit: time.Minute, Timeout: time.Minute})
		if r.Outcomes[tt.want] != 1 {
			t.Errorf("%s: got %v, want %q", tt.name, r.Outcomes, tt.want)
		}
	}
}

// The generator shares the machine with what it measures.
func TestLinesCostNoGarbage(t *testing.T) {
	line := []byte(strings.TrimSpace(chunk("a", 0)))
	r := reading{delays: make([]time.Duration, 0, 1000)}
	if n := testing.AllocsPerRun(100, func() { r.line(line) }); n != 0 {
		t.Errorf("%v allocations a line, want 0", n)
	}
}
