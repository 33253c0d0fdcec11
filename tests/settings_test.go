package tests

import (
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spillway/host"
	"spillway/host/profile"
	"spillway/sdk"
	"spillway/tests/internal/rig"
)

// Settings are saved into the profile's patch and in force when the save returns.

const settingsPatch = `# mine
- id: failover # the failover plugin
  config:
    priority: # in this order
      - anthropic # the best
      - kimi-coding # the second
    failureThreshold: 3 # patient
`

// settled runs a profile with a patch, and further patch files.
func settled(t *testing.T, patch, home string, overlays ...string) *host.Runtime {
	t.Helper()
	s := vendors(t, 3, 0, map[string]string{"anthropic": "", "kimi-coding": "", "deepseek": ""})
	dir := rig.Profile(t, rows(s)+"- {id: failover, name: failover}\n- {id: gateway, name: gateway}\n")
	write := func(file, text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o := host.Options{Dir: dir, PluginDirs: []string{rig.Plugins(t)}, Log: slog.New(slog.DiscardHandler)}
	if patch != "" {
		write(filepath.Join(dir, profile.PatchFile), patch)
	}
	if home != "" {
		o.Home = t.TempDir()
		write(filepath.Join(o.Home, profile.PatchFile), home)
	}
	for _, text := range overlays {
		o.Overlays = append(o.Overlays, filepath.Join(t.TempDir(), "overlay.yml"))
		write(o.Overlays[len(o.Overlays)-1], text)
	}
	rt, err := host.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(rt.Close)
	return rt
}

func settingsOf(t *testing.T, rt *host.Runtime, id string) host.Settings {
	t.Helper()
	all, err := rt.Settings()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if s.ID == id {
			return s
		}
	}
	t.Fatalf("no settings of %q among %d", id, len(all))
	return host.Settings{}
}

func patchOf(t *testing.T, rt *host.Runtime) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(rt.Dir(), profile.PatchFile))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return string(b)
}

func set(path, value string) profile.Change {
	return profile.Change{Path: path, Value: json.RawMessage(value)}
}

