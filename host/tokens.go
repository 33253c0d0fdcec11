package host

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"spillway/host/llm"
	"spillway/sdk"
)

// CountTokens asks a route's vendor how long a Messages request's prompt is; see
// [spillway/host/provider.Set.CountTokens]. A route that a plugin holds to be
// out, or that a person keeps closed, is not asked.
func (r *Runtime) CountTokens(ctx context.Context, route sdk.Route, payload *llm.Payload) (*llm.Reply, error) {
	if why := r.closed(route, time.Now()); why != "" {
		return nil, fmt.Errorf("%s is %s", route, why)
	}
	return r.graph.Load().providers.CountTokens(ctx, route, payload)
}

// closed is why nothing may be sent to a route now, by the plugins' last reports,
// "" if nothing is known against it.
func (r *Runtime) closed(route sdk.Route, now time.Time) string {
	for _, s := range r.store.Reported() {
		for _, t := range s.Targets {
			if t.State == sdk.CircuitOpen && covers(t.Target, route) && (t.Until.IsZero() || t.Until.After(now)) {
				return "out"
			}
		}
		pinned := false
		for _, o := range s.Orders {
			switch {
			case !o.Until.IsZero() && !o.Until.After(now):
			case o.Verb == sdk.VerbPin:
				pinned = true
			case (o.Verb == sdk.VerbDisable || o.Verb == sdk.VerbDrain) && covers(o.Target, route):
				return "closed by order"
			}
		}
		if pinned && !slices.ContainsFunc(s.Orders, func(o sdk.Order) bool { return o.Verb == sdk.VerbPin && covers(o.Target, route) }) {
			return "not the one that is pinned"
		}
	}
	return ""
}

// covers reports whether what is said of a target, a vendor or a vendor/model, is
// said of a route.
func covers(target string, r sdk.Route) bool {
	provider, model, one := strings.Cut(target, "/")
	return provider == r.Provider && (!one || model == r.Model)
}
