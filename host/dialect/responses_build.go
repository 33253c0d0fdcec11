package dialect

import (
	"cmp"
	"encoding/json"
	"fmt"

	"spillway/sdk"
)

// minOutput is the smallest limit that the vendor takes. Agents ask for a single
// token to see whether a key works.
const minOutput = 16

func (responses) BuildRequest(p *sdk.Prompt, o Outbound) ([]byte, []string, error) {
	b := &responsesBuilder{ids: o.away().callIDs(responsesIDs), input: []*responsesItem{}}
	r := responsesRequest{
		Model:           o.Model,
		Instructions:    b.instructions(p.System),
		Stream:          o.Stream,
		Tools:           responsesTools(p.Tools),
		MaxOutputTokens: b.limit(o.lowered(p.MaxTokens, &b.dropped)),
		Temperature:     p.Temperature,
		TopP:            p.TopP,
		Reasoning:       b.reasoning(p),
		Text:            responsesTextOf(p.Schema),
		User:            p.User,
	}
	for _, m := range p.Messages {
		role := "user"
		switch m.Role {
		case sdk.RoleAssistant:
			role = "assistant"
		case sdk.RoleSystem:
			role = "system"
		case sdk.RoleUser, sdk.RoleTool:
		}
		b.say(role, m.Parts)
	}
	r.Input = b.input
	if len(p.Stop) > 0 {
		b.dropped.add("stop")
	}
	if len(p.Tools) > 0 {
		r.ParallelToolCalls = p.ParallelTools
		r.ToolChoice = responsesChoice(p.ToolChoice)
	}
	body, err := marshal(r)
	if err != nil {
		return nil, nil, fmt.Errorf("prompt: %w", err)
	}
	return body, b.dropped, nil
}

type responsesBuilder struct {
	ids     callIDs
	input   []*responsesItem
	dropped dropped
}

func (b *responsesBuilder) instructions(parts []sdk.Part) string {
	for _, p := range parts {
		if p.Cache {
			b.dropped.add("cache_control")
		}
		if p.Kind != sdk.PartText {
			b.dropped.add("system." + string(p.Kind))
		}
	}
	joined, _ := joinText(parts)
	return joined
}

func (b *responsesBuilder) limit(asked int) int {
	if asked > 0 && asked < minOutput {
		b.dropped.add(fmt.Sprintf("max_tokens raised to %d", minOutput))
		return minOutput
	}
	return asked
}

// reasoning asks for it with a summary, which is all that the vendor shows.
func (b *responsesBuilder) reasoning(p *sdk.Prompt) *responsesReasoning {
	var r responsesReasoning
	r.Effort = openaiEffort(p.Effort, &b.dropped)
	if p.Reasoning {
		r.Summary = "auto"
	}
	if r == (responsesReasoning{}) {
		return nil
	}
	return &r
}

// say adds the items of one turn in their order: what is no call and no result
// goes into messages.
func (b *responsesBuilder) say(role string, parts []sdk.Part) {
	var content []responsesPart
	flush := func() {
		if len(content) > 0 {
			b.input = append(b.input, &responsesItem{Type: "message", Role: role, Content: content})
			content = nil
		}
	}
	for _, p := range parts {
		if p.Cache {
			b.dropped.add("cache_control")
		}
		switch p.Kind {
		case sdk.PartToolCall:
			flush()
			args := cmp.Or(string(p.Input), "{}")
			b.input = append(b.input, &responsesItem{Type: "function_call", CallID: b.ids.call(p.ID), Name: p.Name, Arguments: &args})
		case sdk.PartToolResult:
			flush()
			if p.Error {
				b.dropped.add("is_error")
			}
			b.input = append(b.input, &responsesItem{Type: "function_call_output", CallID: b.ids.result(p.ID), Output: b.output(p.Result)})
		case sdk.PartReasoning: // without the vendor's own proof it takes none
			b.dropped.add("reasoning")
		case sdk.PartText, sdk.PartImage, sdk.PartDocument:
			if part, ok := b.part(role, p); ok {
				content = append(content, part)
			}
		}
	}
	flush()
}

// output encodes a tool's result: as a string where it is text only.
func (b *responsesBuilder) output(parts []sdk.Part) any {
	joined, others := joinText(parts)
	if !others {
		return joined
	}
	list := []responsesPart{}
	for _, p := range parts {
		if part, ok := b.part("tool", p); ok {
			list = append(list, part)
		}
	}
	return list
}

// part encodes a part of a message or of a result. The model's own turns hold
// nothing but text.
func (b *responsesBuilder) part(role string, p sdk.Part) (responsesPart, bool) {
	kind := "input_text"
	if role == "assistant" {
		kind = "output_text"
	}
	switch {
	case p.Kind == sdk.PartText:
		return responsesPart{Type: kind, Text: &p.Text}, p.Text != ""
	case role == "assistant":
	case p.Kind == sdk.PartImage:
		return responsesPart{Type: "input_image", ImageURL: cmp.Or(p.URL, dataURLOf(p))}, true
	case p.Kind == sdk.PartDocument && p.URL != "":
		return responsesPart{Type: "input_file", FileURL: p.URL}, true
	case p.Kind == sdk.PartDocument:
		if plain, ok := plainText(p); ok {
			return responsesPart{Type: kind, Text: &plain}, plain != ""
		}
		return responsesPart{Type: "input_file", Filename: filename(p), FileData: dataURLOf(p)}, true
	}
	b.dropped.add(role + "." + string(p.Kind))
	return responsesPart{}, false
}

func responsesTools(tools []sdk.Tool) []responsesTool {
	var out []responsesTool
	for _, t := range tools {
		schema := t.Schema
		if len(schema) == 0 {
			schema = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		out = append(out, responsesTool{"function", t.Name, t.Description, schema, t.Strict})
	}
	return out
}

func responsesChoice(c *sdk.ToolChoice) any {
	switch {
	case c == nil:
		return nil
	case c.Mode == "tool":
		return responsesToolChoice{Type: "function", Name: c.Name}
	}
	return c.Mode
}

func responsesTextOf(s *sdk.Schema) *responsesText {
	switch {
	case s == nil:
		return nil
	case len(s.Schema) == 0:
		return &responsesText{responsesFormat{Type: "json_object"}}
	}
	return &responsesText{responsesFormat{"json_schema", cmp.Or(s.Name, "answer"), s.Schema, s.Strict}}
}
