package sim_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spillway/host/sim"
)

func TestNewErrors(t *testing.T) {
	for _, tt := range []struct {
		name    string
		vendors []sim.Vendor
		want    string
	}{
		{"none", nil, "no vendors"},
		{"twice", []sim.Vendor{{Name: "a"}, {Name: "a"}}, `vendor "a": named twice`},
		{"name", []sim.Vendor{{Name: "A b"}}, `vendor name "A b"`},
		{"script", []sim.Vendor{{Name: "a", Script: "nope"}}, `vendor "a": script: step 1 "nope"`},
		{"tokens", []sim.Vendor{{Name: "a", Answer: sim.Answer{Tokens: -1}}}, "want 0 to 1000000 tokens"},
		{"gap", []sim.Vendor{{Name: "a", Answer: sim.Answer{Gap: -1}}}, "gap -1ns"},
	} {
		if _, err := sim.New(sim.Options{Vendors: tt.vendors}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.want)
		}
	}
}

func TestStartErrors(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:0", "127.0.0.1", "example.com:0", "127.0.0.1:65535", "127.0.0.1:x"} {
		s, err := sim.New(sim.Options{Vendors: []sim.Vendor{{Name: "a"}}})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Start(t.Context(), addr); err == nil || !strings.Contains(err.Error(), addr) {
			t.Errorf("%s: got %v, want an error that names it", addr, err)
		}
		s.Close()
	}
}

func TestKeys(t *testing.T) {
	e := one(t, "key="+sim.Fingerprint("goodtwo")+" => 429\nok", func(v *sim.Vendor) { v.Keys = []string{"goodone", "goodtwo"} })
	each(t, func(t *testing.T, a ask) {
		for key, want := range map[string]int{"one": 200, "two": 429, "three": 401, "-": 401} {
			a.key = key
			if r := a.send(t.Context(), t, e); r.status != want {
				t.Errorf("key %s: got %d %s, want %d", key, r.status, r.body, want)
			}
		}
	})
	calls := e.Calls()
	keys := map[string]int{}
	for _, c := range calls {
		keys[c.Key]++
	}
	want := map[string]int{"": 6, sim.Fingerprint("goodone"): 6, sim.Fingerprint("goodtwo"): 6, sim.Fingerprint("goodthree"): 6}
	if diff := cmp.Diff(want, keys); diff != "" {
		t.Errorf("keys in the log (-want +got):\n%s", diff)
	}
	if text := fmt.Sprintf("%+v", calls); strings.Contains(text, "goodone") || strings.Contains(text, "goodthree") {
		t.Error("the log holds a key")
	}
}

func TestUnknownModel(t *testing.T) {
	e := one(t, "ok", func(v *sim.Vendor) { v.Models, v.Like = []string{"other"}, "deepseek" })
	if r := (ask{dialect: "openai"}).send(t.Context(), t, e); r.status != 400 || !strings.Contains(r.body, "Model Not Exist") {
		t.Errorf("got %d %s", r.status, r.body)
	}
	if r := (ask{dialect: "anthropic", fields: map[string]any{"model": "other"}}).send(t.Context(), t, e); r.status != 200 {
		t.Errorf("got %d %s", r.status, r.body)
	}
}

func TestMalformed(t *testing.T) {
	e := one(t, "ok")
	send := func(dialect, body string) reply {
		r := ask{dialect: dialect}.request(t.Context(), t, e.URL())
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
		return roundTrip(r)
	}
	for _, dialect := range dialects {
		for _, body := range []string{"{", `{"model":5}`, "", "[]"} {
			if got := send(dialect, body); got.status != 400 {
				t.Errorf("%s %q: got %d %v %s, want 400", dialect, body, got.status, got.err, got.body)
			}
		}
	}
	const limit = 32 << 20
	if got := send("anthropic", strings.Repeat(" ", limit+1)); got.status != 413 {
		t.Errorf("one byte too long: got %d %v, want 413", got.status, got.err)
	}
}

