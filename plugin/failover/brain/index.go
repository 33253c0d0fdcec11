package brain

import "spillway/sdk"

// vendor holds the circuits of one provider by the names that a request has at
// hand. Most providers have none: nothing has ever been said against them.
type vendor struct {
	own    *circuit
	routes map[string]*circuit // by model
	keys   map[string]*circuit // by fingerprint
	limits map[use]*circuit
}

// use is one key's use of one model.
type use struct{ key, model string }

// key and limit are circuits of v, nil for what is healthy. They may be called on
// a nil vendor.
func (v *vendor) key(key string) *circuit {
	if v == nil {
		return nil
	}
	return v.keys[key]
}

func (v *vendor) limit(key, model string) *circuit {
	if v == nil {
		return nil
	}
	return v.limits[use{key, model}]
}

// get is the circuit of t, nil if it has none.
func (b *Brain) get(t Target) *circuit {
	v := b.vendors[t.Provider]
	switch {
	case v == nil:
		return nil
	case t.Scope == sdk.ScopeVendor:
		return v.own
	case t.Scope == sdk.ScopeRoute:
		return v.routes[t.Model]
	case t.Model == "":
		return v.keys[t.Key]
	}
	return v.limits[use{t.Key, t.Model}]
}

// put makes c the circuit of its target.
func (b *Brain) put(c *circuit) {
	t := c.target
	v := b.vendors[t.Provider]
	if v == nil {
		v = &vendor{routes: map[string]*circuit{}, keys: map[string]*circuit{}, limits: map[use]*circuit{}}
		b.vendors[t.Provider] = v
	}
	switch {
	case t.Scope == sdk.ScopeVendor:
		v.own = c
	case t.Scope == sdk.ScopeRoute:
		v.routes[t.Model] = c
	case t.Model == "":
		v.keys[t.Key] = c
	default:
		v.limits[use{t.Key, t.Model}] = c
	}
}

// drop forgets the circuit of t.
func (b *Brain) drop(t Target) {
	v := b.vendors[t.Provider]
	switch {
	case t.Scope == sdk.ScopeVendor:
		v.own = nil
	case t.Scope == sdk.ScopeRoute:
		delete(v.routes, t.Model)
	case t.Model == "":
		delete(v.keys, t.Key)
	default:
		delete(v.limits, use{t.Key, t.Model})
	}
	if v.own == nil && len(v.routes)+len(v.keys)+len(v.limits) == 0 {
		delete(b.vendors, t.Provider)
	}
}
