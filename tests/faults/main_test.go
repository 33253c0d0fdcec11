package faults

import (
	"flag"
	"os"
	"testing"

	"spillway/tests/internal/rig"
)

func TestMain(m *testing.M) {
	// Scenarios wait most of the time.
	if err := flag.Set("test.parallel", "6"); err != nil {
		panic(err)
	}
	code := m.Run()
	rig.Remove()
	os.Exit(code)
}