func TestSettingsSaved(t *testing.T) {
	rt := settled(t, settingsPatch, "")
	s := settingsOf(t, rt, "failover")
	if got, want := string(s.Values), `{"priority":["anthropic","kimi-coding"],"failureThreshold":3}`; got != want {
		t.Errorf("values: got %s, want %s", got, want)
	}
	if at := s.Origins["failureThreshold"]; at.Layer != "profile patch" || at.Line != 7 {
		t.Errorf("failureThreshold comes from %+v", at)
	}
	if strings.Contains(string(s.Schema), `"patterns"`) || !strings.Contains(string(s.Schema), `"priority"`) {
		t.Errorf("the form's schema is not of the volatile fields: %s", s.Schema)
	}
	if g := settingsOf(t, rt, "gateway"); !strings.Contains(string(g.Schema), "keepAliveMs") || string(g.Values) != "{}" {
		t.Errorf("gateway: got %s, %s", g.Schema, g.Values)
	}
	before := rt.Graph().Plugins()
	saved, err := rt.SaveSettings(t.Context(), "failover", s.Revision, []profile.Change{
		set("priority", `["deepseek","anthropic"]`), set("cooldownMs", "60000"),
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `# mine
- id: failover # the failover plugin
  config:
    priority: # in this order
      - deepseek
      - anthropic # the best
    failureThreshold: 3 # patient
    cooldownMs: 60000
`
	if diff := cmp.Diff(want, patchOf(t, rt)); diff != "" {
		t.Errorf("patch (-want +got):\n%s", diff)
	}
	if saved.Pos.Line != 3 || filepath.Base(saved.Pos.File) != profile.PatchFile {
		t.Errorf("said to be at %s", saved.Pos)
	}
	if diff := cmp.Diff([]string{"deepseek", "anthropic"}, rt.Graph().Priority()); diff != "" {
		t.Errorf("priority in force (-want +got):\n%s", diff)
	}
	if now := rt.Graph().Plugins(); now[0].PID != before[0].PID {
		t.Error("the plugin was restarted for volatile fields")
	}
	if got := settingsOf(t, rt, "failover").Revision; got != saved.Revision || got == s.Revision {
		t.Errorf("revision %q, told %q, before %q", got, saved.Revision, s.Revision)
	}
	// Back to what is inherited: the row goes, its comment stays.
	if _, err := rt.SaveSettings(t.Context(), "failover", saved.Revision, []profile.Change{{Path: ""}}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("# mine\n# the failover plugin\n[]\n", patchOf(t, rt)); diff != "" {
		t.Errorf("patch (-want +got):\n%s", diff)
	}
}

func TestSettingsRefused(t *testing.T) {
	const inHome = "- id: failover\n  config: {failureThreshold: 9}\n"
	invalid := func(path string) func(error) bool {
		return func(err error) bool {
			e, ok := errors.AsType[*host.InvalidError](err)
			return ok && len(e.Faults) == 1 && e.Faults[0].Path == path
		}
	}
	overridden := func(layer string) func(error) bool {
		return func(err error) bool {
			e, ok := errors.AsType[*profile.OverriddenError](err)
			return ok && e.Pos.Layer == layer && e.Pos.Line == 2
		}
	}
	is := func(target error) func(error) bool { return func(err error) bool { return errors.Is(err, target) } }
	tests := []struct {
		name, id, home, overlay, revision string
		change                            profile.Change
		want                              func(error) bool
	}{
		{"too small for the schema", "failover", "", "", "", set("failureThreshold", "0"), invalid("failureThreshold")},
		{"wrong inside of a list", "failover", "", "", "", set("priority", `["anthropic",{"model":"m"}]`), invalid("priority[1].provider")},
		{"the plugin does not want it", "failover", "", "", "", set("priority", `["anthropic","/m"]`), invalid("priority[1]")},
		{"an index too far", "failover", "", "", "", set("priority[7]", `"a"`), invalid("priority[7]")},
		{"not volatile", "failover", "", "", "", set("patterns", `["x"]`), func(err error) bool {
			e, ok := errors.AsType[*profile.NotVolatileError](err)
			return ok && e.Path == "patterns"
		}},
		{"changed meanwhile", "failover", "", "", "older", set("failureThreshold", "4"), is(profile.ErrChanged)},
		{"the home patch decides", "failover", inHome, "", "", set("failureThreshold", "4"), overridden("home patch")},
		{"an overlay decides", "failover", "", inHome, "", set("failureThreshold", "4"), overridden("--patch")},
		{"no such entry", "nobody", "", "", "", set("failureThreshold", "4"), is(host.ErrNoSettings)},
		{"no volatile fields", "anthropic", "", "", "", set("key", `"k"`), is(host.ErrNoSettings)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var overlays []string
			if tt.overlay != "" {
				overlays = []string{tt.overlay}
			}
			rt := settled(t, settingsPatch, tt.home, overlays...)
			_, err := rt.SaveSettings(t.Context(), tt.id, tt.revision, []profile.Change{tt.change})
			if err == nil || !tt.want(err) {
				t.Errorf("got error %v", err)
			}
			if diff := cmp.Diff(settingsPatch, patchOf(t, rt)); diff != "" {
				t.Errorf("patch (-want +got):\n%s", diff)
			}
			for _, e := range rt.Graph().Entries() {
				if e.Error != "" {
					t.Errorf("%s: %s", e.ID, e.Error)
				}
			}
			if text, f, _ := ask(t.Context(), rt, sdk.Route{Provider: "anthropic", Model: "m"}); f != nil || text == "" {
				t.Errorf("afterwards a call gets %q, %v", text, f)
			}
		})
	}
}
