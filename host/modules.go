package host

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"spillway/host/dialect"
	"spillway/host/profile"
	"spillway/host/provider"
	"spillway/host/sim"
)

// modules are the built-in ones.
//
//	provider            a vendor in all dialects it offers, the client's own first
//	provider-anthropic  … in the Messages dialect only
//	provider-openai     … in the Chat Completions dialect only
//	provider-responses  … in the Responses dialect only
//	provider-sim        a simulated vendor on loopback, failing as scripted
//
// and those of services.go, gatewayrow.go, telemetryrow.go, agentrow.go and
// toolsrow.go.
var (
	providerModules = []string{"provider", "provider-anthropic", "provider-openai", "provider-responses", moduleSim}
	modules         = slices.Concat(providerModules, []string{moduleAliases, moduleGateway, moduleTelemetry, moduleRedis, moduleAgent}, toolModules)
)

// moduleSim is the simulated vendor.
const moduleSim = "provider-sim"

// kindOf is what an entry of a module is.
func kindOf(module string) string {
	switch {
	case slices.Contains(providerModules, module):
		return kindProvider
	case module == moduleAliases:
		return kindAliases
	case module == moduleGateway:
		return kindGateway
	case module == moduleTelemetry:
		return kindTelemetry
	case module == moduleRedis:
		return kindStore
	case module == moduleAgent:
		return kindAgent
	case slices.Contains(toolModules, module):
		return kindTools
	}
	return kindPlugin
}

// builtinSchema is that of a built-in module's config.
func builtinSchema(module string) []byte {
	switch kindOf(module) {
	case kindAliases:
		return aliasesSchema
	case kindGateway:
		return gatewaySchema
	case kindTelemetry:
		return telemetrySchema
	case kindStore:
		return redisSchema
	case kindAgent:
		return agentSchema
	case kindTools:
		return toolSchema(module)
	}
	return providerSchema
}

//go:embed provider.schema.json
var providerSchema []byte

// providerConfig is the config of a provider's entry.
type providerConfig struct {
	Vendor      string            `json:"vendor"`
	BaseURL     string            `json:"base_url"`
	Endpoints   map[string]string `json:"endpoints"`
	Auth        string            `json:"auth"`
	Credentials []string          `json:"credentials"`
	Key         profile.Secret    `json:"key"`
	Keys        []profile.Secret  `json:"keys"`
	Headers     map[string]string `json:"headers"`
	Models      []providerModel   `json:"models"`
	Egress      string            `json:"egress"`
	ReadOnly    []string          `json:"read_only_tools"`
	Quirks      *dialect.Quirks   `json:"quirks"`
	Script      string            `json:"script"`
	Answer      string            `json:"answer"`
}

// providerModel reads {id, …} and the short form id.
type providerModel provider.Model

func (m *providerModel) UnmarshalJSON(b []byte) error {
	if json.Unmarshal(b, &m.ID) == nil {
		return nil
	}
	return json.Unmarshal(b, (*provider.Model)(m))
}

