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
		Catalogue: catalogue,
	})
}
