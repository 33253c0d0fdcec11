package supervisor

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// keptLines is how many of a plugin's last lines status shows, and
	// keptBytes how much of each.
	keptLines = 20
	keptBytes = 1 << 10
	keptTrace = 4 // lines of a stack trace: which goroutine, what it did, where
	// traceTime is longer than a trace takes. A program that writes on after it
	// has not died.
	traceTime = time.Second
	// logBytes may be logged within logWindow; the rest is counted. A stack
	// trace fits, and a plugin that writes without end fills half a gigabyte a
	// day instead of the disk.
	logBytes  = 64 << 10
	logWindow = 10 * time.Second
	// lineCost is what a log entry has besides its text.
	lineCost = 100
)

// output turns what a plugin writes into log entries. It is for many
// goroutines.
type output struct {
	log *slog.Logger

	mu      sync.Mutex
	last    []string
	final   string      // the present process's last line
	death   string      // the line with which it began to die
	died    time.Time   // when it wrote that
	trace   int         // lines kept after that
	since   time.Time   // when the window began
	spent   int         // bytes logged in it
	dropped int         // lines left out of it
	telling *time.Timer // tells of them at the window's end; nil if there are none
}

// begin says that the lines of another process follow.
func (o *output) begin() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.final, o.death, o.trace = "", "", 0
}

// end says that no process follows.
func (o *output) end() {
	o.mu.Lock()
	if o.telling != nil {
		o.telling.Stop()
	}
	o.mu.Unlock()
	o.windowEnds()
}

// line takes one line. On standard error, hclog's JSON form carries a level and
// a message; everything else is text. No field's type is taken for granted.
func (o *output) line(stderr bool, text string) {
	level, message := slog.LevelDebug, text
	var attrs []slog.Attr
	if stderr {
		var fields map[string]any
		err := json.Unmarshal([]byte(text), &fields)
		if m, ok := fields["@message"].(string); ok && err == nil {
			message = m
			level = levelOf(fields["@level"])
			attrs = attributes(fields)
		} else if m := levelField.FindStringSubmatch(text); m != nil && err != nil { // a long line, cut
			level = levelOf(m[1])
		}
	}
	death := stderr && isDeath(text)
	if death {
		level = slog.LevelError
	}
	o.keep(readable(message, attrs), death)
	if ctx := context.Background(); o.log.Enabled(ctx, level) && o.afford(len(text)+lineCost) {
		o.log.LogAttrs(ctx, level, message, attrs...)
	}
}

// readable is a line as status shows it.
func readable(message string, attrs []slog.Attr) string {
	words := []string{message}
	for _, a := range attrs {
		words = append(words, a.String())
	}
	return strings.Join(words, " ")
}

// levelField finds the level at the beginning of what is no whole JSON.
var levelField = regexp.MustCompile(`^\{.{0,100}"@level":"(\w{1,10})"`)

// isDeath reports whether a Go program dies with this line. The trace that
// follows says less.
func isDeath(line string) bool {
	return strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ")
}

// keep adds to the last lines. Of what follows a death only the beginning is
// kept: with the whole trace nobody would see why.
func (o *output) keep(text string, death bool) {
	if len(text) > keptBytes {
		text = strings.ToValidUTF8(text[:keptBytes], "")
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.final = text
	if o.death != "" && time.Since(o.died) > traceTime {
		o.death, o.trace = "", 0
	}
	switch {
	case o.death != "" && o.trace == keptTrace:
		return
	case o.death != "":
		o.trace++
	case death:
		o.death, o.died = text, time.Now()
	}
	if len(o.last) == keptLines {
		o.last = slices.Delete(o.last, 0, 1)
	}
	o.last = append(o.last, text)
}

// afford reports whether a line of n bytes may be logged.
func (o *output) afford(n int) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := time.Now()
	if o.telling == nil && now.Sub(o.since) >= logWindow {
		o.since, o.spent = now, 0
	}
	if o.spent+n <= logBytes {
		o.spent += n
		return true
	}
	if o.dropped++; o.telling == nil {
		o.telling = time.AfterFunc(o.since.Add(logWindow).Sub(now), o.windowEnds)
	}
	return false
}

func (o *output) windowEnds() {
	o.mu.Lock()
	dropped := o.dropped
	o.since, o.spent, o.dropped, o.telling = time.Now(), 0, 0, nil
	o.mu.Unlock()
	if dropped == 0 {
		return // told already
	}
	o.log.Warn("plugin writes too much: lines dropped", "lines", dropped, "limit", "64 KiB in "+logWindow.String())
}

func levelOf(v any) slog.Level {
	s, _ := v.(string)
	switch s {
	case "info":
		return slog.LevelInfo
	case "warn":
		return slog.LevelWarn
	case "error":
		return slog.LevelError
	}
	return slog.LevelDebug
}

// attributes are a line's further fields, in a stable order.
func attributes(fields map[string]any) []slog.Attr {
	var keys []string
	for k := range fields {
		switch k {
		case "@message", "@level", "@timestamp", "@module", "@caller":
		default:
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	attrs := make([]slog.Attr, len(keys))
	for i, k := range keys {
		attrs[i] = slog.Any(k, fields[k])
	}
	return attrs
}

// tail is the last lines.
func (o *output) tail() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.last)
}

// word is the line that says best why the present process ended: that with which
// it began to die, else its last. "" if it wrote none.
func (o *output) word() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return cmp.Or(o.death, o.final)
}