// provider makes the provider of an entry, and the simulated vendor behind it if
// it is one.
func (b *builder) provider(ctx context.Context, e profile.Entry) (*provider.Provider, *sim.Server, error) {
	if err := validate(e, providerSchema); err != nil {
		return nil, nil, err
	}
	raw, err := configJSON(e)
	if err != nil {
		return nil, nil, err
	}
	var c providerConfig
	if err := json.Unmarshal(raw, &c); err != nil {
		return nil, nil, err
	}
	if c.Vendor == "" {
		c.Vendor = e.ID
	}
	o := provider.Options{Name: e.ID, Vendor: b.vendors[c.Vendor], VendorName: c.Vendor, Headers: c.Headers, Seals: b.runtime.seals}
	if c.Auth != "" {
		o.Vendor.Auth = c.Auth
	}
	if c.Credentials != nil {
		o.Vendor.Credentials = c.Credentials
	}
	for name, v := range b.vendors {
		if name != c.Vendor {
			o.Foreign = append(o.Foreign, v.Credentials...)
		}
	}
	if c.Egress != "" {
		o.Vendor.Egress = c.Egress
	}
	if c.ReadOnly != nil {
		o.Vendor.ReadOnlyTools = c.ReadOnly
	}
	if c.Quirks != nil {
		o.Vendor.Quirks = *c.Quirks
	}
	if c.Models != nil {
		o.Vendor.Models = make([]provider.Model, len(c.Models))
		for i, m := range c.Models {
			o.Vendor.Models[i] = provider.Model(m)
		}
	}
	var s *sim.Server
	switch {
	case b.runtime.opts.Rehearsal != nil:
		err = b.standIn(e.Name, e.ID, c, &o)
	case e.Name == moduleSim:
		s, err = simulate(ctx, e.ID, c, &o)
	default:
		if err = endpoints(e.Name, c, &o); err == nil {
			o.Keys, err = b.keys(e, c, o.Vendor)
		}
	}
	if err != nil {
		return nil, nil, err
	}
	p, err := provider.New(o)
	if err != nil && s != nil {
		s.Close()
	}
	return p, s, err
}

// endpoints chooses the base URLs that the module and base_url leave.
func endpoints(module string, c providerConfig, o *provider.Options) error {
	only := strings.TrimPrefix(strings.TrimPrefix(module, "provider"), "-")
	if only == "" {
		if c.BaseURL != "" {
			return errors.New("base_url: its dialect must be said: write endpoints: {anthropic: URL, openai: URL, responses: URL}, or use provider-anthropic, provider-openai or provider-responses")
		}
		if c.Endpoints != nil {
			o.Vendor.Endpoints = c.Endpoints
		}
		return nil
	}
	if c.Endpoints != nil {
		return fmt.Errorf("endpoints: %s has one dialect: write base_url, or use provider", module)
	}
	base := c.BaseURL
	if base == "" {
		base = o.Vendor.Endpoints[only]
	}
	if base == "" {
		return fmt.Errorf("vendor %q has no %s endpoint that we know of: give base_url", c.Vendor, only)
	}
	o.Vendor.Endpoints = map[string]string{only: base}
	return nil
}

var errNoKey = errors.New("no key")

// keys are the configured ones, else those of the vendor's usual variables.
func (b *builder) keys(e profile.Entry, c providerConfig, v provider.Vendor) ([]profile.Secret, error) {
	if keys := c.allKeys(); len(keys) > 0 {
		return keys, nil
	}
	if v.Passthrough() {
		return nil, nil
	}
	for _, name := range v.KeyEnv {
		if k, ok := b.runtime.opts.Env(name); ok && k != "" {
			return []profile.Secret{profile.Secret(k)}, nil
		}
	}
	if missing := missingKeys(e, v); len(missing) > 0 {
		return nil, fmt.Errorf("%w: set %s", errNoKey, strings.Join(missing, " or "))
	}
	return nil, nil
}

// simulate starts a simulated vendor for an entry.
func simulate(ctx context.Context, id string, c providerConfig, o *provider.Options) (*sim.Server, error) {
	v := sim.Vendor{Name: id, Like: c.Vendor, Script: c.Script, Answer: sim.Answer{Text: c.Answer}}
	for _, m := range o.Vendor.Models {
		v.Models = append(v.Models, m.ID)
	}
	s, err := sim.New(sim.Options{Vendors: []sim.Vendor{v}})
	if err != nil {
		return nil, err
	}
	if err := s.Start(context.WithoutCancel(ctx), "127.0.0.1:0"); err != nil {
		return nil, err
	}
	base := s.Vendor(id).URL() + "/v1"
	o.Vendor.Endpoints = map[string]string{"anthropic": base, "openai": base, "responses": base}
	o.Keys = []profile.Secret{"sim-" + profile.Secret(id)}
	return s, nil
}
