package driver_test

import (
	"testing"

	"spillway/plugin/failover/driver"
	"spillway/sdk"
	"spillway/sdk/plugintest"
)

func TestConformance(t *testing.T) {
	plugintest.Conformance(t, plugintest.ConformanceOptions{
		New:       func() sdk.Plugin { return driver.New() },
		Config:    threeVendors,
		BadConfig: `{"cooldownMs": 2000, "maxCooldownMs": 1000}`, // which no schema can say
		// What a rule says: the settings that it is made of.
		OtherConfig: `{"priority": ["kimi-coding/k3", "anthropic/claude-sonnet-5"], "stream": "resume", "budget": {"idleMs": 7000}}`,
		Catalogue:   catalogue,
	})
}
