package driver

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"spillway/plugin/failover/brain"
	"spillway/plugin/failover/classify"
	"spillway/sdk"
)

// schema describes the configuration to hosts and editors.
//
//go:embed schema.json
var schema []byte

// file is the configuration as users write it. Names and units are the
// original plugin's.
type file struct {
	Priority       []route    `json:"priority"`
	Chains         []chain    `json:"chains"`
	FatalCodes     []sdk.Code `json:"fatalCodes"`
	TransientCodes []sdk.Code `json:"transientCodes"`
	Patterns       []string   `json:"patterns"`

	FailureThreshold    int   `json:"failureThreshold"`
	CooldownMS          int64 `json:"cooldownMs"`
	MaxCooldownMS       int64 `json:"maxCooldownMs"`
	TransientCooldownMS int64 `json:"transientCooldownMs"`

	Probe  probe  `json:"probe"`
	Budget budget `json:"budget"`
}

type chain struct {
	Provider string  `json:"provider"`
	Model    string  `json:"model"`
	Routes   []route `json:"routes"`
}

type probe struct {
	Enabled    bool  `json:"enabled"`
	IntervalMS int64 `json:"intervalMs"`
}

type budget struct {
	MaxRoutes      int   `json:"maxRoutes"`
	MaxAttempts    int   `json:"maxAttempts"`
	MaxSameTarget  int   `json:"maxSameTargetAttempts"`
	WaitUpToMS     int64 `json:"waitUpToMs"`
	FirstContentMS int64 `json:"firstContentMs"` // 0: by the size of the prompt
	IdleMS         int64 `json:"idleMs"`
}

// route reads {provider, model?} and the short form provider/model.
type route sdk.Route

func (r *route) UnmarshalJSON(b []byte) error {
	var short string
	if json.Unmarshal(b, &short) == nil {
		r.Provider, r.Model, _ = strings.Cut(short, "/")
		return nil
	}
	var long struct {
		Provider string `json:"provider"`
		Model    string `json:"model"`
	}
	if err := json.Unmarshal(b, &long); err != nil {
		return fmt.Errorf("route: want provider/model or {provider, model}, got %s", b)
	}
	*r = route(long)
	return nil
}

func routes(in []route) []sdk.Route {
	out := make([]sdk.Route, len(in))
	for i, r := range in {
		out[i] = sdk.Route(r)
	}
	return out
}

// settings are one configuration, ready for use and immutable.
type settings struct {
	policy       brain.Policy
	classifier   *classify.Classifier
	probeEvery   time.Duration // 0: never
	firstContent time.Duration // 0: by the size of the prompt
	idle         time.Duration // 0: the host's default
}

func ms(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

const defaultProbeMS = 600_000

// read turns a configuration into settings. Faults refuse it; warnings do not.
func read(c sdk.Config) (s *settings, warnings []sdk.Fault, err error) {
	f := file{Probe: probe{IntervalMS: defaultProbeMS}}
	if err := c.Decode(&f); err != nil {
		return nil, nil, err
	}
	if faults := f.faults(); len(faults) > 0 {
		return nil, nil, faults
	}
	p := brain.DefaultPolicy()
	p.Priority = routes(f.Priority)
	for _, ch := range f.Chains {
		p.Chains = append(p.Chains, brain.Chain{For: sdk.Route{Provider: ch.Provider, Model: ch.Model}, Routes: routes(ch.Routes)})
	}
	p.FatalCodes, p.TransientCodes = f.FatalCodes, f.TransientCodes
	setInt(&p.FailureThreshold, f.FailureThreshold)
	setMS(&p.Cooldown, f.CooldownMS)
	setMS(&p.MaxCooldown, f.MaxCooldownMS)
	setMS(&p.TransientCooldown, f.TransientCooldownMS)
	setInt(&p.MaxRoutes, f.Budget.MaxRoutes)
	setInt(&p.MaxAttempts, f.Budget.MaxAttempts)
	setInt(&p.MaxSameTarget, f.Budget.MaxSameTarget)
	setMS(&p.WaitUpTo, f.Budget.WaitUpToMS)

	s = &settings{policy: p, firstContent: ms(f.Budget.FirstContentMS), idle: ms(f.Budget.IdleMS)}
	if f.Probe.Enabled {
		s.probeEvery = ms(f.Probe.IntervalMS)
	}
	s.classifier, warnings = classify.New(f.Patterns)
	return s, append(warnings, p.Faults()...), nil
}

func setInt(dst *int, v int) {
	if v != 0 {
		*dst = v
	}
}

func setMS(dst *time.Duration, v int64) {
	if v != 0 {
		*dst = ms(v)
	}
}

// faults is what the schema cannot say.
func (f file) faults() (faults sdk.Faults) {
	check := func(path string, rs []route) {
		for i, r := range rs {
			if r.Provider == "" {
				faults = append(faults, sdk.Fault{Path: fmt.Sprintf("%s[%d]", path, i), Message: "no provider named", Allowed: "provider/model or {provider, model}"})
			}
		}
	}
	check("priority", f.Priority)
	for i, c := range f.Chains {
		if c.Provider == "" {
			faults = append(faults, sdk.Fault{Path: fmt.Sprintf("chains[%d].provider", i), Message: "missing"})
		}
		check(fmt.Sprintf("chains[%d].routes", i), c.Routes)
	}
	least := func(path string, v, min int64, unit string) {
		if v < min && v != 0 {
			faults = append(faults, sdk.Fault{Path: path, Value: fmt.Sprint(v), Message: "too small", Allowed: fmt.Sprintf("%d %s or more", min, unit)})
		}
	}
	least("failureThreshold", int64(f.FailureThreshold), 1, "failures")
	least("cooldownMs", f.CooldownMS, 1, "ms")
	least("maxCooldownMs", f.MaxCooldownMS, 1, "ms")
	least("transientCooldownMs", f.TransientCooldownMS, 1, "ms")
	least("probe.intervalMs", f.Probe.IntervalMS, 1000, "ms")
	if f.CooldownMS > 0 && f.MaxCooldownMS > 0 && f.MaxCooldownMS < f.CooldownMS {
		faults = append(faults, sdk.Fault{Path: "maxCooldownMs", Value: fmt.Sprint(f.MaxCooldownMS), Message: "smaller than cooldownMs", Allowed: fmt.Sprintf("%d or more", f.CooldownMS)})
	}
	return faults
}

// limits are how long an attempt may take. The numbers for the first content
// are those of a vendor that is busy, not dead: ten seconds, and a second for
// each 8 000 tokens of the prompt; reasoning takes four times that. An answer
// that is not streamed shows nothing until it is whole, and gets a second for
// each 20 tokens it may have.
func (s *settings) limits(r sdk.Request) sdk.Limits {
	first := s.firstContent
	if first == 0 {
		first = 10*time.Second + time.Duration(r.Shape.PromptTokens)*time.Second/8000
		if r.Shape.Reasoning {
			first *= 4
		}
	}
	if !r.Stream && s.firstContent == 0 {
		tokens := r.MaxTokens
		if tokens == 0 {
			tokens = assumedOutput
		}
		first = max(first+time.Duration(tokens)*time.Second/20, time.Minute)
		first = min(first, maxWholeAnswer)
	}
	return sdk.Limits{FirstContent: first, Idle: s.idle}
}

const (
	assumedOutput  = 4096 // tokens of an answer whose length the caller does not limit
	maxWholeAnswer = 10 * time.Minute
)
