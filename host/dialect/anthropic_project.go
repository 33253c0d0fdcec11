package dialect

import (
	"bytes"
	"strings"
)

// What the vendors of Messages have in common: DeepSeek's and Moonshot's
// compatibility pages list these and ignore or refuse the rest.
var (
	messagesFields = []string{
		"model", "messages", "system", "max_tokens", "stream", "temperature", "top_p", "top_k",
		"stop_sequences", "tools", "tool_choice", "thinking", "output_config",
	}
	messagesTool     = []string{"name", "description", "input_schema"}
	messagesThinking = []string{"type", "budget_tokens"}
	messagesOutput   = []string{"effort", "format"}
	messagesTurn     = []string{"role", "content"}
)

// supplied is the block for someThought.
var supplied = []byte(`{"type":"thinking","thinking":"` + someThought + `","signature":""}`)

func (anthropic) Project(body []byte, o Outbound) ([]byte, []string, error) {
	p := &messagesProjection{projection: projection{Outbound: o, ids: o.callIDs(messagesIDs)}}
	out, err := p.project(body, messagesFields, p.field)
	if err != nil {
		return nil, nil, err
	}
	if kind := unquote(member(member(body, "thinking"), "type")); kind == "enabled" && p.lacksThought() {
		out = p.still(out)
	}
	return out, p.dropped, nil
}

type messagesProjection struct {
	projection
	past    past
	calling bool // the last message calls tools
	looping bool // the last message has a tool's result
}

// lacksThought reports whether the vendor would miss the reasoning with which
// the tool loop under way began. "When `thinking` is enabled, a final
// `assistant` message must start with a thinking block (preceeding the lastmost
// set of `tool_use` and `tool_result` blocks) … To avoid this requirement,
// disable `thinking`", says its refusal. Adaptive thinking has no such rule
// (platform.claude.com, Adaptive thinking).
func (p *messagesProjection) lacksThought() bool {
	return p.Quirks.SealedReasoning && p.looping && !thinks(p.past.begun)
}

// still turns reasoning off for this one request, and with it the edits of
// context that "require `thinking` to be enabled or adaptive". The blocks of
// earlier turns may stay: they are passed over.
func (p *messagesProjection) still(body []byte) []byte {
	return rewrite(body, func(key, val []byte) []byte {
		switch string(key) {
		case "thinking":
			p.dropped.add("thinking")
			return []byte(`{"type":"disabled"}`)
		case "context_management":
			p.dropped.add("context_management")
			return nil
		}
		return val
	})
}

func (p *messagesProjection) field(key, val []byte) []byte {
	switch string(key) {
	case "messages":
		return p.messages(val)
	case "system":
		if p.strange() {
			return list(val, p.system)
		}
	case "tools":
		return p.tools(val, p.tool)
	case "thinking":
		if p.strange() {
			return only(val, &p.dropped, "thinking.", messagesThinking)
		}
	case "output_config":
		if p.strange() {
			return only(val, &p.dropped, "output_config.", messagesOutput)
		}
	}
	return val
}

func (p *messagesProjection) system(block []byte) []byte {
	if bytes.HasPrefix(plain(member(block, "text")), []byte(billingText)) {
		p.dropped.add(strings.TrimSuffix(billingText, ":"))
		return nil
	}
	return p.without(block, "cache_control")
}

// tool is a tool that anybody can offer. One without a schema is the vendor's
// own.
func (p *messagesProjection) tool(tool []byte) []byte {
	if len(member(tool, "input_schema")) == 0 {
		return p.vendors(tool)
	}
	return only(tool, &p.dropped, "tools.", messagesTool)
}

// messages goes through the turns. The caller's system turns in their midst are
// for the newest of the vendor's own models only; as the user's they must not
// come between a call and its result.
func (p *messagesProjection) messages(raw []byte) []byte {
	var turns, late [][]byte
	changed := false
	for w := walk(raw); w.element(); {
		t := turnProjection{messagesProjection: p, role: unquote(member(w.val, "role"))}
		turn := t.turn(w.val)
		changed = changed || !same(turn, w.val)
		switch {
		case turn == nil:
			continue
		case t.role == "system" && p.strange() && p.calling:
			late = append(late, turn)
			continue
		case t.role != "system":
			p.past.turn(t.role, t.content)
			p.calling, p.looping = t.calls > 0, t.result
		}
		turns = append(turns, turn)
		if !p.calling {
			turns, late = append(turns, late...), nil
		}
	}
	if !changed {
		return raw
	}
	joined := bytes.Join(append(turns, late...), []byte(","))
	return append(append([]byte{'['}, joined...), ']')
}

// turnProjection is one message, and what was seen in it.
type turnProjection struct {
	*messagesProjection
	content // that stays
	role    string
}

// turn projects a message; nil if nothing is left of it.
func (t *turnProjection) turn(raw []byte) []byte {
	if t.strange() {
		raw = only(raw, &t.dropped, "messages.", messagesTurn)
	}
	empty := false
	raw = rewrite(raw, func(key, val []byte) []byte {
		switch string(key) {
		case "role":
			if t.role == "system" && t.strange() {
				t.dropped.add("role system")
				return []byte(`"user"`)
			}
		case "content":
			blocks := t.blocks(val)
			empty = blocks == nil
			return blocks
		}
		return val
	})
	if empty {
		return nil
	}
	return raw
}

func (t *turnProjection) blocks(raw []byte) []byte {
	if raw[0] != '[' {
		t.first = "text"
		return raw
	}
	blocks := list(raw, t.block)
	if t.calls > 0 && !t.reasons && t.Quirks.ReasoningContent {
		rest := blocks[1:] // of the list
		blocks = append(append(append([]byte{'['}, supplied...), ','), rest...)
	}
	return blocks
}

func (t *turnProjection) block(raw []byte) []byte {
	kind := unquote(member(raw, "type"))
	switch kind {
	case "thinking", "redacted_thinking":
		if !t.keeps(raw) {
			t.dropped.add(kind)
			return nil
		}
		t.reasons = true
	case "tool_use":
		t.calls++
		raw = t.called(raw, "id", t.ids.call)
	case "tool_result":
		t.result = true
		raw = t.called(raw, "tool_use_id", t.ids.result)
	case "text", "image", "document":
	default:
		if t.strange() { // of the tools that the other vendor runs
			t.dropped.add(kind)
			return nil
		}
	}
	if t.first == "" {
		t.first = kind
	}
	if t.strange() {
		raw = t.without(raw, "cache_control", "caller", "citations")
	}
	return raw
}

// called writes the id of a call as the vendor wants it, and projects what a
// result holds.
func (t *turnProjection) called(raw []byte, name string, id func(string) string) []byte {
	return rewrite(raw, func(key, val []byte) []byte {
		switch {
		case string(key) == name:
			return rename(val, id)
		case string(key) == "content" && val[0] == '[' && t.strange():
			return rewrite(val, func(_, inner []byte) []byte {
				return t.without(inner, "cache_control", "citations")
			})
		}
		return val
	})
}

// keeps reports whether the vendor takes a block of reasoning: one that it has
// sealed itself. One that nobody has sealed goes to whom seals mean nothing,
// which is the caller's own vendor, if it seals none, or one that wants to be
// given reasoning.
func (p *projection) keeps(block []byte) bool {
	if s := sealIn(block); s != 0 {
		return p.owns(s)
	}
	return !p.Quirks.SealedReasoning && (p.Home || p.Quirks.ReasoningContent && filled(member(block, "thinking")))
}
