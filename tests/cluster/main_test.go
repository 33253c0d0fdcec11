package cluster

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
