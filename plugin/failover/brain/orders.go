package brain

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"spillway/sdk"
)

// policyPrefix marks an order about a policy in the place of a target.
const policyPrefix = "policy:"

// Policies that a person can switch off with VerbDisable.
const (
	PolicyFallback = "fallback" // other models
	PolicyFailover = "failover" // any other route than the chosen one
	PolicyRetry    = "retry"    // the same target again
	PolicyWait     = "wait"     // waiting for a limit to pass
	PolicyCanary   = "canary"   // the canary's lists
)

// Policies are all that can be switched off.
func Policies() []string {
	return []string{PolicyFallback, PolicyFailover, PolicyRetry, PolicyWait, PolicyCanary}
}

// order is a person's order in force.
type order struct {
	verb   sdk.Verb
	target Target // of a policy, Provider is its name and Scope is empty
	until  deadline
	always bool
}

func (o *order) over(now Instant) bool { return !o.always && o.until.over(now) }

// CheckOrder says what is wrong with an order.
func CheckOrder(o sdk.Order) error {
	if !slices.Contains(sdk.Verbs(), o.Verb) {
		return fmt.Errorf("verb %q (allowed: %v)", o.Verb, sdk.Verbs())
	}
	name, ok := strings.CutPrefix(o.Target, policyPrefix)
	if !ok {
		_, err := ParseTarget(o.Target)
		return err
	}
	if !slices.Contains(Policies(), name) {
		return fmt.Errorf("policy %q (allowed: %s)", name, strings.Join(Policies(), ", "))
	}
	if o.Verb != sdk.VerbDisable && o.Verb != sdk.VerbEnable {
		return fmt.Errorf("%s %s: a policy can be disabled and enabled only", o.Verb, o.Target)
	}
	return nil
}

// SetOrders replaces the orders that are in force: those with the verbs disable,
// drain and pin. Others, and ones that CheckOrder refuses, are left out.
func (b *Brain) SetOrders(now Instant, list []sdk.Order) {
	b.orders = b.orders[:0]
	for _, o := range list {
		if CheckOrder(o) != nil || o.Verb == sdk.VerbClear || o.Verb == sdk.VerbEnable {
			continue
		}
		x := order{verb: o.Verb, always: o.Until.IsZero()}
		if !x.always {
			x.until = stored(now, o.Until.UnixMilli(), 366*24*time.Hour)
		}
		if name, ok := strings.CutPrefix(o.Target, policyPrefix); ok {
			x.target.Provider = name
		} else {
			x.target, _ = ParseTarget(o.Target)
		}
		b.orders = append(b.orders, x)
	}
}

// Clear forgets what stands against a target and what it covers: whatever had
// begun to stand against it by the given moment.
func (b *Brain) Clear(now Instant, t Target, at time.Time) []sdk.Change {
	for _, c := range b.order {
		if t.covers(c.target) && c.since <= at.UnixMilli() {
			b.heal(now, c)
		}
	}
	return b.flush(now)
}

// off reports whether a person has switched a policy off.
func (b *Brain) off(now Instant, policy string) bool {
	for i := range b.orders {
		o := &b.orders[i]
		if o.target.Scope == "" && o.target.Provider == policy && !o.over(now) {
			return true
		}
	}
	return false
}

// forbidden is why a person does not want r used, with the given key if it is
// not empty; "" if nobody minds. A loop that goes on is one that r serves.
func (b *Brain) forbidden(now Instant, r sdk.Route, key string, goesOn bool) string {
	pinned, here := false, false
	for i := range b.orders {
		o := &b.orders[i]
		if o.target.Scope == "" || o.over(now) {
			continue
		}
		// About a key nothing is said until one is chosen.
		about := routeTarget(r)
		if o.target.Scope == sdk.ScopeKey {
			if about = limitTarget(r, key); key == "" && o.verb != sdk.VerbPin {
				continue
			} else if key == "" {
				about.Key = o.target.Key
			}
		}
		hit := o.target.covers(about)
		switch o.verb {
		case sdk.VerbPin:
			pinned, here = true, here || hit
		case sdk.VerbDisable:
			if hit {
				return "disabled"
			}
		case sdk.VerbDrain:
			if hit && !goesOn {
				return "draining"
			}
		case sdk.VerbClear, sdk.VerbEnable: // never in force
		}
	}
	if pinned && !here {
		return "not pinned"
	}
	return ""
}

// pins are the targets that everything is pinned to.
func (b *Brain) pins(now Instant) (list []Target) {
	for i := range b.orders {
		if o := &b.orders[i]; o.verb == sdk.VerbPin && !o.over(now) {
			list = append(list, o.target)
		}
	}
	return list
}
