package plugintest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"spillway/sdk"
)

// ConformanceOptions say what [Conformance] has to know of a plugin. New is
// needed, the rest has defaults.
type ConformanceOptions struct {
	New       func() sdk.Plugin // makes a plugin that is not configured yet
	Config    string            // JSON that it accepts; "{}" if empty
	BadConfig string            // JSON that it, or its schema, refuses; not tried if empty
	// OtherConfig is JSON that it accepts while it runs. The plan of a plugin that
	// has one must follow it; not tried if empty.
	OtherConfig string
	Catalogue   sdk.Catalogue // what its host offers

	// Request is a call that the plugin takes part in. The default is a stream
	// of the catalogue's first model.
	Request sdk.Request

	// Changes is set for a plugin that changes answers or gives its own. Others
	// must hand over what the vendor said.
	Changes bool

	// Patience is how long anything may take that must come to its end. The
	// default is 10 s.
	Patience time.Duration
}

// Conformance is what every plugin must do, whatever it is for. Each check is a
// subtest and runs a plugin of its own over the real wire.
//
// It looks for goroutines that a plugin leaves behind, so nothing else may run
// in the process meanwhile: call it from a test that is not parallel.
func Conformance(t *testing.T, o ConformanceOptions) {
	t.Helper()
	o = o.withDefaults()
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) { c.run(t, o) })
	}
}

// check reports through a testing.TB, so that a test of the suite can look on.
type check struct {
	name string
	run  func(testing.TB, ConformanceOptions)
}

var checks = []check{
	{"manifest", checkManifest},
	{"configuration", checkConfiguration},
	{"bad configuration", checkBadConfiguration},
	{"healthy call", checkHealthy},
	{"failing vendor", checkFailing},
	{"failure after content", checkBroken},
	{"caller leaves", checkLeaving},
	{"many at once", checkMany},
	{"re-entered call", checkReentered},
	{"outcomes", checkOutcomes},
	{"drain", checkDrain},
	{"plan", checkPlan},
	{"planned failure", checkPlannedFailure},
	{"running attempt", checkRunning},
	{"planned outcomes", checkPlannedOutcomes},
	{"nothing left", checkEnd},
}

func (o ConformanceOptions) withDefaults() ConformanceOptions {
	o.Config = cmp.Or(o.Config, "{}")
	o.Patience = cmp.Or(o.Patience, 10*time.Second)
	if len(o.Catalogue.Providers) == 0 {
		o.Catalogue = sdk.Catalogue{Revision: 1, Providers: []sdk.Provider{{Name: "vendor", Models: []sdk.Model{{ID: "model"}}}}}
	}
	if o.Request.Provider == "" {
		first := o.Catalogue.Providers[0]
		o.Request.Provider, o.Request.Stream = first.Name, true
		if len(first.Models) > 0 {
			o.Request.Model = first.Models[0].ID
		}
	}
	return o
}

// checkManifest: a host caches the manifest by the binary's hash, so it must
// always be the same one.
func checkManifest(tb testing.TB, o ConformanceOptions) {
	p := o.New()
	first := p.Manifest()
	for what, again := range map[string]sdk.Manifest{
		"a second call":   p.Manifest(),
		"another process": o.New().Manifest(),
		"the wire":        Start(tb, p, o.host(nil)).Session().Manifest(),
	} {
		if !sameManifest(first, again) {
			got, want := again, first
			got.Schema, want.Schema = nil, nil // pages of bytes
			tb.Errorf("%s gives another manifest, or another schema: got %+v, want %+v", what, got, want)
		}
	}
	if first.Name == "" || first.Version == "" {
		tb.Errorf("name %q, version %q: both must be given", first.Name, first.Version)
	}
	if _, ok := p.(sdk.Judge); ok != first.Judge {
		tb.Errorf("Judge is %t, but the plugin implements sdk.Judge: %t", first.Judge, ok)
	}
	if _, ok := p.(sdk.Operator); ok != first.Operator {
		tb.Errorf("Operator is %t, but the plugin implements sdk.Operator: %t", first.Operator, ok)
	}
	checkHook(tb, first.Hook, o.Request.Route())
	if err := checkSchema(first.Schema, o.Config); err != nil {
		tb.Error(err)
	}
}

