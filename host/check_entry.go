package host

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/dlclark/regexp2"

	"spillway/host/profile"
	"spillway/host/provider"
	"spillway/host/sim"
	"spillway/sdk"
)

// provider checks an entry of a built-in module, and reports whether it would
// run.
func (c *checker) provider(ctx context.Context, e profile.Entry) bool {
	if !c.faults(e, providerSchema) || !c.vendor(e) {
		return false
	}
	var err error
	if e.Name == moduleSim {
		err = c.script(e)
	} else {
		// A missing key must not hide what else is wrong.
		keyed := e
		keyed.Unset = nil
		_, _, err = c.keyed.provider(ctx, keyed)
	}
	if err != nil {
		c.misfit(e, err)
		return false
	}
	if e.Name == moduleSim {
		return true
	}
	if _, _, err = c.builder.provider(ctx, e); err != nil { // it has no key
		c.add(finding(SeverityInfo, e.ID, e.Row.Pos(), sdk.Fault{Message: "entry does not run: " + err.Error()}))
	}
	return err == nil
}

// misfit adds why a provider cannot be made of settings that are right one by
// one.
func (c *checker) misfit(e profile.Entry, err error) {
	text := err.Error()
	for _, kind := range []string{"provider", "vendor"} {
		text = strings.TrimPrefix(text, fmt.Sprintf("%s %q: ", kind, e.ID))
	}
	fault := faultOf(text)
	at := profile.Place(e.Config, sdk.Faults{fault})[0].Pos
	c.add(finding(SeverityError, e.ID, at, fault))
}

// faultOf reads an error that begins with the setting that it is about, if it is
// about one.
func faultOf(text string) sdk.Fault {
	if path, rest, ok := strings.Cut(text, ": "); ok && !strings.ContainsAny(path, " \"/") {
		return sdk.Fault{Path: path, Message: rest}
	}
	return sdk.Fault{Message: text}
}

// vendor reports whether the vendor of an entry is known, or need not be.
func (c *checker) vendor(e profile.Entry) bool {
	config, err := providerConfigOf(e)
	if err != nil {
		c.misfit(e, err)
		return false
	}
	name, at := config.Vendor, profile.Place(e.Config, sdk.Faults{{Path: "vendor"}})[0].Pos
	if name == "" {
		name = e.ID
		if id, ok := e.Row.Origin("id"); ok {
			at = id
		}
	}
	v, known := c.builder.vendors[name]
	if config.Models != nil {
		v.Models = nil
	}
	for _, m := range config.Models {
		v.Models = append(v.Models, provider.Model(m))
	}
	for _, m := range v.Models {
		c.models[e.ID] = append(c.models[e.ID], m.ID)
	}
	if known || config.BaseURL != "" || config.Endpoints != nil || e.Name == moduleSim {
		return true
	}
	all := slices.Sorted(maps.Keys(c.builder.vendors))
	c.add(finding(SeverityError, e.ID, at, sdk.Fault{
		Path: "vendor", Value: strconv.Quote(name), Message: "unknown vendor", Allowed: strings.Join(all, ", ") + "; another one needs its endpoints or base_url",
	}, profile.Nearest(name, all)...))
	return false
}

func providerConfigOf(e profile.Entry) (c providerConfig, err error) {
	raw, err := configJSON(e)
	if err == nil {
		err = json.Unmarshal(raw, &c)
	}
	return c, err
}

// script checks a simulated vendor without starting it.
func (c *checker) script(e profile.Entry) error {
	config, err := providerConfigOf(e)
	if err == nil {
		_, err = sim.New(sim.Options{Vendors: []sim.Vendor{{Name: e.ID, Like: config.Vendor, Script: config.Script}}})
	}
	return err
}

// store checks an entry that shares the state. A variable that is not set must
// not hide what else is wrong.
func (c *checker) store(e profile.Entry) {
	if !c.faults(e, redisSchema) || e.Unset != nil {
		return
	}
	if _, err := readRedis(c.builder.runtime.opts.Dir, e); err != nil {
		c.misfit(e, err)
	}
}

// plugin checks an entry whose module is a file.
func (c *checker) plugin(ctx context.Context, e profile.Entry) {
	at, _ := e.Row.Origin("name")
	if c.catalogue.files[e.Name] == "" {
		c.add(finding(SeverityError, e.ID, at, sdk.Fault{
			Path: "name", Value: strconv.Quote(e.Name), Message: "no such module", Allowed: c.catalogue.describe(),
		}, profile.Nearest(e.Name, c.catalogue.names)...))
		return
	}
	if c.stateless != nil {
		return // a plugin is copied there before it is asked for its schema
	}
	schema, err := c.catalogue.schema(ctx, e.Name, e.Row)
	if err != nil {
		text := err.Error()
		if trust, ok := e.Row.Origin("trust"); ok && strings.HasPrefix(text, trust.String()) {
			at, text = trust, strings.TrimPrefix(text, trust.String()+": ")
		}
		c.add(finding(SeverityError, e.ID, at, faultOf(text)))
		return
	}
	if len(schema) == 0 {
		return
	}
	c.faults(e, schema)
	c.routes(e, schema)
	c.expressions(e, schema)
}

// providerMark is the annotation of a text that names a provider, or a route
// that begins with one.
const providerMark = "x-provider"

// UnknownProvider is the message of the warning that a route names nobody.
const UnknownProvider = "unknown provider"

// routes warns of providers that are none of the profile's.
func (c *checker) routes(e profile.Entry, schema []byte) {
	c.settled = append(c.settled, settled{e, schema})
	if !c.whole {
		return
	}
	marks, err := profile.Marked(e.Config, schema, providerMark, true)
	if err != nil {
		return // as faults has said
	}
	for _, m := range marks {
		name, _, _ := strings.Cut(m.Text, "/")
		if slices.Contains(c.providers, name) || slices.Contains(c.providers, m.Text) {
			continue
		}
		c.add(finding(SeverityWarning, e.ID, m.Pos, sdk.Fault{
			Path: m.Path, Value: m.Shown, Message: UnknownProvider, Allowed: strings.Join(c.providers, ", "),
		}, profile.Nearest(name, c.providers)...))
	}
}

// expressions warns of regular expressions that do not compile.
func (c *checker) expressions(e profile.Entry, schema []byte) {
	marks, err := profile.Marked(e.Config, schema, "format", "regex")
	if err != nil {
		return // as faults has said
	}
	for _, m := range marks {
		if _, err := regexp2.Compile(m.Text, regexp2.ECMAScript); err != nil {
			// The error ends with the expression, which may be a secret.
			reason, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), "error parsing regexp: "), " in `")
			c.add(finding(SeverityWarning, e.ID, m.Pos, sdk.Fault{
				Path: m.Path, Value: m.Shown, Message: "does not compile: " + reason, Allowed: "a JavaScript regular expression",
			}))
		}
	}
}
