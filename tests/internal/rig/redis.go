package rig

import (
	"fmt"
	"testing"

	"spillway/host/state/statetest"
)

// Redis starts a redis-server and returns it with the row of a profile that
// shares its state there with every other profile that has the row.
func Redis(t *testing.T) (server *statetest.Redis, row string) {
	t.Helper()
	server = statetest.NewRedis(t)
	return server, fmt.Sprintf("- id: state\n  name: state-redis\n  config: {url: %q, prefix: spillway:rig}\n", server.URL(""))
}
