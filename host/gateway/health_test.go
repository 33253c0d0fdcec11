package gateway

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"spillway/host/state"
	"spillway/sdk"
)

// TestCircuits: a plugin's targets keep their names as far as the profile bounds
// them.
func TestCircuits(t *testing.T) {
	c := sdk.Catalogue{Providers: []sdk.Provider{{Name: "p", Models: []sdk.Model{{ID: "m"}, {ID: "org/m"}}}}}
	status := state.PluginStatus{Plugin: "failover", Status: sdk.Status{Targets: []sdk.TargetStatus{
		{Scope: sdk.ScopeVendor, Target: "p", State: sdk.CircuitClosed},
		{Scope: sdk.ScopeRoute, Target: "p/m", State: sdk.CircuitOpen},
		{Scope: sdk.ScopeRoute, Target: "p/org/m", State: sdk.CircuitHalfOpen},
		{Scope: sdk.ScopeRoute, Target: "p/made-up", State: sdk.CircuitOpen},
		{Scope: sdk.ScopeRoute, Target: "p/made-up-too", State: sdk.CircuitClosed},
		{Scope: sdk.ScopeKey, Target: "p#k_1", State: sdk.CircuitClosed},
		{Scope: sdk.ScopeKey, Target: "p#k_1/m", State: sdk.CircuitOpen},
	}}}
	want := map[[3]string]float64{
		{"failover", "vendor", "p"}:      0,
		{"failover", "route", "p/m"}:     2,
		{"failover", "route", "p/org/m"}: 1,
		{"failover", "route", "p/other"}: 2,
		{"failover", "key", "p#k_1"}:     0,
		{"failover", "key", "p#k_1/m"}:   2,
	}
	if diff := cmp.Diff(want, circuits(c, []state.PluginStatus{status})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
