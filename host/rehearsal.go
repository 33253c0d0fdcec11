package host

import (
	"context"
	"slices"
	"time"

	"spillway/host/llm"
	"spillway/host/profile"
	"spillway/host/provider"
	"spillway/sdk"
)

// Rehearsal runs a profile against vendors that are made up. Its entries, plugins,
// settings and lists are its own and run as in earnest, but:
//
//   - every provider is sent to whom StandIn names, with keys that StandIn makes
//     up; its own key need not be set, and its own address is never dialled;
//   - its headers are not sent, nor are spans, and no store is shared, since all of
//     these are for somebody outside;
//   - what is learned is kept in memory.
type Rehearsal struct {
	// StandIn returns where the one is that stands in for a provider, in each of
	// its dialects. It is called once for each provider as the profile starts.
	StandIn func(Role) (Stand, error)
	// Faster divides the limits on silence and the waits before an attempt; 0 is 1.
	Faster int
}

// Role is a provider that needs a stand-in.
type Role struct {
	Provider    string   // the entry's id
	Vendor      string   // in vendors.yml
	Models      []string // that it lists
	Keys        int      // how many it has, at least 1
	Credentials []string // what its clients' own begin with, if it is sent those and has no keys
}

// Stand is who stands in for a provider.
type Stand struct {
	URL  string           // base of each dialect's resources
	Keys []profile.Secret // none if the clients' own are sent
}

// standIn sends a provider's options elsewhere.
func (b *builder) standIn(module, id string, c providerConfig, o *provider.Options) error {
	dialects := []string{"anthropic", "openai", "responses"} // of a simulated vendor
	if module != moduleSim {
		if err := endpoints(module, c, o); err != nil {
			return err
		}
		dialects = dialects[:0:0]
		for name := range o.Vendor.Endpoints {
			dialects = append(dialects, name)
		}
	}
	role := Role{Provider: id, Vendor: c.Vendor, Keys: max(1, len(c.allKeys()))}
	for _, m := range o.Vendor.Models {
		role.Models = append(role.Models, m.ID)
	}
	if o.Vendor.Passthrough() {
		role.Credentials = o.Vendor.Credentials
	}
	stand, err := b.runtime.opts.Rehearsal.StandIn(role)
	if err != nil {
		return err
	}
	o.Vendor.Endpoints = map[string]string{}
	for _, name := range dialects {
		o.Vendor.Endpoints[name] = stand.URL
	}
	o.Keys, o.Headers = stand.Keys, nil
	return nil
}

// allKeys are the keys that a config names, those left out that are not set.
func (c providerConfig) allKeys() []profile.Secret {
	keys := c.Keys
	if c.Key != "" {
		keys = append([]profile.Secret{c.Key}, keys...)
	}
	return slices.DeleteFunc(keys, func(k profile.Secret) bool { return k == "" })
}

// hurried makes attempts whose limits and waits are cut.
type hurried struct {
	llm.Terminal
	by time.Duration
}

// Dispatch implements llm.Terminal.
func (h hurried) Dispatch(ctx context.Context, c *llm.Call, r sdk.Request, p *llm.Payload) sdk.Stream {
	d := &r.Dispatch
	d.Delay /= h.by
	d.Limits.FirstContent /= h.by
	d.Limits.Idle /= h.by
	return h.Terminal.Dispatch(ctx, c, r, p)
}