func sameManifest(a, b sdk.Manifest) bool {
	if !bytes.Equal(a.Schema, b.Schema) || !slices.Equal(a.Hook.Models, b.Hook.Models) {
		return false
	}
	a.Schema, a.Hook.Models = b.Schema, b.Hook.Models // empty or nil
	return reflect.DeepEqual(a, b)
}

func checkHook(tb testing.TB, h sdk.HookSpec, route sdk.Route) {
	if h.MaxDepth < 0 || h.MaxDepth > maxDepth {
		tb.Errorf("MaxDepth: got %d, want 0 to %d", h.MaxDepth, maxDepth)
	}
	if h.Wait < 0 || h.Decide < 0 {
		tb.Errorf("Wait %v, Decide %v: neither may be negative", h.Wait, h.Decide)
	}
	switch h.OnDown {
	case "", sdk.OnDownBypass, sdk.OnDownWait, sdk.OnDownFail:
	default:
		tb.Errorf("OnDown: got %q, which is none of its constants", h.OnDown)
	}
	takesPart := len(h.Models) == 0
	for _, glob := range h.Models {
		ok, err := path.Match(glob, route.String())
		if err != nil {
			tb.Errorf("Models: %q: %v", glob, err)
		}
		takesPart = takesPart || ok
	}
	if !takesPart {
		tb.Errorf("Models: %q leave out %s, the route of the test's own request", h.Models, route)
	}
}

// checkSchema compiles a schema as a host does, which fetches nothing, and
// validates a configuration.
func checkSchema(schema json.RawMessage, config string) error {
	if len(schema) == 0 {
		return nil
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return fmt.Errorf("schema: %w", err)
	}
	const url = "https://schema.invalid/config.json"
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{})
	if err := c.AddResource(url, doc); err != nil {
		return fmt.Errorf("schema: %w", err)
	}
	compiled, err := c.Compile(url)
	if err != nil {
		return fmt.Errorf("schema: %w", err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(config)))
	if err != nil {
		return fmt.Errorf("configuration %s: %w", config, err)
	}
	if err := compiled.Validate(value); err != nil {
		return fmt.Errorf("the schema refuses the configuration %s: %w", config, err)
	}
	return nil
}

// checkConfiguration: what is accepted at the start is accepted as a change.
func checkConfiguration(tb testing.TB, o ConformanceOptions) {
	p := o.New()
	h, err := Open(tb, p, o.host(nil))
	if err != nil {
		tb.Fatalf("configuration %s: %v", o.Config, err)
	}
	if _, ok := p.(sdk.SettingsObserver); !ok {
		return
	}
	ctx, cancel := o.patience(tb)
	defer cancel()
	c := sdk.Config{Entry: h.Session().Manifest().Name, JSON: json.RawMessage(o.Config)}
	if err := h.Session().Settings(ctx, c, nil); err != nil {
		tb.Errorf("the same configuration as a change: %v", err)
	}
}

// checkBadConfiguration: a user is told what is wrong where, by the schema or
// by the plugin.
func checkBadConfiguration(tb testing.TB, o ConformanceOptions) {
	if o.BadConfig == "" {
		return
	}
	p := o.New()
	if checkSchema(p.Manifest().Schema, o.BadConfig) != nil {
		return
	}
	bad := o.host(nil)
	bad.Config = o.BadConfig
	_, err := Open(tb, p, bad)
	faults, ok := errors.AsType[sdk.Faults](err)
	if !ok {
		tb.Fatalf("configuration %s: got error %v, want sdk.Faults", o.BadConfig, err)
	}
	for _, f := range faults {
		if f.Path == "" || f.Message == "" {
			tb.Errorf("configuration %s: fault %+v: both path and message must be given", o.BadConfig, f)
		}
	}
}
