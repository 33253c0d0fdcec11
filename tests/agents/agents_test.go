package agents

import (
	"os"
	"testing"

	"spillway/tests/internal/rig"
)

func TestMain(m *testing.M) {
	code := m.Run()
	rig.Remove()
	os.Exit(code)
}

func TestAgents(t *testing.T) {
	installed := install(t)
	names := isolate(t)
	if names == nil {
		return // all of it ran in the namespace
	}
	t.Cleanup(func() {
		if asked := names.close(); asked != nil {
			t.Errorf("names that agents looked up: %q", asked)
		}
	})
	for _, a := range agents {
		for _, sc := range scenarios {
			t.Run(a.name+"/"+sc.name, func(t *testing.T) {
				t.Parallel()
				sc.run(t, a, installed)
			})
		}
	}
}

// install installs the agents and returns the folder with their packages.
func install(t *testing.T) string {
	t.Helper()
	return rig.NodeModules(t, "npm")
}
