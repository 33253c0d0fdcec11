package driver_test

import (
	"encoding/json"
	"testing"
	"time"

	"spillway/plugin/failover/driver"
	"spillway/sdk"
	"spillway/sdk/plugintest"
)

// FuzzConfigure: a configuration that the plugin takes is one that it works with;
// any other is refused with its faults.
func FuzzConfigure(f *testing.F) {
	f.Add(threeVendors)
	f.Add(`{"priority":["a"],"chains":[{"provider":"a","routes":["b/m"],"budget":"x"}],"budgets":{"x":{"maxRoutes":-1}}}`)
	f.Add(`{"patterns":["(","a+"],"cooldownMs":9223372036854775807,"failureThreshold":-5}`)
	f.Add(`{"canary":{"share":2,"priority":[{"provider":"b"}]},"contracts":{"c":{"needs":["x"],"gates":{"eval":"e"}}}}`)
	f.Add(`{"priority":null,"budget":{"like":"agent","firstContentMs":-1}} x`)
	f.Fuzz(func(t *testing.T, config string) {
		if !json.Valid([]byte(config)) {
			return // no frame has such a one
		}
		h, err := plugintest.Open(t, driver.New(), plugintest.Options{Config: config, Catalogue: catalogue})
		if err != nil {
			if err.Error() == "" {
				t.Error("refused without a word")
			}
			return
		}
		if text, failure := h.Ask(t.Context(), sdk.Request{Provider: "anthropic", Model: "claude"}); failure == nil && text != "ok" {
			t.Errorf("got %q", text)
		}
	})
}

// FuzzStored: whatever the store holds, whoever wrote it, the plugin starts and
// decides, and a call is answered or refused.
func FuzzStored(f *testing.F) {
	f.Add("circuit/anthropic", `{"v":1,"n":1,"t":1,"l":[{"n":1,"u":1772366700000},{"n":0,"u":0},{"n":0,"u":0}],"c":"QUOTA","s":1772366400000}`)
	f.Add("circuit/a#k/m", `{"v":18446744073709551615}`)
	f.Add("order/disable/anthropic", `{"verb":"disable","target":"anthropic","at":"2026-11-30T00:00:00Z"}`)
	f.Add("order/x", `{"verb":"pin","target":"kimi-coding/k3","until":"9999-01-01T00:00:00Z","note":"\u001b[2J"}`)
	f.Add("measured/x", `{"route":{"provider":"a"},"task_success":1e999}`)
	f.Add("circuit/", `null`)
	f.Fuzz(func(t *testing.T, key, data string) {
		state := plugintest.NewMemory()
		if _, err := state.Put(t.Context(), key, []byte(data), time.Hour); err != nil {
			return
		}
		h, err := plugintest.Open(t, driver.New(), plugintest.Options{Config: threeVendors, Catalogue: catalogue, State: state})
		if err != nil {
			t.Fatalf("does not start on %q: %v", key, err)
		}
		text, failure := h.Ask(t.Context(), sdk.Request{Provider: "anthropic", Model: "claude"})
		if failure == nil && text != "ok" || failure != nil && !failure.Code.Known() {
			t.Errorf("got %q, %v", text, failure)
		}
	})
}
