package dialect

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"

	"spillway/sdk"
)

func (d responses) ParseRequest(body []byte) (*sdk.Prompt, error) {
	in, err := d.Inspect(body)
	if err != nil {
		return nil, err
	}
	if in.Held != "" {
		return nil, invalid(in.Held, "only the vendor that keeps it can go on with it")
	}
	r := &responsesReader{}
	fields(gjson.ParseBytes(body), r.field)
	r.System = append(r.instructions, r.System...)
	return r.done(), nil
}

type responsesReader struct {
	promptReader
	instructions []sdk.Part // come first wherever they stand
}

func (r *responsesReader) field(key string, v gjson.Result) {
	switch key {
	case "model", "stream", "stream_options", "background":
	case "store":
		if v.Bool() { // not to keep anything is what the others do
			r.dropped.add(key)
		}
	case "instructions":
		if s := text(v); s != "" {
			r.instructions = []sdk.Part{sdk.TextPart(s)}
		}
	case "input":
		if v.Type == gjson.String {
			r.say(sdk.RoleUser, []sdk.Part{sdk.TextPart(text(v))})
		}
		elements(v, r.item)
	case "tools":
		elements(v, r.tool)
	case "tool_choice":
		r.toolChoice(v)
	case "parallel_tool_calls":
		parallel := v.Bool()
		r.ParallelTools = &parallel
	case "max_output_tokens":
		r.MaxTokens = count([]byte(v.Raw))
	case "temperature":
		r.Temperature = number(v)
	case "top_p":
		r.TopP = number(v)
	case "reasoning":
		fields(v, r.reasoning)
	case "text":
		fields(v, r.format)
	case "user":
		r.User = text(v)
	default:
		r.dropped.add(key)
	}
}

func (r *responsesReader) reasoning(key string, v gjson.Result) {
	if key != "effort" {
		r.dropped.add("reasoning." + key)
		return
	}
	r.Effort = text(v)
	r.Reasoning = reasons(r.Effort)
}

func (r *responsesReader) format(key string, v gjson.Result) {
	if key != "format" {
		r.dropped.add("text." + key)
		return
	}
	switch text(v.Get("type")) {
	case "text":
	case "json_object":
		r.Schema = &sdk.Schema{}
	case "json_schema":
		r.Schema = &sdk.Schema{Name: text(v.Get("name")), Schema: raw(v.Get("schema")), Strict: v.Get("strict").Bool()}
	default:
		r.dropped.add("text.format")
	}
}

// tool reads a function, or a tool that takes plain text as a function of one
// text. Other kinds of tools belong to the vendor.
func (r *responsesReader) tool(v gjson.Result) {
	kind, name := text(v.Get("type")), text(v.Get("name"))
	t := sdk.Tool{Name: name}
	switch kind {
	case "function":
	case "custom":
		t.Schema = json.RawMessage(freeformSchema)
	default:
		r.dropped.add(strings.TrimSpace("tool " + kind + " " + name))
		return
	}
	fields(v, func(key string, v gjson.Result) {
		switch {
		case key == "type" || key == "name":
		case key == "description":
			t.Description = text(v)
		case key == "parameters" && kind == "function":
			t.Schema = raw(v)
		case key == "strict":
			t.Strict = v.Bool()
		default:
			r.dropped.add("tools." + key)
		}
	})
	r.Tools = append(r.Tools, t)
}

// freeformSchema is what a tool of plain text takes in the vocabulary.
const freeformSchema = `{"type":"object","properties":{"input":{"type":"string"}},"required":["input"],"additionalProperties":false}`

func (r *responsesReader) toolChoice(v gjson.Result) {
	mode, kind := text(v), text(v.Get("type"))
	switch {
	case mode == "auto" || mode == "none" || mode == "required":
		r.ToolChoice = &sdk.ToolChoice{Mode: mode}
	case kind == "function" || kind == "custom":
		r.ToolChoice = &sdk.ToolChoice{Mode: "tool", Name: text(v.Get("name"))}
	default:
		r.dropped.add("tool_choice")
	}
}

