package sim

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func TestExampleArguments(t *testing.T) {
	for _, tt := range []struct{ schema, want string }{
		{`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["b"]}`, `{"b":"sim"}`},
		{`{"properties":{"a":{"const":"x"},"b":{"default":7},"c":{"enum":["e"]},"d":{"examples":[[1]]}},"required":["a","b","c","d"]}`, `{"a":"x","b":7,"c":"e","d":[1]}`},
		{`{"properties":{"a":{"anyOf":[{"type":"number"},{"type":"null"}]},"b":{"oneOf":[{"type":"boolean"}]},"c":{"type":"null"},"d":{"type":[]},"e":{"type":5}},"required":["a","b","c","d","e"]}`, `{"a":1,"b":true,"c":null,"d":"sim","e":"sim"}`},
		{`{"type":"object","properties":{"a":{"type":"array"},"b":{"type":"array","minItems":2,"items":{"type":"integer","minimum":3}}},"required":["a","b"]}`, `{"a":[],"b":[3,3]}`},
		{`{"type":"object","properties":{"a":{"anyOf":[` + strings.Repeat(`{"anyOf":[`, 12) + strings.Repeat(`]}`, 12) + `]}},"required":["a"]}`, `{"a":null}`},
		{`{"type":"string"}`, `{}`},
		{`[]`, `{}`},
		{``, `{}`},
	} {
		if got := exampleArguments(json.RawMessage(tt.schema)); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.schema, got, tt.want)
		}
	}
}

// Whatever is asked, no vendor panics, and each answer is JSON in every frame.
func FuzzRequest(f *testing.F) {
	f.Add([]byte(`{"model":"m","max_tokens":10,"stream":true,"messages":[{"role":"user","content":[{"type":"text","text":"Call f"}]}],"tools":[{"name":"f","input_schema":{"type":"object"}}]}`))
	f.Add([]byte(`{"model":"m","messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"42"}]}`))
	f.Add([]byte(`{"model":"\ud800<&>","messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":{"a":1}}]}],"tools":[{"type":"function","function":{"name":"\"","parameters":{"type":"object","properties":{"é":{}},"required":["é"]}}}]}`))
	f.Add([]byte(`{"model":"m","input":[{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":"42"},{"type":"reasoning","id":"rs_1","encrypted_content":"x"}],"tools":[{"type":"custom","name":"f"}]}`))
	tool, err := Parse("tool reasoning=2 tokens=2")
	if err != nil {
		f.Fatal(err)
	}
	steps := []*step{sound, &tool.rules[0].steps[0]}
	v := Vendor{Name: "p", Strict: true, ReasoningHistory: true}
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := decodeRequest(body)
		if err != nil {
			return
		}
		for _, format := range []format{anthropicFormat{}, openaiFormat{}, responsesFormat{}} {
			fault := format.check(v, r, body)
			if refusal := format.errorBody(400, fault); !json.Valid(refusal) {
				t.Fatalf("%s: refusal %s", format.name(), refusal)
			}
			for _, s := range steps {
				a := compose(format, v, s, r, 1)
				if whole := format.whole(a); !json.Valid(whole) {
					t.Fatalf("%s: answer %s", format.name(), whole)
				}
				for frame := range format.frames(a) {
					_, data, _ := bytes.Cut(frame.data, []byte("data: "))
					if !json.Valid(data) && string(data) != "[DONE]\n\n" {
						t.Fatalf("%s: frame %s", format.name(), frame.data)
					}
				}
			}
		}
	})
}

// TestTurnReminded: what an agent reminds the model of is no new prompt.
func TestTurnReminded(t *testing.T) {
	for name, body := range map[string]string{
		"messages": `{"messages":[{"role":"user","content":"Hi."},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"42"}]},` +
			`{"role":"user","content":"<system-reminder>Few tokens are left.</system-reminder>"}]}`,
		"responses": `{"input":[{"role":"user","content":"Hi."},{"type":"function_call_output","call_id":"t","output":"42"},` +
			`{"role":"user","content":"<system-reminder>Few tokens are left.</system-reminder>"}]}`,
	} {
		r, err := decodeRequest([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		if prompt, result, ok := r.turn(); prompt != "Hi." || result != "42" || !ok {
			t.Errorf("%s: got %q, %q, %t", name, prompt, result, ok)
		}
	}
}
