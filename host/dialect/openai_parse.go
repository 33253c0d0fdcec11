package dialect

import (
	"github.com/tidwall/gjson"

	"spillway/sdk"
)

func (o openai) ParseRequest(body []byte) (*sdk.Prompt, error) {
	if _, err := o.Inspect(body); err != nil {
		return nil, err
	}
	r := &openaiReader{}
	fields(gjson.ParseBytes(body), r.field)
	return r.done(), nil
}

type openaiReader struct{ promptReader }

func (r *openaiReader) field(key string, v gjson.Result) {
	switch key {
	case "model", "stream", "stream_options":
	case "messages":
		elements(v, r.message)
	case "tools":
		elements(v, r.tool)
	case "tool_choice":
		r.toolChoice(v)
	case "parallel_tool_calls":
		parallel := v.Bool()
		r.ParallelTools = &parallel
	case "max_tokens", "max_completion_tokens":
		r.MaxTokens = max(r.MaxTokens, count([]byte(v.Raw)))
	case "temperature":
		r.Temperature = number(v)
	case "top_p":
		r.TopP = number(v)
	case "stop":
		if v.Type == gjson.String {
			r.Stop = []string{text(v)}
		}
		elements(v, func(s gjson.Result) { r.Stop = append(r.Stop, text(s)) })
	case "reasoning_effort":
		r.Effort = text(v)
		r.Reasoning = r.Reasoning || reasons(r.Effort)
	case "reasoning":
		if r.Effort == "" {
			r.Effort = text(v.Get("effort"))
		}
		r.Reasoning = r.Reasoning || v.Get("enabled").Bool()
	case "thinking":
		kind := text(v.Get("type"))
		r.Reasoning = r.Reasoning || kind == "enabled"
		if kind == "disabled" {
			r.dropped.add("thinking.disabled")
		}
	case "response_format":
		r.format(v)
	case "user":
		r.User = text(v)
	default:
		r.dropped.add(key)
	}
}

func (r *openaiReader) format(v gjson.Result) {
	switch text(v.Get("type")) {
	case "text":
	case "json_object":
		r.Schema = &sdk.Schema{}
	case "json_schema":
		s := v.Get("json_schema")
		r.Schema = &sdk.Schema{Name: text(s.Get("name")), Schema: raw(s.Get("schema")), Strict: s.Get("strict").Bool()}
	default:
		r.dropped.add("response_format")
	}
}

func (r *openaiReader) message(v gjson.Result) {
	var name, callID string
	var reasoning, content, calls []sdk.Part
	cache := false
	fields(v, func(key string, v gjson.Result) {
		switch key {
		case "role":
			name = text(v)
		case "content":
			content = append(content, r.parts(v)...)
		case "refusal":
			content = append(content, sdk.TextPart(text(v)))
		case "reasoning_content", "reasoning":
			if s := text(v); s != "" && reasoning == nil {
				reasoning = []sdk.Part{{Kind: sdk.PartReasoning, Text: s}}
			}
		case "tool_calls":
			elements(v, func(c gjson.Result) { calls = r.call(calls, c) })
		case "tool_call_id":
			callID = text(v)
		case "cache_control":
			cache = v.IsObject()
		case "parsed": // a helper of the vendor's library: the content once more
		default:
			r.dropped.add("messages." + key)
		}
	})
	parts := append(append(reasoning, content...), calls...)
	switch name {
	case "tool":
		parts = []sdk.Part{{Kind: sdk.PartToolResult, ID: callID, Result: content}}
	case "assistant":
		parts = withoutEmptyText(parts) // beside calls many clients send ""
	}
	if cache && len(parts) > 0 {
		parts[len(parts)-1].Cache = true
	}
	switch name {
	case "system", "developer":
		if len(r.Messages) == 0 {
			r.System = append(r.System, parts...)
			return
		}
		r.say(sdk.RoleSystem, parts)
	case "assistant":
		r.say(sdk.RoleAssistant, parts)
	case "user", "tool":
		r.say(sdk.RoleUser, parts)
	default:
		r.dropped.add("role " + name)
		r.say(sdk.RoleUser, parts)
	}
}

func withoutEmptyText(parts []sdk.Part) []sdk.Part {
	var kept []sdk.Part
	for _, p := range parts {
		if p.Kind != sdk.PartText || p.Text != "" {
			kept = append(kept, p)
		}
	}
	return kept
}

func (r *openaiReader) parts(v gjson.Result) []sdk.Part { return partsOf(v, r.part) }

func (r *openaiReader) part(v gjson.Result) (sdk.Part, bool) {
	switch kind := text(v.Get("type")); kind {
	case "text":
		return sdk.TextPart(text(v.Get("text"))), true
	case "refusal":
		return sdk.TextPart(text(v.Get("refusal"))), true
	case "image_url":
		url := v.Get("image_url.url")
		if !url.Exists() {
			url = v.Get("image_url")
		}
		p, ok := imageOf(text(url))
		if !ok {
			r.dropped.add(kind)
		}
		return p, ok
	case "file":
		if mediaType, data, ok := dataURL(text(v.Get("file.file_data"))); ok {
			return sdk.Part{Kind: sdk.PartDocument, MediaType: mediaType, Data: data}, true
		}
		r.dropped.add(kind)
		return sdk.Part{}, false
	default:
		r.dropped.add(kind)
		return sdk.Part{}, false
	}
}

// call appends a tool call to calls.
func (r *openaiReader) call(calls []sdk.Part, v gjson.Result) []sdk.Part {
	f := v.Get("function")
	if !f.IsObject() {
		r.dropped.add("tool_calls." + text(v.Get("type")))
		return calls
	}
	return append(calls, sdk.Part{
		Kind: sdk.PartToolCall, ID: text(v.Get("id")), Name: text(f.Get("name")), Input: r.arguments(f.Get("arguments")),
	})
}

// tool reads a function. Other kinds of tools belong to the vendor.
func (r *openaiReader) tool(v gjson.Result) {
	f := v.Get("function")
	if !f.IsObject() {
		r.dropped.add("tool " + text(v.Get("type")))
		return
	}
	r.Tools = append(r.Tools, sdk.Tool{
		Name:        text(f.Get("name")),
		Description: text(f.Get("description")),
		Schema:      raw(f.Get("parameters")),
		Strict:      f.Get("strict").Bool(),
	})
}

func (r *openaiReader) toolChoice(v gjson.Result) {
	switch mode := text(v); {
	case mode == "auto" || mode == "none" || mode == "required":
		r.ToolChoice = &sdk.ToolChoice{Mode: mode}
	case v.Get("function.name").Exists():
		r.ToolChoice = &sdk.ToolChoice{Mode: "tool", Name: text(v.Get("function.name"))}
	default:
		r.dropped.add("tool_choice")
	}
}
