package profile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	schemakind "github.com/santhosh-tekuri/jsonschema/v6/kind"

	"spillway/sdk"
)

// schemaURL names the schema to the library. Nothing is fetched.
const schemaURL = "https://schema.invalid/config.json"

// Validate checks an entry's evaluated config against its module's JSON Schema
// (2020-12 unless it says otherwise) and returns every fault, in the order of
// the file. The error is about the schema, which is a stranger's: it cannot
// refer to anything outside itself.
//
// Values that came out of the environment, that the schema marks writeOnly, or
// that stand under a key with a secret's name, are not shown.
func Validate(config *Value, schema json.RawMessage) ([]Fault, error) {
	compiler, compiled, err := compile(schema)
	if err != nil {
		return nil, err
	}
	ve, ok := errors.AsType[*jsonschema.ValidationError](compiled.Validate(config.plain()))
	if !ok {
		return nil, nil
	}
	j := judge{config: config, compiler: compiler}
	j.collect(ve)
	sortFaults(j.faults)
	return j.faults, nil
}

// compile reads a stranger's schema, whose annotations extra sees.
func compile(schema json.RawMessage, extra ...*jsonschema.Vocabulary) (*jsonschema.Compiler, *jsonschema.Schema, error) {
	if len(schema) > MaxSchema {
		return nil, nil, fmt.Errorf("schema is too large (allowed: %d KiB)", MaxSchema>>10)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, nil, fmt.Errorf("schema: %w", err)
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{})
	for _, v := range extra {
		c.RegisterVocabulary(v)
		c.AssertVocabs() // look at it although the schema does not declare it
	}
	if err := c.AddResource(schemaURL, doc); err != nil {
		return nil, nil, fmt.Errorf("schema: %w", err)
	}
	compiled, err := c.Compile(schemaURL)
	if err != nil {
		return nil, nil, fmt.Errorf("schema: %w", err)
	}
	return c, compiled, nil
}

// plain is v as encoding/json would decode it.
func (v *Value) plain() any {
	switch v.kind {
	case kindBool:
		return v.truth
	case kindNumber:
		return v.number
	case kindText, kindExpr:
		return v.text
	case kindList:
		list := make([]any, len(v.items))
		for i, item := range v.items {
			list[i] = item.plain()
		}
		return list
	case kindMap:
		m := make(map[string]any, len(v.fields))
		for _, f := range v.fields {
			m[f.key] = f.value.plain()
		}
		return m
	case kindNull:
	}
	return nil
}

// judge turns the library's tree of errors into faults.
type judge struct {
	config   *Value
	compiler *jsonschema.Compiler
	faults   []Fault
}

func (j *judge) collect(e *jsonschema.ValidationError) {
	switch k := e.ErrorKind.(type) {
	case *schemakind.AnyOf, *schemakind.OneOf:
		if want := types(e.Causes, len(e.InstanceLocation)); want != nil {
			j.add(e, e.InstanceLocation, "wrong type", strings.Join(want, " or "), nil)
			return
		}
		if best := closest(e.Causes); best != nil {
			j.collect(best)
			return
		}
	case *schemakind.Required:
		for _, key := range k.Missing {
			j.add(e, slices.Concat(e.InstanceLocation, []string{key}), "missing", "", nil)
		}
		return
	case *schemakind.AdditionalProperties:
		known := j.keys(e.SchemaURL)
		for _, key := range k.Properties {
			j.add(e, slices.Concat(e.InstanceLocation, []string{key}), "unknown key", strings.Join(known, ", "), Nearest(key, known))
		}
		return
	}
	for _, cause := range e.Causes {
		j.collect(cause)
	}
	if len(e.Causes) == 0 {
		text, allowed := explain(e.ErrorKind)
		j.add(e, e.InstanceLocation, text, allowed, nil)
	}
}

func (j *judge) add(e *jsonschema.ValidationError, steps []string, text, allowed string, near []string) {
	f := Fault{
		Fault: sdk.Fault{Path: j.config.path(steps), Message: text, Allowed: allowed},
		Pos:   j.config.locate(steps),
		Near:  near,
	}
	if v := j.config.find(steps); v != nil && near == nil {
		f.Value = j.show(v, steps, e.SchemaURL)
	}
	j.faults = append(j.faults, f)
}

// closest is the alternative that the config comes nearest to: of the right
// type if one is, and with its first fault deepest inside.
func closest(causes []*jsonschema.ValidationError) *jsonschema.ValidationError {
	var best *jsonschema.ValidationError
	rank := -1
	for _, c := range causes {
		if r := reach(c); r > rank {
			best, rank = c, r
		}
	}
	return best
}

func reach(e *jsonschema.ValidationError) int {
	r := 2 * len(e.InstanceLocation)
	if _, ok := e.ErrorKind.(*schemakind.Type); !ok && len(e.Causes) == 0 {
		r++
	}
	for _, c := range e.Causes {
		r = max(r, reach(c))
	}
	return r
}

// types lists what every alternative wants if each fails for the type of the
// value at depth.
func types(causes []*jsonschema.ValidationError, depth int) []string {
	var want []string
	for _, c := range causes {
		for len(c.Causes) == 1 { // a $ref
			c = c.Causes[0]
		}
		k, ok := c.ErrorKind.(*schemakind.Type)
		if !ok || len(c.InstanceLocation) != depth {
			return nil
		}
		want = append(want, k.Want...)
	}
	return want
}

// keys are the properties that the schema at url knows, sorted.
func (j *judge) keys(url string) []string {
	s, err := j.compiler.Compile(url)
	if err != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(s.Properties))
}

var secretKey = regexp.MustCompile(`(?i)(key|token|secret|password|credential)s?$`)

// show is v for a message, without what must not be seen.
func (j *judge) show(v *Value, steps []string, url string) string {
	s, err := j.compiler.Compile(url)
	return v.show(steps, err != nil || s.WriteOnly)
}

func (v *Value) show(steps []string, hidden bool) string {
	switch {
	case v.kind == kindMap || v.kind == kindList:
		return v.kind.String()
	case v.secret, hidden, v.kind == kindText && slices.ContainsFunc(steps, secretKey.MatchString):
		return redacted
	}
	return clip(v.code(), maxShown)
}
