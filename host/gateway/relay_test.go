package gateway

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"spillway/host"
	"spillway/host/dialect"
	"spillway/host/llm"
	"spillway/host/state/record"
)

// discard is a client's end that takes everything.
type discard struct {
	header  http.Header
	writes  int
	flushes int
}

func (d *discard) Header() http.Header              { return d.header }
func (d *discard) WriteHeader(int)                  {}
func (d *discard) Write(p []byte) (int, error)      { d.writes++; return len(p), nil }
func (d *discard) FlushError() error                { d.flushes++; return nil }
func (d *discard) SetWriteDeadline(time.Time) error { return nil }
func (d *discard) line(s *Server) *line {
	x := &exchange{
		server: s, dialect: dialect.OpenAI(), w: d, out: http.NewResponseController(d), asked: time.Now(),
		call: &llm.Call{Trace: llm.NewTrace(record.Request{}, nil, nil)},
	}
	return newLine(x, host.Gateway{HoldHeaders: time.Hour, KeepAlive: time.Hour})
}

// token is a frame as a vendor sends one for a token.
var token = llm.Frame{
	Raw:  []byte("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"token\"}}]}\n\n"),
	Mark: dialect.Mark{Kind: dialect.MarkContent, ID: "chatcmpl-1"},
}

func relayLine(tb testing.TB) (*discard, *line) {
	d := &discard{header: http.Header{}}
	l := d.line(New(Options{Log: slog.New(slog.DiscardHandler)}))
	tb.Cleanup(l.close)
	l.relays(llm.Head{})
	return d, l
}

// TestRelayAllocates: an event on its way to the client costs no allocation, whether
// it comes alone or in company.
func TestRelayAllocates(t *testing.T) {
	for _, together := range []int{1, 20} {
		d, l := relayLine(t)
		const runs = 1000
		n := testing.AllocsPerRun(runs, func() {
			for range together {
				l.relayed(token)
			}
			l.relayed(llm.Frame{})
		})
		if n > 0 {
			t.Errorf("%d at a time: got %v allocations, want none", together, n)
		}
		if d.writes != runs+1 || d.flushes != d.writes { // AllocsPerRun warms up once
			t.Errorf("%d at a time: got %d writes and %d flushes of %d pieces", together, d.writes, d.flushes, runs+1)
		}
	}
}

// TestGathered: what is gathered is bounded, and an end waits for nobody.
func TestGathered(t *testing.T) {
	d, l := relayLine(t)
	large := token
	large.Raw = []byte("data: " + strings.Repeat("x", maxGathered) + "\n\n")
	l.relayed(token)
	if d.flushes != 0 {
		t.Error("a frame was sent although another may be there")
	}
	l.relayed(large)
	if d.flushes != 1 || l.buf != nil {
		t.Errorf("got %d flushes after more than is gathered", d.flushes)
	}
	l.relayed(token)
	l.relayed(llm.Frame{Raw: dialect.OpenAI().Terminal(), Mark: dialect.Mark{Kind: dialect.MarkTerminal}})
	if d.flushes != 2 {
		t.Errorf("got %d flushes after the end", d.flushes)
	}
}

func BenchmarkRelay(b *testing.B) {
	_, l := relayLine(b)
	for b.Loop() {
		l.relayed(token)
		l.relayed(llm.Frame{})
	}
}
