package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Bounds of a tool's schema. It is sent with every request to the model.
const (
	maxSchema      = 64 << 10
	maxSchemaDepth = 32
)

// refusedAtTop are words that vendors refuse at the top of a tool's schema, with the
// whole request: Anthropic's Messages the first three, OpenAI's functions all.
var refusedAtTop = [...]string{"oneOf", "anyOf", "allOf", "not", "enum"}

// schema is a server's schema of a tool's input as models get it: as it is,
// without the argument that takes the key. One that a vendor would refuse, and
// the whole request with it, is an error.
func schema(listed any, key string) (json.RawMessage, error) {
	object, ok := listed.(map[string]any)
	if !ok {
		return nil, errors.New("its schema is not an object")
	}
	if object["type"] != "object" {
		return nil, errors.New("its schema is not of type object")
	}
	for _, word := range refusedAtTop {
		if object[word] != nil {
			return nil, fmt.Errorf("its schema has %s at the top", word)
		}
	}
	if d := depth(object); d > maxSchemaDepth {
		return nil, fmt.Errorf("its schema is %d deep (allowed: %d)", d, maxSchemaDepth)
	}
	if key != "" {
		object = withoutKey(object, key)
	}
	raw, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("its schema: %w", err)
	}
	if len(raw) > maxSchema {
		return nil, fmt.Errorf("its schema has %d bytes (allowed: %d)", len(raw), maxSchema)
	}
	return raw, compiles(object)
}

// withoutKey is the schema for a model: the key is not its to give. It copies
// what it changes.
func withoutKey(schema map[string]any, key string) map[string]any {
	schema = maps.Clone(schema)
	if p, ok := schema["properties"].(map[string]any); ok {
		p = maps.Clone(p)
		delete(p, key)
		schema["properties"] = p
	}
	if required, ok := schema["required"].([]any); ok {
		required = slices.DeleteFunc(slices.Clone(required), func(v any) bool { return v == any(key) })
		schema["required"] = required
		if len(required) == 0 { // draft 4 has no empty one
			delete(schema, "required")
		}
	}
	return schema
}

func depth(v any) int {
	deepest := 0
	switch v := v.(type) {
	case map[string]any:
		for _, e := range v {
			deepest = max(deepest, depth(e))
		}
	case []any:
		for _, e := range v {
			deepest = max(deepest, depth(e))
		}
	default:
		return 0
	}
	return deepest + 1
}

// compiles checks that a schema is one.
func compiles(object map[string]any) error {
	const here = "tool:input"
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	c.UseRegexpEngine(anyPattern)
	if err := c.AddResource(here, object); err != nil {
		return fmt.Errorf("its schema: %w", err)
	}
	if _, err := c.Compile(here); err != nil {
		return fmt.Errorf("its schema: %w", err)
	}
	return nil
}

// noLoader fetches nothing that a stranger's schema refers to.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) { return nil, fmt.Errorf("%q is elsewhere", url) }

// anyPattern takes every pattern: they are in the server's dialect, and nothing
// is matched here.
func anyPattern(s string) (jsonschema.Regexp, error) { return pattern(s), nil }

type pattern string

func (pattern) MatchString(string) bool { return true }
func (p pattern) String() string        { return string(p) }
