package gateway_test

import (
	"bufio"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"spillway/host/gateway"
)

// TestFastVendor: a vendor that sends faster than its client reads is held back, and
// what one stream takes of our memory does not grow with what there would be to send.
func TestFastVendor(t *testing.T) {
	const (
		frames = 32 << 10 // of 1 KB
		bound  = 4 << 20  // of memory, ours and the test's own
	)
	frame := []byte(`data: {"choices":[{"index":0,"delta":{"content":"` + strings.Repeat("x", 1<<10) + `"}}]}` + "\n\n")
	var sent atomic.Int64
	vendor := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		for range frames {
			if _, err := w.Write(frame); err != nil {
				return
			}
			sent.Add(1)
		}
		_, _ = io.WriteString(w, `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
	}))
	defer vendor.Close()
	r := openRig(t, row("provider-openai", vendor.URL)+"- {id: gateway, name: gateway, config: {checkGrammar: 0}}\n", gateway.Options{})

	before := heap()
	resp := open(t, t.Context(), r.url+"/v1/chat/completions", `{"model":"p/m1","stream":true,"messages":[{"role":"user","content":"hi"}]}`)
	defer resp.Body.Close()
	look := time.NewTicker(100 * time.Millisecond)
	defer look.Stop()
	for still := int64(-1); still != sent.Load(); <-look.C {
		still = sent.Load()
	}
	if sent.Load() == frames {
		t.Errorf("the vendor has sent all %d frames to a client that reads none", frames)
	}
	if after := heap(); after > before+bound {
		t.Errorf("the memory in use grew by %d KB while nobody read", (after-before)>>10)
	}
	lines, got := bufio.NewScanner(resp.Body), 0
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "data: ") {
			got++
		}
	}
	if want := frames + 2; got != want || lines.Err() != nil {
		t.Errorf("got %d frames, %v, want %d", got, lines.Err(), want)
	}
}

// heap is the memory that is in use.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
