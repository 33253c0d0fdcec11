package brain

import (
	"fmt"
	"slices"
	"time"

	"spillway/sdk"
)

// Policy is what the user may decide. It is a value: the brain keeps a copy and
// modifies nothing that it refers to, and neither may its maker afterwards. A
// zero number stands for its default, see DefaultPolicy.
type Policy struct {
	// Priority and Chains say who may serve when the head cannot. A route
	// without a model means that provider's first advertised model.
	Priority []sdk.Route
	Chains   []Chain
	Canary   Canary

	// SameModel leaves out other models than the head's.
	SameModel bool

	// FatalCodes trip at once and TransientCodes count against the route, whatever
	// the code's own class. See Faults for what is ignored.
	FatalCodes     []sdk.Code
	TransientCodes []sdk.Code

	FailureThreshold  int           // consecutive transient failures that trip a route
	Cooldown          time.Duration // first one of a deterministic trip
	MaxCooldown       time.Duration // the longest
	TransientCooldown time.Duration // first one of a transient trip; from Cooldown upwards both trips are alike
	KeyCooldown       time.Duration // first one of a key
	MaxKeyCooldown    time.Duration
	HaltCooldown      time.Duration // first halt of a vendor that wants money or cannot be reached
	MaxHaltCooldown   time.Duration
	RateHalt          time.Duration // halt of a model, or vendor, all of whose keys are limited; also a limit that states no time

	Budget    Budget               // of requests that name none
	Budgets   map[string]Budget    // by name
	Contracts map[string]*Contract // by name
}

// Chain is the list for one head, or for all heads of a provider when For has
// no model.
type Chain struct {
	For    sdk.Route
	Routes []sdk.Route
	Budget string // name of the budget of its requests, "" the request's own
}

// Canary lets a share of the requests use other lists: all requests of a
// conversation, or none.
type Canary struct {
	Share    float64 // of 1
	Priority []sdk.Route
	Chains   []Chain
}

// DefaultPolicy is the policy of a user who has decided nothing.
func DefaultPolicy() Policy { return Policy{}.WithDefaults() }

// WithDefaults is p with its zero numbers replaced.
func (p Policy) WithDefaults() Policy {
	def(&p.FailureThreshold, 2)
	def(&p.Cooldown, 5*time.Minute)
	def(&p.MaxCooldown, time.Hour)
	def(&p.TransientCooldown, 5*time.Second)
	def(&p.KeyCooldown, 30*time.Second)
	def(&p.MaxKeyCooldown, 15*time.Minute)
	def(&p.HaltCooldown, time.Minute)
	def(&p.MaxHaltCooldown, 5*time.Minute)
	def(&p.RateHalt, 30*time.Second)
	p.Budget = p.Budget.withDefaults()
	budgets := Shipped()
	for name, b := range p.Budgets {
		budgets[name] = b.withDefaults()
	}
	p.Budgets = budgets
	return p
}

// def gives a setting that is not set its default.
func def[T int | float64 | time.Duration](v *T, d T) {
	if *v == 0 {
		*v = d
	}
}

// Faults names the entries of FatalCodes and TransientCodes that are ignored:
// unknown codes, and codes that are no vendor's fault. They are warnings.
func (p Policy) Faults() []sdk.Fault {
	var faults []sdk.Fault
	check := func(path string, codes []sdk.Code) {
		for i, c := range codes {
			message := ""
			switch {
			case !c.Known():
				message = "unknown code, ignored"
			case !vendorsFault(c.Class()):
				message = "this code is never a vendor's fault, ignored"
			default:
				continue
			}
			faults = append(faults, sdk.Fault{
				Path: fmt.Sprintf("%s[%d]", path, i), Value: string(c), Message: message,
				Allowed: "codes of class deterministic or transient",
			})
		}
	}
	check("fatalCodes", p.FatalCodes)
	check("transientCodes", p.TransientCodes)
	return faults
}

// class is the class of c under this policy. A caller's or local fault stays
// one.
func (p *Policy) class(c sdk.Code) sdk.Class {
	own := c.Class()
	switch {
	case !vendorsFault(own):
		return own
	case slices.Contains(p.FatalCodes, c):
		return sdk.ClassDeterministic
	case slices.Contains(p.TransientCodes, c):
		return sdk.ClassTransient
	}
	return own
}

func vendorsFault(c sdk.Class) bool {
	return c == sdk.ClassDeterministic || c == sdk.ClassTransient
}
