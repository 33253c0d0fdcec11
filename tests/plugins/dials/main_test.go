package main

import (
	"testing"

	"spillway/sdk"
	"spillway/sdk/plugintest"
)

func TestConformance(t *testing.T) {
	plugintest.Conformance(t, plugintest.ConformanceOptions{New: func() sdk.Plugin { return &dials{} }})
}
