package supervisor

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func testOutput(level slog.Level) (*output, *bytes.Buffer) {
	b := &bytes.Buffer{}
	return &output{log: slog.New(slog.NewTextHandler(b, &slog.HandlerOptions{Level: level}))}, b
}

// TestFloodIsBounded: of what a plugin writes without end so much is logged and
// no more, and the log says how much it lacks.
func TestFloodIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, b := testOutput(slog.LevelInfo)
		lines := 0
		const windows, perWindow = 6, 2000
		for range windows * perWindow {
			lines++
			o.line(true, `{"@level":"error","@message":"flood `+strings.Repeat("x", 100)+`"}`)
			time.Sleep(logWindow / perWindow)
		}
		o.end()
		synctest.Wait()
		if n := b.Len(); n > (windows+1)*(logBytes+1<<10) || n < windows*logBytes/2 {
			t.Errorf("%d bytes were logged, want about %d", n, windows*logBytes)
		}
		logged, dropped := 0, 0
		for line := range strings.Lines(b.String()) {
			n := 0
			if _, after, ok := strings.Cut(line, "lines dropped\" lines="); ok {
				fmt.Sscan(after, &n)
				dropped += n
				continue
			}
			logged++
		}
		if logged+dropped != lines {
			t.Errorf("%d lines logged and %d told as dropped, of %d", logged, dropped, lines)
		}
		if got := o.tail(); len(got) != keptLines {
			t.Errorf("%d lines are kept, want %d", len(got), keptLines)
		}
	})
}

// TestFloodBelowTheLevel costs the lines above it nothing.
func TestFloodBelowTheLevel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, b := testOutput(slog.LevelInfo)
		for range 100_000 {
			o.line(true, "noise")
		}
		o.line(true, `{"@level":"info","@message":"signal"}`)
		if got := b.String(); !strings.Contains(got, "signal") || strings.Contains(got, "noise") || strings.Contains(got, "dropped") {
			t.Errorf("got %q", got)
		}
	})
}

func TestLine(t *testing.T) {
	tests := []struct {
		name, line string
		stdout     bool
		want       string // level and message
	}{
		{name: "text", line: "hello", want: "DEBUG hello"},
		{name: "hclog", line: `{"@level":"warn","@message":"low","@timestamp":"x","n":1,"b":{"c":[2]}}`, want: "WARN low b=map[c:[2]] n=1"},
		{name: "of another form", line: `{"@message":1,"@level":[],"@timestamp":{}}`, want: `DEBUG {"@message":1,"@level":[],"@timestamp":{}}`},
		{name: "level of another form", line: `{"@message":"m","@level":7}`, want: "DEBUG m"},
		{name: "cut", line: `{"@timestamp":"t","@level":"error","@message":"xxx`, want: `ERROR {"@timestamp":"t","@level":"error","@message":"xxx`},
		{name: "not an object", line: `[1]`, want: "DEBUG [1]"},
		{name: "null", line: `null`, want: "DEBUG null"},
		{name: "on standard output it is text", stdout: true, line: `{"@level":"error","@message":"m"}`, want: `DEBUG {"@level":"error","@message":"m"}`},
		{name: "a panic", line: "panic: boom", want: "ERROR panic: boom"},
		{name: "a fatal error", line: "fatal error: all goroutines are asleep - deadlock!", want: "ERROR fatal error: all goroutines are asleep - deadlock!"},
		{name: "no panic on standard output", stdout: true, line: "panic: boom", want: "DEBUG panic: boom"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := &entries{}
			o := &output{log: slog.New(h)}
			o.line(!tt.stdout, tt.line)
			if d := cmp.Diff([]string{tt.want}, h.got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// TestLastLines: what a panic said stays readable, also behind a long trace, and
// the next process begins anew.
func TestLastLines(t *testing.T) { synctest.Test(t, lastLines) }

func lastLines(t *testing.T) {
	o, _ := testOutput(slog.LevelError + 1)
	for i := range 100 {
		o.line(true, fmt.Sprint(i))
	}
	if got := o.tail(); len(got) != keptLines || got[0] != "80" || o.word() != "99" {
		t.Errorf("got %q, last word %q", got, o.word())
	}
	o.line(true, "panic: boom")
	for i := range 100 {
		o.line(true, fmt.Sprintf("trace %d", i))
	}
	got := o.tail()
	want := []string{"99", "panic: boom", "trace 0", "trace 1", "trace 2", "trace 3"}
	if d := cmp.Diff(want, got[len(got)-len(want):]); d != "" || o.word() != "panic: boom" {
		t.Errorf("last word %q, lines (-want +got):\n%s", o.word(), d)
	}
	time.Sleep(2 * traceTime)
	o.line(true, "it lives")
	if got := o.tail(); got[len(got)-1] != "it lives" || o.word() != "it lives" {
		t.Errorf("got %q, last word %q", got, o.word())
	}
	o.begin()
	if w := o.word(); w != "" {
		t.Errorf("a process that wrote nothing said %q", w)
	}
	o.line(false, strings.Repeat("界", keptBytes))
	if got := o.tail(); len(got[len(got)-1]) != keptBytes-1 || slices.Contains(got, "trace 4") {
		t.Errorf("kept %d bytes of a long line", len(got[len(got)-1]))
	}
}

// entries is a handler that notes level, message and attributes.
type entries struct{ got []string }

func (*entries) Enabled(context.Context, slog.Level) bool { return true }

func (e *entries) Handle(_ context.Context, r slog.Record) error {
	text := r.Level.String() + " " + r.Message
	r.Attrs(func(a slog.Attr) bool {
		text += " " + a.String()
		return true
	})
	e.got = append(e.got, text)
	return nil
}

func (e *entries) WithAttrs([]slog.Attr) slog.Handler { return e }

func (e *entries) WithGroup(string) slog.Handler { return e }
