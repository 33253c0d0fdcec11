package host

import (
	"encoding/json"
	"slices"
	"testing"

	"spillway/host/supervisor"
)

func TestPriority(t *testing.T) {
	for _, tt := range []struct {
		config string
		want   []string
	}{
		{`{}`, nil},
		{`{"priority":["a","b/m/1","a"]}`, []string{"a", "b/m/1"}},
		{`{"priority":[{"provider":"a"},{"provider":"b","model":"m"},{"model":"m"},7]}`, []string{"a", "b/m"}},
		{`{"priority":"high"}`, nil}, // of another plugin
	} {
		g := &Graph{units: []*unit{{config: json.RawMessage(`{"priority":["no plugin"]}`)}, {plugin: &supervisor.Plugin{}, config: []byte(tt.config)}}}
		if got := g.Priority(); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.config, got, tt.want)
		}
	}
}
