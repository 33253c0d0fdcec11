package supervisor

import (
	"strings"
	"testing"
	"time"

	"spillway/sdk"
)

func TestCheckManifest(t *testing.T) {
	const words = "(allowed: printable characters, at most 200 bytes)"
	tests := []struct {
		name   string
		change func(*sdk.Manifest)
		want   string // "" if it is fine
	}{
		{"plain", func(*sdk.Manifest) {}, ""},
		{"at the limits", func(m *sdk.Manifest) {
			m.Name, m.Version = strings.Repeat("n", maxName), ""
			m.Hook = sdk.HookSpec{MaxDepth: maxDepth, Models: make([]string, maxGlobs), OnDown: sdk.OnDownFail, Wait: maxWait, Decide: maxDecide}
		}, ""},
		{"no name", func(m *sdk.Manifest) { m.Name = "" }, `name: got "" ` + words},
		{"long name", func(m *sdk.Manifest) { m.Name = strings.Repeat("n", maxName+1) }, `name: got "` + strings.Repeat("n", 80) + `" ` + words},
		{"escape", func(m *sdk.Manifest) { m.Version = "\x1b[2J" }, `version: got "\x1b[2J" ` + words},
		{"on down", func(m *sdk.Manifest) { m.Hook.OnDown = "never" }, `hook.onDown: got "never" (allowed: bypass, wait, fail)`},
		{"wait below 0", func(m *sdk.Manifest) { m.Hook.Wait = -1 }, `hook.wait: got "-1ns" (allowed: 0 to 1m0s)`},
		{"long wait", func(m *sdk.Manifest) { m.Hook.Wait = time.Hour }, `hook.wait: got "1h0m0s" (allowed: 0 to 1m0s)`},
		{"long decision", func(m *sdk.Manifest) { m.Hook.Decide = time.Hour }, `hook.decide: got "1h0m0s" (allowed: 0 to 1m0s)`},
		{"depth", func(m *sdk.Manifest) { m.Hook.MaxDepth = maxDepth + 1 }, `hook.maxDepth: got "1001" (allowed: 0 to 1000)`},
		{"many globs", func(m *sdk.Manifest) { m.Hook.Models = make([]string, maxGlobs+1) }, `hook.models: got "101 globs" (allowed: at most 100)`},
		{"bad glob", func(m *sdk.Manifest) { m.Hook.Models = []string{"a/*", "["} }, `hook.models: got "[" (allowed: globs as path.Match has them, `},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := sdk.Manifest{Name: "n", Version: "1"}
			tt.change(&m)
			err := checkManifest(m)
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), "says nonsense in its manifest: "+tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}
