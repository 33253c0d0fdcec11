package host

import (
	"encoding/json"
	"slices"
	"testing"

	"spillway/host/supervisor"
	"spillway/sdk"
)

// TestRoute: what the names of models mean.
func TestRoute(t *testing.T) {
	g := &Graph{advertised: sdk.Catalogue{Providers: []sdk.Provider{
		{Name: "a", Models: []sdk.Model{{ID: "m"}, {ID: "b"}}},
		{Name: "b", Models: []sdk.Model{{ID: "n"}, {ID: "m"}}},
		{Name: "c", Models: []sdk.Model{{ID: "x/y"}}},
		{Name: "silent"},
	}}}
	for _, tt := range []struct {
		name     string
		priority []string
		want     string
	}{
		{"auto", nil, "a/m"},
		{"auto", []string{"gone/m", "silent", "b", "a"}, "b/n"},
		{"", []string{"b/m", "a"}, "b/m"},
		{"m", []string{"b"}, "a/m"},
		{"b/m", nil, "b/m"},
		{"b/unlisted", nil, "b/unlisted"},
		{"x/y", nil, "c/x/y"},
		{"c", nil, "c/x/y"},
		{"b", nil, "a/b"}, // a model of that name comes before the provider
	} {
		g.priority = tt.priority
		if got, err := g.route(tt.name, nil); err != nil || got.String() != tt.want {
			t.Errorf("%q with priority %q: got %s, %v, want %s", tt.name, tt.priority, got, err, tt.want)
		}
	}
}

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
		units := []*unit{{config: json.RawMessage(`{"priority":["no plugin"]}`)}, {plugin: &supervisor.Plugin{}, config: []byte(tt.config)}}
		if got := priorityOf(units); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.config, got, tt.want)
		}
	}
}
