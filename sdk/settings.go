package sdk

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
)

// Live holds settings that change while a plugin runs. Readers take a snapshot
// with Load and keep it for the whole of a call. The zero value holds nothing
// until Store.
type Live[T any] struct{ p atomic.Pointer[T] }

// Load returns the present settings, shared: do not modify them. It returns
// nil before the first Store.
func (l *Live[T]) Load() *T { return l.p.Load() }

// Store replaces the settings.
func (l *Live[T]) Store(v *T) { l.p.Store(v) }

// Decode reads a configuration into v strictly: a key that v has no field for
// is an error. Fields that the configuration does not name keep their values,
// so v starts out as the defaults.
func (c Config) Decode(v any) error {
	if len(c.JSON) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(c.JSON))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		if te, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return Faults{{Path: te.Field, Message: fmt.Sprintf("got %s, want %s", te.Value, te.Type)}}
		}
		message := strings.TrimPrefix(err.Error(), "json: ")
		if name, ok := strings.CutPrefix(message, "unknown field "); ok {
			return Faults{{Path: strings.Trim(name, `"`), Message: "unknown setting"}}
		}
		return Faults{{Message: message}}
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Faults{{Message: "text after the configuration"}}
	}
	return nil
}

// Fault is one thing wrong with a configuration.
type Fault struct {
	Path    string `json:"path"`              // of the setting: "priority[1].provider", "" for the whole
	Value   string `json:"value,omitempty"`   // what stands there
	Message string `json:"message"`           // what is wrong
	Allowed string `json:"allowed,omitempty"` // what would be right
}

// Faults is every fault of a configuration, as an error.
type Faults []Fault

// Error gives one fault a line.
func (fs Faults) Error() string {
	lines := make([]string, len(fs))
	for i, f := range fs {
		lines[i] = f.String()
	}
	return strings.Join(lines, "\n")
}

func (f Fault) String() string {
	var b strings.Builder
	if f.Path != "" {
		b.WriteString(f.Path + ": ")
	}
	b.WriteString(f.Message)
	if f.Value != "" {
		fmt.Fprintf(&b, ", got %s", f.Value)
	}
	if f.Allowed != "" {
		fmt.Fprintf(&b, " (allowed: %s)", f.Allowed)
	}
	return b.String()
}
