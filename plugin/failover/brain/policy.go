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

	// FatalCodes trip at once and TransientCodes count, whatever the code's own
	// class. See Faults for what is ignored.
	FatalCodes     []sdk.Code
	TransientCodes []sdk.Code

	FailureThreshold  int           // consecutive transient failures that trip a route
	Cooldown          time.Duration // first one of a deterministic trip
	MaxCooldown       time.Duration // the longest
	TransientCooldown time.Duration // first one of a transient trip; from Cooldown upwards both trips are alike

	// The budget of one request.
	MaxRoutes     int // different routes
	MaxAttempts   int // all attempts together
	MaxPerVendor  int // attempts that reach one vendor
	MaxSameTarget int // attempts on one route, the first included; 1 means to move on at once

	BackoffBase time.Duration // before a second attempt on the same route, with full jitter
	BackoffCap  time.Duration
	WaitUpTo    time.Duration // the longest stated wait that is preferred to a switch; negative: none
}

// Chain is the list for one head, or for all heads of a provider when For has
// no model.
type Chain struct {
	For    sdk.Route
	Routes []sdk.Route
}

// DefaultPolicy is the policy of a user who has decided nothing.
func DefaultPolicy() Policy { return Policy{}.withDefaults() }

func (p Policy) withDefaults() Policy {
	orInt := func(n *int, def int) {
		if *n <= 0 {
			*n = def
		}
	}
	orTime := func(d *time.Duration, def time.Duration) {
		if *d == 0 {
			*d = def
		}
	}
	orInt(&p.FailureThreshold, 2)
	orTime(&p.Cooldown, 5*time.Minute)
	orTime(&p.MaxCooldown, time.Hour)
	orTime(&p.TransientCooldown, 5*time.Second)
	orInt(&p.MaxRoutes, 4)
	orInt(&p.MaxAttempts, 12)
	orInt(&p.MaxPerVendor, 6)
	orInt(&p.MaxSameTarget, 2)
	orTime(&p.BackoffBase, 250*time.Millisecond)
	orTime(&p.BackoffCap, 4*time.Second)
	orTime(&p.WaitUpTo, 5*time.Second)
	return p
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
// one, and what is always deterministic stays that.
func (p *Policy) class(c sdk.Code) sdk.Class {
	own := c.Class()
	switch {
	case !vendorsFault(own):
		return own
	case c == sdk.CodeQuota || c == sdk.CodeAuth || c == sdk.CodeInvalidCredential:
		return sdk.ClassDeterministic
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
