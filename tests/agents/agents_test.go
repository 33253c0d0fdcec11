package agents

import (
	"flag"
	"os"
	"slices"
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
	var known []string
	t.Cleanup(func() {
		asked := names.close()
		t.Logf("names that agents looked up: %q", asked)
		if i := slices.IndexFunc(asked, func(name string) bool { return !slices.Contains(known, name) }); i >= 0 {
			t.Errorf("no agent is known to look up %q", asked[i])
		}
	})
	for _, a := range agents {
		known = append(known, a.names...)
		for _, sc := range scenarios {
			t.Run(a.name+"/"+sc.name, func(t *testing.T) {
				t.Parallel()
				sc.run(t, a, installed)
			})
		}
	}
}
