package dialect

import (
	"encoding/base64"
	"strings"

	"github.com/tidwall/gjson"

	"spillway/sdk"
)

// billingText begins the system text in which an agent reports its version to
// this vendor's billing. No other vendor has a use for it.
const billingText = "x-anthropic-billing-header:"

func (a anthropic) ParseRequest(body []byte) (*sdk.Prompt, error) {
	if _, err := a.Inspect(body); err != nil {
		return nil, err
	}
	r := &anthropicReader{}
	fields(gjson.ParseBytes(body), r.field)
	return r.done(), nil
}

type anthropicReader struct{ promptReader }

func (r *anthropicReader) field(key string, v gjson.Result) {
	switch key {
	case "model", "stream":
	case "system":
		r.system(v)
	case "messages":
		elements(v, r.message)
	case "tools":
		elements(v, r.tool)
	case "tool_choice":
		r.toolChoice(v)
	case "max_tokens":
		r.MaxTokens = count([]byte(v.Raw))
	case "temperature":
		r.Temperature = number(v)
	case "top_p":
		r.TopP = number(v)
	case "stop_sequences":
		elements(v, func(s gjson.Result) { r.Stop = append(r.Stop, text(s)) })
	case "thinking":
		kind := text(v.Get("type"))
		r.Reasoning = kind == "enabled" || kind == "adaptive"
		if kind == "disabled" {
			r.dropped.add("thinking.disabled")
		}
		if v.Get("budget_tokens").Exists() {
			r.dropped.add("thinking.budget_tokens")
		}
	case "output_config":
		fields(v, r.outputConfig)
	case "output_format":
		r.format(v)
	case "metadata":
		fields(v, r.metadata)
	default:
		r.dropped.add(key)
	}
}

func (r *anthropicReader) outputConfig(key string, v gjson.Result) {
	switch key {
	case "effort":
		r.Effort = text(v)
	case "format":
		r.format(v)
	default:
		r.dropped.add("output_config." + key)
	}
}

func (r *anthropicReader) format(v gjson.Result) {
	if schema := raw(v.Get("schema")); schema != nil {
		r.Schema = &sdk.Schema{Schema: schema, Strict: true}
		return
	}
	r.dropped.add("output_format")
}

// metadata keeps a user id. What agents put there instead names a device and an
// account, which is nobody else's business.
func (r *anthropicReader) metadata(key string, v gjson.Result) {
	id := text(v)
	if key != "user_id" || strings.HasPrefix(id, "{") || strings.Contains(id, "_session_") {
		r.dropped.add("metadata." + key)
		return
	}
	r.User = id
}

func (r *anthropicReader) system(v gjson.Result) {
	for _, p := range r.parts(v) {
		if strings.HasPrefix(p.Text, billingText) {
			r.dropped.add(strings.TrimSuffix(billingText, ":"))
			continue
		}
		r.System = append(r.System, p)
	}
}

func (r *anthropicReader) message(v gjson.Result) {
	role := sdk.RoleUser
	var parts []sdk.Part
	fields(v, func(key string, v gjson.Result) {
		switch key {
		case "role":
			switch name := text(v); name {
			case "user":
			case "assistant":
				role = sdk.RoleAssistant
			case "system":
				role = sdk.RoleSystem
			default:
				r.dropped.add("role " + name)
			}
		case "content":
			parts = r.parts(v)
		default:
			r.dropped.add("messages." + key)
		}
	})
	r.say(role, parts)
}

func (r *anthropicReader) parts(v gjson.Result) []sdk.Part { return partsOf(v, r.part) }

func (r *anthropicReader) part(v gjson.Result) (sdk.Part, bool) {
	switch kind := text(v.Get("type")); kind {
	case "text":
		return sdk.TextPart(text(v.Get("text"))), true
	case "image":
		return r.source(sdk.PartImage, kind, v.Get("source"))
	case "document":
		return r.source(sdk.PartDocument, kind, v.Get("source"))
	case "tool_use":
		p := sdk.Part{Kind: sdk.PartToolCall, ID: text(v.Get("id")), Name: text(v.Get("name")), Input: raw(v.Get("input"))}
		return p, true
	case "tool_result":
		p := sdk.Part{Kind: sdk.PartToolResult, ID: text(v.Get("tool_use_id")), Error: v.Get("is_error").Bool()}
		if content := v.Get("content"); content.Type == gjson.String {
			p.Result = []sdk.Part{sdk.TextPart(text(content))}
		} else {
			elements(content, func(block gjson.Result) {
				if text(block.Get("type")) == "tool_result" {
					r.dropped.add("tool_result") // one inside another: nobody sends it
				} else if inner, ok := r.part(block); ok {
					p.Result = append(p.Result, inner)
				}
			})
		}
		return p, true
	case "thinking":
		return sdk.Part{Kind: sdk.PartReasoning, Text: text(v.Get("thinking")), Signature: text(v.Get("signature"))}, true
	case "redacted_thinking":
		return sdk.Part{Kind: sdk.PartReasoning, Redacted: text(v.Get("data"))}, true
	default:
		r.dropped.add(kind)
		return sdk.Part{}, false
	}
}

// source reads where the bytes of an image or a document are.
func (r *anthropicReader) source(kind sdk.PartKind, name string, v gjson.Result) (sdk.Part, bool) {
	p := sdk.Part{Kind: kind, MediaType: text(v.Get("media_type"))}
	switch form := text(v.Get("type")); form {
	case "base64":
		p.Data = text(v.Get("data"))
	case "url":
		p.URL = text(v.Get("url"))
	case "text":
		p.Data = base64.StdEncoding.EncodeToString([]byte(text(v.Get("data"))))
	default:
		r.dropped.add(name + "." + form)
		return sdk.Part{}, false
	}
	return p, true
}

// tool reads a tool. Those without a schema are the vendor's own.
func (r *anthropicReader) tool(v gjson.Result) {
	name := text(v.Get("name"))
	if !v.Get("input_schema").IsObject() {
		r.dropped.add("tool " + name)
		return
	}
	t := sdk.Tool{Name: name}
	fields(v, func(key string, v gjson.Result) {
		switch key {
		case "name", "type":
		case "description":
			t.Description = text(v)
		case "input_schema":
			t.Schema = raw(v)
		case "strict":
			t.Strict = v.Bool()
		default:
			r.dropped.add("tools." + key)
		}
	})
	r.Tools = append(r.Tools, t)
}

func (r *anthropicReader) toolChoice(v gjson.Result) {
	if d := v.Get("disable_parallel_tool_use"); d.IsBool() {
		parallel := !d.Bool()
		r.ParallelTools = &parallel
	}
	switch kind := text(v.Get("type")); kind {
	case "auto", "none":
		r.ToolChoice = &sdk.ToolChoice{Mode: kind}
	case "any":
		r.ToolChoice = &sdk.ToolChoice{Mode: "required"}
	case "tool":
		r.ToolChoice = &sdk.ToolChoice{Mode: kind, Name: text(v.Get("name"))}
	default:
		r.dropped.add("tool_choice")
	}
}
