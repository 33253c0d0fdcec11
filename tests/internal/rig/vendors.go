package rig

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"spillway/host/provider"
	"spillway/host/sim"
	"spillway/profiles"
)

// Vendors starts simulated vendors, named as in vendors.yml. They are strict and
// serve the models listed there, to nobody without their Key.
func Vendors(t *testing.T, vendors ...sim.Vendor) *sim.Server {
	t.Helper()
	known, err := provider.ParseVendors(profiles.Vendors)
	if err != nil {
		t.Fatal(err)
	}
	for i := range vendors {
		v := &vendors[i]
		v.Strict = true
		v.Keys = []string{Key(v.Name)}
		v.ReasoningHistory = known[v.Name].Quirks.ReasoningContent
		for _, m := range known[v.Name].Models {
			v.Models = append(v.Models, m.ID)
		}
	}
	s, err := sim.New(sim.Options{Vendors: vendors, KeepRequests: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if err := s.Start(context.Background(), "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	return s
}

// Key is the key of a vendor, as nothing else spells it.
func Key(vendor string) string { return "canary-of-" + vendor }

// Providers are a profile's rows for the vendors, with the environment that they
// need. The vendors are spoken to in the dialects ("anthropic", "openai",
// "responses") by turns.
func Providers(s *sim.Server, dialects ...string) (rows string, env []string) {
	var b strings.Builder
	for i, v := range s.Vendors() {
		dialect := dialects[i%len(dialects)]
		name := strings.ToUpper(strings.ReplaceAll(v.Name(), "-", "_")) + "_CANARY"
		fmt.Fprintf(&b, "- id: %s\n  name: provider\n  config: {endpoints: {%s: %s/v1}, key: !env %s}\n", v.Name(), dialect, v.URL(), name)
		env = append(env, name+"="+Key(v.Name()))
	}
	return b.String(), env
}