// item reads one item of the conversation.
func (r *responsesReader) item(v gjson.Result) {
	switch kind := cmp.Or(text(v.Get("type")), "message"); kind {
	case "message":
		r.message(v)
	case "function_call", "custom_tool_call":
		r.call(kind, v)
	case "function_call_output", "custom_tool_call_output":
		p := sdk.Part{Kind: sdk.PartToolResult, ID: text(v.Get("call_id")), Result: r.parts(v.Get("output"))}
		r.say(sdk.RoleTool, []sdk.Part{p})
	case "reasoning":
		r.thought(v)
	default:
		r.dropped.add(kind)
	}
}

func (r *responsesReader) message(v gjson.Result) {
	var role string
	var parts []sdk.Part
	fields(v, func(key string, v gjson.Result) {
		switch key {
		case "type", "id", "status":
		case "role":
			role = text(v)
		case "content":
			parts = r.parts(v)
		default:
			r.dropped.add("input." + key)
		}
	})
	switch role {
	case "system", "developer":
		if len(r.Messages) == 0 {
			r.System = append(r.System, parts...)
			return
		}
		r.say(sdk.RoleSystem, parts)
	case "assistant":
		r.answer(parts...)
	case "user":
		r.say(sdk.RoleUser, parts)
	default:
		r.dropped.add("role " + role)
		r.say(sdk.RoleUser, parts)
	}
}

// answer adds to the model's turn, whose reasoning, text and calls are items of
// their own.
func (r *responsesReader) answer(parts ...sdk.Part) {
	if last := len(r.Messages) - 1; last >= 0 && r.Messages[last].Role == sdk.RoleAssistant {
		r.Messages[last].Parts = append(r.Messages[last].Parts, parts...)
		return
	}
	r.say(sdk.RoleAssistant, parts)
}

func (r *responsesReader) call(kind string, v gjson.Result) {
	p := sdk.Part{Kind: sdk.PartToolCall, Input: json.RawMessage("{}")}
	if kind == "custom_tool_call" {
		p.Input = freeform("")
	}
	var id string
	fields(v, func(key string, v gjson.Result) {
		switch {
		case key == "type" || key == "status":
		case key == "id":
			id = text(v)
		case key == "call_id":
			p.ID = text(v)
		case key == "name":
			p.Name = text(v)
		case key == "arguments":
			p.Input = r.arguments(v)
		case key == "input" && kind == "custom_tool_call":
			p.Input = freeform(text(v))
		default:
			r.dropped.add(kind + "." + key)
		}
	})
	p.ID = cmp.Or(p.ID, id)
	r.answer(p)
}

// thought reads reasoning as far as it can be read. What is encrypted is for
// its vendor only.
func (r *responsesReader) thought(v gjson.Result) {
	if text(v.Get("encrypted_content")) != "" {
		r.dropped.add("reasoning.encrypted_content")
	}
	if s := responsesThought(v); s != "" {
		r.answer(sdk.Part{Kind: sdk.PartReasoning, Text: s})
	}
}

// responsesThought is the text of a reasoning item: the reasoning itself, else
// its summary.
func responsesThought(v gjson.Result) string {
	for _, field := range []string{"content", "summary"} {
		var texts []string
		elements(v.Get(field), func(part gjson.Result) {
			if s := text(part.Get("text")); s != "" {
				texts = append(texts, s)
			}
		})
		if len(texts) > 0 {
			return strings.Join(texts, "\n\n")
		}
	}
	return ""
}

func (r *responsesReader) parts(v gjson.Result) []sdk.Part { return partsOf(v, r.part) }

func (r *responsesReader) part(v gjson.Result) (sdk.Part, bool) {
	switch kind := text(v.Get("type")); kind {
	case "input_text", "output_text", "text":
		return sdk.TextPart(text(v.Get("text"))), true
	case "refusal":
		return sdk.TextPart(text(v.Get("refusal"))), true
	case "input_image":
		if p, ok := imageOf(text(v.Get("image_url"))); ok {
			return p, true
		}
		r.dropped.add("input_image.file_id")
	case "input_file":
		if mediaType, data, ok := dataURL(text(v.Get("file_data"))); ok {
			return sdk.Part{Kind: sdk.PartDocument, MediaType: mediaType, Data: data}, true
		}
		if url := text(v.Get("file_url")); url != "" {
			return sdk.Part{Kind: sdk.PartDocument, URL: url}, true
		}
		r.dropped.add(kind)
	default:
		r.dropped.add(kind)
	}
	return sdk.Part{}, false
}
