package faults

import (
	"flag"
	"os"
	"testing"

	"spillway/tests/internal/rig"
)

func TestMain(m *testing.M) {
	flag.Parse()
	parallel := "8" // scenarios wait most of the time
	if *scorecard {
		parallel = "16" // and in real time even more
	}
	if err := flag.Set("test.parallel", parallel); err != nil {
		panic(err)
	}
	code := m.Run()
	rig.Remove()
	if *scorecard {
		played.print(os.Stdout)
	}
	os.Exit(code)
}
