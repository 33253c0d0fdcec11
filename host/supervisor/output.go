package supervisor

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"sync"
)

// keptLines is how many of a plugin's last lines status shows.
const keptLines = 20

// output turns what a plugin writes into log entries. It is for many
// goroutines.
type output struct {
	log *slog.Logger

	mu   sync.Mutex
	last []string
}

// line takes one line. On standard error, hclog's JSON form carries a level and
// a message; everything else is text. No field's type is taken for granted.
func (o *output) line(stderr bool, text string) {
	o.mu.Lock()
	if len(o.last) == keptLines {
		o.last = slices.Delete(o.last, 0, 1)
	}
	o.last = append(o.last, text)
	o.mu.Unlock()

	level, message := slog.LevelDebug, text
	var attrs []slog.Attr
	if stderr {
		var fields map[string]any
		if json.Unmarshal([]byte(text), &fields) == nil {
			if m, ok := fields["@message"].(string); ok {
				message = m
				level = levelOf(fields["@level"])
				attrs = attributes(fields)
			}
		}
	}
	o.log.LogAttrs(context.Background(), level, message, attrs...)
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
