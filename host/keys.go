package host

import (
	"cmp"
	"os"
	"slices"

	"spillway/host/profile"
	"spillway/host/provider"
	"spillway/profiles"
)

// KeySource is where a provider's keys come from.
type KeySource struct {
	Entry string `json:"entry"`
	// Variables of the environment that hold one.
	Variables []string `json:"variables,omitempty"`
	// Written is how many keys stand in the profile's files themselves.
	Written int `json:"written,omitempty"`
	// Missing are the variables of which one should hold a key; none does.
	Missing []string `json:"missing,omitempty"`
}

// KeySources tells where the providers of a profile have their keys from; no value is
// told. Simulated vendors, providers that need no key, and rows with faults are left
// out. The error is for a profile that cannot be read.
func KeySources(o Options) ([]KeySource, error) {
	if o.Env == nil {
		o.Env = os.LookupEnv
	}
	vendors, err := provider.ParseVendors(profiles.Vendors)
	if err != nil {
		return nil, err
	}
	p, err := profile.Load(o.Dir, profile.Options{Home: o.Home, Overlays: o.Overlays})
	if err != nil {
		return nil, err
	}
	asked := map[string]string{} // what the rows' variables hold
	entries, _ := p.Entries(func(name string) (string, bool) {
		v, ok := o.Env(name)
		asked[name] = v
		return v, ok
	})
	var all []KeySource
	for _, e := range entries {
		if kindOf(e.Name) != kindProvider || e.Name == moduleSim || e.Err != nil {
			continue
		}
		c, err := providerConfigOf(e)
		if err != nil {
			continue
		}
		s := KeySource{Entry: e.ID}
		vendor := vendors[cmp.Or(c.Vendor, e.ID)]
		if keys := c.allKeys(); len(keys) > 0 {
			s.Variables, s.Written = holders(keys, asked)
		} else if i := slices.IndexFunc(vendor.KeyEnv, func(name string) bool { v, _ := o.Env(name); return v != "" }); i >= 0 {
			s.Variables = vendor.KeyEnv[i : i+1]
		} else {
			s.Missing = missingKeys(e, vendor)
		}
		vendor.Auth = cmp.Or(c.Auth, vendor.Auth)
		if !vendor.Passthrough() && (s.Missing != nil || s.Variables != nil || s.Written > 0) {
			all = append(all, s)
		}
	}
	return all, nil
}

// missingKeys are the variables of which one should hold the key of an entry: the
// vendor's usual ones, in its order, then what else the row names.
func missingKeys(e profile.Entry, v provider.Vendor) []string {
	missing := slices.Clone(v.KeyEnv)
	for _, name := range e.Unset {
		if !slices.Contains(missing, name) {
			missing = append(missing, name)
		}
	}
	return missing
}

// holders are the variables that hold some of the keys, and how many keys none
// holds.
func holders(keys []profile.Secret, asked map[string]string) (names []string, written int) {
	for _, k := range keys {
		found := false
		for name, v := range asked {
			if v == k.Reveal() {
				names, found = append(names, name), true
			}
		}
		if !found {
			written++
		}
	}
	slices.Sort(names)
	return slices.Compact(names), written
}
