package driver

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
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
	Priority           []route `json:"priority"`
	Chains             []chain `json:"chains"`
	Canary             canary  `json:"canary"`
	CrossModelFallback *bool   `json:"crossModelFallback"`

	FatalCodes     []sdk.Code `json:"fatalCodes"`
	TransientCodes []sdk.Code `json:"transientCodes"`
	Patterns       []string   `json:"patterns"`

	FailureThreshold    int   `json:"failureThreshold"`
	CooldownMS          int64 `json:"cooldownMs"`
	MaxCooldownMS       int64 `json:"maxCooldownMs"`
	TransientCooldownMS int64 `json:"transientCooldownMs"`

	Keys  cooldowns `json:"keys"`
	Halts halts     `json:"halts"`

	Probe     probe               `json:"probe"`
	Budget    budget              `json:"budget"`
	Budgets   map[string]budget   `json:"budgets"`
	Contracts map[string]contract `json:"contracts"`
	Visible   []string            `json:"visible"`
	Stream    string              `json:"stream"`
}

type chain struct {
	Provider string  `json:"provider"`
	Model    string  `json:"model"`
	Routes   []route `json:"routes"`
	Budget   string  `json:"budget"`
}

type canary struct {
	Share    float64 `json:"share"`
	Priority []route `json:"priority"`
	Chains   []chain `json:"chains"`
}

type cooldowns struct {
	CooldownMS    int64 `json:"cooldownMs"`
	MaxCooldownMS int64 `json:"maxCooldownMs"`
}

type halts struct {
	cooldowns
	RateMS int64 `json:"rateMs"`
}

type contract struct {
	Version            int      `json:"version"`
	Needs              []string `json:"needs"`
	Context            int      `json:"context"`
	MaxOutput          int      `json:"maxOutput"`
	Egress             []string `json:"egress"`
	CrossModelFallback *bool    `json:"crossModelFallback"`
	Gates              *gates   `json:"gates"`
}

type gates struct {
	Eval        string  `json:"eval"`
	TaskSuccess float64 `json:"taskSuccess"`
	SchemaValid float64 `json:"schemaValid"`
}

type probe struct {
	Enabled    bool  `json:"enabled"`
	IntervalMS int64 `json:"intervalMs"`
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
	policy     brain.Policy
	classifier *classify.Classifier
	probeEvery time.Duration // 0: never
	visible    sdk.Visible   // 0: the request's own
	stream     string        // policy of streams, for requests that name none
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
	p := brain.Policy{
		Priority: routes(f.Priority), Chains: chains(f.Chains),
		Canary:     brain.Canary{Share: f.Canary.Share, Priority: routes(f.Canary.Priority), Chains: chains(f.Canary.Chains)},
		SameModel:  denied(f.CrossModelFallback),
		FatalCodes: f.FatalCodes, TransientCodes: f.TransientCodes,
		FailureThreshold: f.FailureThreshold,
		Cooldown:         ms(f.CooldownMS), MaxCooldown: ms(f.MaxCooldownMS), TransientCooldown: ms(f.TransientCooldownMS),
		KeyCooldown: ms(f.Keys.CooldownMS), MaxKeyCooldown: ms(f.Keys.MaxCooldownMS),
		HaltCooldown: ms(f.Halts.CooldownMS), MaxHaltCooldown: ms(f.Halts.MaxCooldownMS), RateHalt: ms(f.Halts.RateMS),
		Budget: f.Budget.over(brain.Shipped()), Budgets: f.named(), Contracts: map[string]*brain.Contract{},
	}
	for name, c := range f.Contracts {
		p.Contracts[name] = &brain.Contract{
			Version: c.Version, Needs: c.Needs, Context: c.Context, MaxOutput: c.MaxOutput,
			Egress: c.Egress, SameModel: denied(c.CrossModelFallback), Gates: (*brain.Gates)(c.Gates),
		}
	}
	s = &settings{policy: p.WithDefaults(), stream: f.Stream}
	for _, kind := range f.Visible {
		s.visible |= visibleKinds[kind]
	}
	if f.Probe.Enabled {
		s.probeEvery = ms(f.Probe.IntervalMS)
	}
	s.classifier, warnings = classify.New(f.Patterns)
	return s, append(warnings, p.Faults()...), nil
}

// denied reports whether a switch that is on by default is off.
func denied(v *bool) bool { return v != nil && !*v }

func chains(in []chain) (out []brain.Chain) {
	for _, c := range in {
		out = append(out, brain.Chain{For: sdk.Route{Provider: c.Provider, Model: c.Model}, Routes: routes(c.Routes), Budget: c.Budget})
	}
	return out
}

// visibleKinds are the names of what may count as content.
var visibleKinds = map[string]sdk.Visible{
	"text": sdk.VisibleText, "reasoning": sdk.VisibleReasoning, "toolCall": sdk.VisibleToolCall,
}

// faults is what the schema cannot say.
func (f file) faults() (faults sdk.Faults) {
	list := func(path string, rs []route) {
		for i, r := range rs {
			if r.Provider == "" {
				faults = append(faults, sdk.Fault{Path: fmt.Sprintf("%s[%d]", path, i), Message: "no provider named", Allowed: "provider/model or {provider, model}"})
			}
		}
	}
	budgets := slices.Sorted(maps.Keys(brain.Policy{Budgets: f.named()}.WithDefaults().Budgets))
	lists := func(path string, priority []route, chains []chain) {
		list(path+"priority", priority)
		for i, c := range chains {
			at := fmt.Sprintf("%schains[%d]", path, i)
			if c.Provider == "" {
				faults = append(faults, sdk.Fault{Path: at + ".provider", Message: "missing"})
			}
			list(at+".routes", c.Routes)
			if c.Budget != "" && !slices.Contains(budgets, c.Budget) {
				faults = append(faults, sdk.Fault{Path: at + ".budget", Value: c.Budget, Message: "no such budget", Allowed: strings.Join(budgets, ", ")})
			}
		}
	}
	lists("", f.Priority, f.Chains)
	lists("canary.", f.Canary.Priority, f.Canary.Chains)
	order := func(path string, first, most int64) {
		if first > 0 && most > 0 && most < first {
			faults = append(faults, sdk.Fault{Path: path, Value: fmt.Sprint(most), Message: "smaller than the first cooldown", Allowed: fmt.Sprintf("%d or more", first)})
		}
	}
	order("maxCooldownMs", f.CooldownMS, f.MaxCooldownMS)
	order("keys.maxCooldownMs", f.Keys.CooldownMS, f.Keys.MaxCooldownMS)
	order("halts.maxCooldownMs", f.Halts.CooldownMS, f.Halts.MaxCooldownMS)
	return faults
}

// named are the budgets that the user has named.
func (f file) named() map[string]brain.Budget {
	m := map[string]brain.Budget{}
	for name, b := range f.Budgets {
		m[name] = b.over(brain.Shipped())
	}
	return m
}
