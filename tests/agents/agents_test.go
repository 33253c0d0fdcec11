package agents

import (
	"flag"
	"os"
	"testing"

	"spillway/tests/internal/rig"
)

var heavy = flag.Bool("agents.slow", false, "run the agents that are too heavy for every test run")

func TestMain(m *testing.M) {
	code := m.Run()
	rig.Remove()
	os.Exit(code)
}

func TestAgents(t *testing.T) {
	agents, folders := quick, []string{"npm"}
	if *heavy {
		agents, folders = slow, []string{"npm", "npm-slow", "npm-dsh"}
	}
	var installed []string
	for _, dir := range folders {
		installed = append(installed, rig.NodeModules(t, dir))
	}
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
