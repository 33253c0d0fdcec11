package dialect

import (
	"bytes"
	"slices"
)

// What the vendors of Responses have in common. The rest is OpenAI's (include,
// prompt_cache_key, client_metadata, truncation, …).
var (
	responsesFields = []string{
		"model", "input", "instructions", "stream", "tools", "tool_choice", "parallel_tool_calls",
		"max_output_tokens", "temperature", "top_p", "reasoning", "text", "store", "user",
	}
	responsesItems = []string{
		"message", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output",
	}
	anybodysTools = []string{"function", "custom"}
)

func (responses) Project(body []byte, o Outbound) ([]byte, []string, error) {
	p := &itemProjection{projection{Outbound: o, ids: o.callIDs(responsesIDs)}}
	out, err := p.project(body, responsesFields, p.field)
	return out, p.dropped, err
}

type itemProjection struct{ projection }

func (p *itemProjection) field(key, val []byte) []byte {
	switch string(key) {
	case "input":
		if val[0] == '[' {
			return rewrite(val, func(_, item []byte) []byte { return p.item(item) })
		}
	case "tools":
		return p.tools(val, p.tool)
	case "store": // nobody else is to keep what the caller leaves with its own vendor
		if p.strange() && string(val) == "true" {
			p.dropped.add("store")
			return []byte("false")
		}
	}
	return val
}

func (p *itemProjection) tool(tool []byte) []byte {
	if !slices.Contains(anybodysTools, unquote(member(tool, "type"))) {
		return p.vendors(tool)
	}
	return tool
}

// item projects one item; nil leaves it out. Ids name what a vendor has kept
// and are of no use to another; a call and its result pair by call_id.
func (p *itemProjection) item(item []byte) []byte {
	kind := unquote(member(item, "type"))
	s := sealIn(item)
	switch {
	case s != 0 && p.owns(s):
	case s != 0, kind == "reasoning" && (!p.Home || isMade(member(item, "id"))):
		p.dropped.add(kind)
		return nil
	case p.strange() && kind != "" && !slices.Contains(responsesItems, kind):
		p.dropped.add(kind)
		return nil
	}
	return rewrite(item, func(key, val []byte) []byte {
		switch string(key) {
		case "call_id":
			return rename(val, p.ids.result)
		case "id":
			if p.strange() {
				return nil
			}
		}
		return val
	})
}

// madePrefix begins the ids of reasoning that our encoder has made of another
// dialect's. OpenAI would look for it among what it keeps.
const madePrefix = "rs_spillway_"

// isMade reports whether the JSON string raw is such an id.
func isMade(raw []byte) bool { return bytes.HasPrefix(plain(raw), []byte(madePrefix)) }
