package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"spillway/host/profile"
	"spillway/host/provider"
	"spillway/profiles"
	"spillway/sdk"
)

// Check tells every fault of a profile without running it: no provider is
// started and nothing is sent anywhere. A plugin that was not seen before is
// started to ask for its manifest, no more. The error is for a profile that is
// not there.
//
// A file that cannot be read is left out. What cannot be told without it, which
// patches find no row and who is no provider, is then not told.
func Check(ctx context.Context, o Options) (*Report, error) {
	if o.Env == nil {
		o.Env = os.LookupEnv
	}
	vendors, err := provider.ParseVendors(profiles.Vendors)
	if err != nil {
		return nil, err
	}
	p, errs := profile.Survey(o.Dir, profile.Options{Home: o.Home, Overlays: o.Overlays})
	if p == nil {
		return nil, errors.Join(errs...)
	}
	keyed := o
	keyed.Env = func(string) (string, bool) { return "a key", true }
	c := &checker{
		builder:   &builder{runtime: &Runtime{opts: o}, vendors: vendors},
		keyed:     &builder{runtime: &Runtime{opts: keyed}, vendors: vendors},
		catalogue: newCatalogue(o),
		models:    map[string][]string{},
		whole:     len(errs) == 0,
		report:    &Report{Profile: o.Dir, Findings: []Finding{}},
	}
	c.stateless = profile.CheckState(o.Dir)
	for _, err := range append(errs, c.stateless) {
		c.refused("", profile.Pos{}, err)
	}
	entries, warnings := p.Entries(o.Env)
	if c.whole {
		warnings = slices.Concat(p.Warnings, warnings)
	}
	for _, w := range warnings {
		f := finding(SeverityWarning, "", w.Pos, sdk.Fault{Message: w.Text}, w.Near...)
		f.wordsFirst = true
		c.add(f)
	}
	c.report.Entries = len(entries)
	for _, e := range entries {
		if kindOf(e.Name) == kindProvider {
			c.providers = append(c.providers, e.ID)
		}
	}
	if c.whole && c.providers == nil {
		at := profile.Pos{File: filepath.Join(o.Dir, profile.BaseFile)}
		c.add(finding(SeverityError, "", at, sdk.Fault{
			Message: "nobody can answer: no entry is a provider", Allowed: "a row whose name is " + strings.Join(providerModules, " or "),
		}))
	}
	c.rows(p.Rows)
	for _, e := range entries {
		c.entry(ctx, e)
	}
	if c.whole {
		c.references()
	}
	return c.report, nil
}

// checker makes one report.
type checker struct {
	builder   *builder
	keyed     *builder // as builder, with every key set
	catalogue *catalogue
	whole     bool                // every file could be read
	stateless error               // why the profile has no place for its state
	providers []string            // names that routes may have
	models    map[string][]string // that those list, as far as it is known
	settled   []settled           // what may refer to other entries
	report    *Report
}

func (c *checker) add(f Finding) { c.report.Findings = append(c.report.Findings, f) }

// refused adds what refuses a file or an entry, each fault by itself, nothing
// for nil. at is for those without a place.
func (c *checker) refused(entry string, at profile.Pos, err error) {
	if err == nil {
		return
	}
	if many, ok := errors.AsType[interface {
		error
		Unwrap() []error
	}](err); ok {
		for _, err := range many.Unwrap() {
			c.refused(entry, at, err)
		}
		return
	}
	fault := sdk.Fault{Message: err.Error()}
	if e, ok := errors.AsType[*profile.Error](err); ok {
		at, fault.Message, fault.Allowed = e.Pos, e.Message, e.Allowed
	}
	c.add(finding(SeverityError, entry, at, fault))
}

// rowKeys are the keys of a row that mean something, and insert, which means
// something in a patch.
var rowKeys = []string{"config", "disabled", "group", "id", "inject", "insert", "intercept", "isolate", "name", "trust"}

// rows warns of keys that look like a known one. Others are carried along, for
// whoever wrote them. It also notes the providers that are disabled: a route may
// name them.
func (c *checker) rows(rows []profile.Row) {
	for _, r := range rows {
		for _, key := range r.Keys() {
			if slices.Contains(rowKeys, key) || len(key) < 3 {
				continue
			}
			if near := profile.Nearest(key, rowKeys); near != nil {
				at, _ := r.Origin(key)
				c.add(finding(SeverityWarning, r.ID(), at, sdk.Fault{Path: key, Message: "means nothing in a row", Allowed: strings.Join(rowKeys, ", ")}, near...))
			}
		}
		if id := r.ID(); kindOf(r.Name()) == kindProvider && !slices.Contains(c.providers, id) {
			c.providers = append(c.providers, id)
		}
		c.rows(r.Children())
	}
}

func (c *checker) entry(ctx context.Context, e profile.Entry) {
	if e.Err != nil {
		c.refused(e.ID, e.Row.Pos(), e.Err)
		return
	}
	switch kindOf(e.Name) {
	case kindProvider:
		if !c.provider(ctx, e) {
			return
		}
	case kindAliases:
		c.faults(e, aliasesSchema)
		c.routes(e, aliasesSchema)
	case kindGateway:
		c.faults(e, gatewaySchema)
	case kindTelemetry:
		c.faults(e, telemetrySchema)
	case kindAgent:
		c.faults(e, agentSchema)
	case kindTools:
		c.faults(e, toolSchema(e.Name))
	case kindStore:
		c.store(e)
	default:
		c.plugin(ctx, e)
	}
	for _, name := range e.Unset {
		c.add(finding(SeverityInfo, e.ID, e.Row.Pos(), sdk.Fault{Message: name + " is not set: the settings that it stands for are left out"}))
	}
}

// faults adds what a schema finds in a config, and reports whether there was
// nothing.
func (c *checker) faults(e profile.Entry, schema []byte) bool {
	faults, err := profile.Validate(e.Config, schema)
	if err != nil {
		c.refused(e.ID, e.Row.Pos(), fmt.Errorf("module %q: %w", e.Name, err))
		return false
	}
	for _, f := range faults {
		c.add(finding(SeverityError, e.ID, f.Pos, f.Fault, f.Near...))
	}
	return faults == nil
}
