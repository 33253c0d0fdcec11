package brain

import (
	"fmt"
	"strings"

	"spillway/sdk"
)

// Target is what a circuit speaks for: a route, a vendor, or a key of a vendor
// (with a model: the key's use of that model). It is comparable.
type Target struct {
	Scope    sdk.Scope
	Provider string
	Model    string
	Key      string // fingerprint
}

func routeTarget(r sdk.Route) Target {
	return Target{Scope: sdk.ScopeRoute, Provider: r.Provider, Model: r.Model}
}

func vendorTarget(provider string) Target {
	return Target{Scope: sdk.ScopeVendor, Provider: provider}
}

func keyTarget(provider, key string) Target {
	return Target{Scope: sdk.ScopeKey, Provider: provider, Key: key}
}

// limitTarget is the use of one model by one key, the unit of rate limits.
func limitTarget(r sdk.Route, key string) Target {
	return Target{Scope: sdk.ScopeKey, Provider: r.Provider, Model: r.Model, Key: key}
}

// String gives "vendor", "vendor/model", "vendor#key" or "vendor#key/model".
// It serves people and, since no provider or fingerprint holds "/" or "#", as
// the target's key in the store.
func (t Target) String() string {
	s := t.Provider
	if t.Scope == sdk.ScopeKey {
		s += "#" + t.Key
	}
	if t.Model != "" || t.Scope == sdk.ScopeRoute {
		s += "/" + t.Model
	}
	return s
}

// covers reports whether what is said of t is said of u too: a vendor covers its
// routes and keys, a key its limits.
func (t Target) covers(u Target) bool {
	switch t.Scope {
	case sdk.ScopeVendor:
		return t.Provider == u.Provider
	case sdk.ScopeKey:
		return t.Provider == u.Provider && t.Key == u.Key && (t.Model == "" || t.Model == u.Model)
	case sdk.ScopeRoute:
		return t.Provider == u.Provider && t.Model == u.Model
	case sdk.ScopeNone:
	}
	return false
}

// ParseTarget reads what String gave. A model may hold any character.
func ParseTarget(s string) (Target, error) {
	owner, model, hasModel := strings.Cut(s, "/")
	provider, key, hasKey := strings.Cut(owner, "#")
	t := Target{Scope: sdk.ScopeVendor, Provider: provider, Model: model, Key: key}
	switch {
	case provider == "" || hasKey && key == "" || hasKey && hasModel && model == "":
		return Target{}, fmt.Errorf("target %q: want provider, provider/model, provider#key or provider#key/model", s)
	case hasKey:
		t.Scope = sdk.ScopeKey
	case hasModel:
		t.Scope = sdk.ScopeRoute
	}
	return t, nil
}
