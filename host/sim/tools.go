package sim

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// chooseTool says which tool an answer calls: the one the step names, else the
// one that the prompt asks for with the words "call NAME", nil for none.
func chooseTool(s *step, r *request, prompt string) *tool {
	prompt = strings.ToLower(prompt)
	for i := range r.Tools {
		t := &r.Tools[i]
		if !t.callable() {
			continue
		}
		asked := s.tool == "" && strings.Contains(prompt, "call "+strings.ToLower(t.name()))
		if asked || s.tool == "*" || s.tool == t.name() {
			return t
		}
	}
	return nil
}

// example makes what the tool accepts.
func (t tool) example(f format) string {
	if t.freeform(f) {
		return "sim"
	}
	return exampleArguments(t.schema())
}

// maxSchemaDepth ends the making of arguments for a schema that is nested
// without end.
const maxSchemaDepth = 8

// exampleArguments makes an object that a tool's schema accepts, as long as the
// schema is a plain one: references are not followed and patterns not read.
func exampleArguments(schema json.RawMessage) string {
	var s jsonSchema
	if json.Unmarshal(schema, &s) != nil {
		return "{}"
	}
	value, ok := s.example(0).(map[string]any)
	if !ok {
		return "{}"
	}
	data, err := json.Marshal(value)
	if err != nil {
		return "{}"
	}
	return string(data)
}

type jsonSchema struct {
	Type       any                   `json:"type"` // a name, or a list of them
	Const      any                   `json:"const"`
	Default    any                   `json:"default"`
	Enum       []any                 `json:"enum"`
	Examples   []any                 `json:"examples"`
	AnyOf      []jsonSchema          `json:"anyOf"`
	OneOf      []jsonSchema          `json:"oneOf"`
	Properties map[string]jsonSchema `json:"properties"`
	Required   []string              `json:"required"`
	Items      *jsonSchema           `json:"items"`
	MinItems   int                   `json:"minItems"`
	Minimum    *float64              `json:"minimum"`
}

func (s jsonSchema) example(depth int) any {
	for _, list := range [][]any{{s.Const}, {s.Default}, s.Enum, s.Examples} {
		if len(list) > 0 && list[0] != nil {
			return list[0]
		}
	}
	if depth == maxSchemaDepth {
		return nil
	}
	for _, list := range [][]jsonSchema{s.AnyOf, s.OneOf} {
		if len(list) > 0 {
			return list[0].example(depth + 1)
		}
	}
	switch s.typeName() {
	case "object":
		object := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			if slices.Contains(s.Required, name) {
				object[name] = s.Properties[name].example(depth + 1)
			}
		}
		return object
	case "array":
		list := []any{}
		for range min(s.MinItems, maxSchemaDepth) {
			if s.Items != nil {
				list = append(list, s.Items.example(depth+1))
			}
		}
		return list
	case "integer", "number":
		if s.Minimum != nil {
			return *s.Minimum
		}
		return 1
	case "boolean":
		return true
	case "null":
		return nil
	}
	return "sim"
}

func (s jsonSchema) typeName() string {
	switch t := s.Type.(type) {
	case string:
		return t
	case []any:
		if len(t) > 0 {
			name, _ := t[0].(string)
			return name
		}
	case nil:
		if s.Properties != nil {
			return "object"
		}
	}
	return ""
}