func TestLog(t *testing.T) {
	e := one(t, "ok; cut=3")
	before := time.Now()
	for range 2 {
		ask{dialect: "anthropic", stream: true, header: map[string]string{"Cookie": "c", "Anthropic-Beta": "b"}}.send(t.Context(), t, e)
	}
	calls, err := e.Until(soon(t), func(c []sim.Call) bool { return len(c) == 2 && !c[1].End.IsZero() })
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range calls {
		if c.Time.Before(before) || c.End.Before(c.Time) || c.Written < 500 || c.RequestBytes != int64(len(c.Body)) || !json.Valid(c.Body) {
			t.Errorf("call %d: %+v", i+1, c)
		}
		if c.Header.Get("Anthropic-Beta") != "b" || c.Header.Get("X-Api-Key") != "" || c.Header.Get("Cookie") != "" {
			t.Errorf("call %d: headers %v", i+1, c.Header)
		}
		c.Time, c.End, c.Written, c.RequestBytes, c.Header, c.Body = time.Time{}, time.Time{}, 0, 0, nil, nil
		want := sim.Call{Vendor: "p", N: i + 1, Method: "POST", Path: "/v1/messages", Model: "m", Stream: true,
			Key: sim.Fingerprint("good"), Step: []string{"ok", "cut=3"}[i], Status: 200}
		if diff := cmp.Diff(want, c); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

func TestWait(t *testing.T) {
	e := one(t, "ok")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Wait(ctx, 1); err != context.Canceled {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	go ask{dialect: "openai"}.send(t.Context(), t, e)
	if calls, err := e.Wait(soon(t), 1); err != nil || len(calls) != 1 {
		t.Errorf("got %d calls, %v", len(calls), err)
	}
}

// Close ends what hangs, at once, and leaves nothing running.
func TestClose(t *testing.T) {
	scripts := []string{"hang", "stall=2", "slow=1h", "drip=1h", "keepalive=1ms", "ok after=1h", "nodone for=1h", "longline=1024MB", "refuse*1h; ok"}
	var vendors []sim.Vendor
	for i, script := range scripts {
		vendors = append(vendors, sim.Vendor{Name: fmt.Sprintf("v%d", i), Script: script})
	}
	s := open(t, vendors...)
	for i, e := range s.Vendors() {
		go func() {
			resp, err := http.DefaultTransport.RoundTrip(ask{dialect: dialects[i%len(dialects)], stream: true}.request(t.Context(), t, e.URL()))
			if err == nil {
				defer resp.Body.Close()
				<-t.Context().Done() // reads nothing, so that the vendor cannot write on
			}
		}()
		if scripts[i] != "refuse*1h; ok" {
			if _, err := e.Until(soon(t), func(c []sim.Call) bool { return len(c) == 1 && c[0].Step != "" }); err != nil {
				t.Fatal(err)
			}
		}
	}
	start := time.Now()
	s.Close()
	if took := time.Since(start); took > time.Second {
		t.Errorf("Close took %v", took)
	}
	s.Close()
	// A handler that ended its connection is on its goroutine's stack until the
	// panic has unwound, a moment after the connection is gone.
	for ctx := soon(t); len(running()) > 0; runtime.Gosched() {
		if ctx.Err() != nil {
			t.Fatalf("still running:\n%s", strings.Join(running(), "\n\n"))
		}
	}
	for _, c := range s.Calls() {
		if c.End.IsZero() || c.Gone {
			t.Errorf("%s: end %v, gone %v: it was the vendor that left", c.Vendor, c.End, c.Gone)
		}
	}
}

// running returns the goroutines that are inside the package.
func running() []string {
	var b bytes.Buffer
	pprof.Lookup("goroutine").WriteTo(&b, 2)
	return slices.DeleteFunc(strings.Split(b.String(), "\n\n"), func(stack string) bool {
		return !strings.Contains(stack, "host/sim.(*")
	})
}

func TestContextEnds(t *testing.T) {
	s, err := sim.New(sim.Demo())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if err := s.Start(ctx, "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	cancel()
	s.Close()
	if r := (ask{dialect: "openai"}).send(t.Context(), t, s.Vendor("deepseek")); r.err == nil {
		t.Error("got an answer after the end")
	}
}

func TestDemo(t *testing.T) {
	s, err := sim.New(sim.Demo())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(t.Context(), "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	for _, tt := range []struct {
		vendor, dialect string
		status          int
		body            string
	}{
		{"anthropic", "anthropic", 429, "7-day rate limit"},
		{"kimi-coding", "anthropic", 403, "Access terminated"},
		{"kimi-coding", "openai", 403, "Access terminated"},
		{"deepseek", "openai", 200, "DeepSeek answers"},
		{"deepseek", "responses", 200, "DeepSeek answers"},
	} {
		e := s.Vendor(tt.vendor)
		a := ask{dialect: tt.dialect, fields: map[string]any{"model": e.Models()[0]}}
		if r := a.send(t.Context(), t, e); r.status != tt.status || !strings.Contains(r.body, tt.body) {
			t.Errorf("%s: got %d %s, want %d with %q", tt.vendor, r.status, r.body, tt.status, tt.body)
		}
	}
	var order []string
	for _, c := range s.Calls() {
		order = append(order, c.Vendor)
	}
	if diff := cmp.Diff([]string{"anthropic", "kimi-coding", "kimi-coding", "deepseek", "deepseek"}, order); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// Many callers and a changing script: for the race detector.
func TestParallel(t *testing.T) {
	e := one(t, "ok; 429; cut=2; reset; repeat")
	done := make(chan struct{})
	for i := range 8 {
		go func() {
			for range 10 {
				ask{dialect: dialects[i%len(dialects)], stream: i%3 == 0}.send(t.Context(), t, e)
			}
			done <- struct{}{}
		}()
	}
	for _, script := range []string{"refuse", "ok", "refuse*1ms; ok", "500; ok; repeat", "ok"} {
		if err := e.SetScript(script); err != nil {
			t.Error(err)
		}
		e.Calls()
	}
	for range 8 {
		<-done
	}
}
