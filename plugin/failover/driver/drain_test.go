package driver_test

import (
	"strconv"
	"testing"

	"spillway/plugin/failover/driver"
	"spillway/sdk"
	"spillway/sdk/plugintest"
)

// TestDrainDuringAnEnd: the plugin is drained while the turns of calls that have
// their answers come to their ends, some of them probes with leases.
func TestDrainDuringAnEnd(t *testing.T) {
	for i := range 50 {
		t.Run(strconv.Itoa(i), func(t *testing.T) { // drained at its end
			state := plugintest.NewMemory()
			if _, err := state.Put(t.Context(), "circuit/anthropic", []byte(outFor), 0); err != nil {
				t.Fatal(err)
			}
			h := plugintest.Start(t, driver.New(), plugintest.Options{Config: threeVendors, Catalogue: catalogue, State: state})
			if text, f := h.Ask(t.Context(), sdk.Request{Provider: "anthropic", Model: "claude"}); text != "ok" {
				t.Errorf("got %q, %v", text, f)
			}
		})
	}
}

// outFor is a circuit whose cooldown is over: the next request tests it.
const outFor = `{"v":1,"n":1,"t":1,"l":[{"n":1,"u":1772366700000},{"n":0,"u":0},{"n":0,"u":0}],"c":"QUOTA","s":1772366400000}`
