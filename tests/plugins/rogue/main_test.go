package main

import (
	"testing"

	"spillway/sdk"
	"spillway/sdk/plugintest"
)

// TestConformance: until it misbehaves it is a plugin like any other.
func TestConformance(t *testing.T) {
	plugintest.Conformance(t, plugintest.ConformanceOptions{New: func() sdk.Plugin { return &rogue{} }})
}
