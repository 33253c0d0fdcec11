package dialect

import (
	"slices"
	"strings"
)

// someThought is the reasoning that is supplied where a vendor demands some and
// there is none that it takes: DeepSeek and Kimi refuse a turn that calls tools
// without any, and Kimi takes an empty one for none.
const someThought = "Calling a tool."

// projection is a request on its way to a vendor that may not be the one whose
// answers it holds. It is made anew from the caller's history each time and from
// nothing else but who made the seals, so that a vendor sees the same past in
// every request: its cache of prompts, and the proof by which Claude ties
// reasoning to all that stood before it, depend on that.
type projection struct {
	Outbound
	dropped  dropped
	ids      callIDs
	toolless bool // all tools were left out
}

// strange reports whether the request was made for another vendor than the one
// that it goes to, and the latter does not own the dialect: it takes what all
// vendors of the dialect have in common.
func (p *projection) strange() bool { return !p.Home && !p.Quirks.AllFields }

// project redirects body, drops the fields that are not common, and gives the
// others to edit.
func (p *projection) project(body []byte, common []string, edit func(key, val []byte) []byte) ([]byte, error) {
	body, lost, err := redirect(body, p.Outbound)
	if err != nil {
		return nil, err
	}
	p.dropped = lost
	body = rewrite(body, func(key, val []byte) []byte {
		if p.strange() && !slices.Contains(common, string(key)) {
			p.dropped.add(string(key))
			return nil
		}
		return edit(key, val)
	})
	if p.toolless { // none can be chosen
		body = p.without(body, "tool_choice", "parallel_tool_calls")
	}
	return body, nil
}

// tools keeps of a list of tools what edit makes of them, if the vendor is not
// the one that they were meant for.
func (p *projection) tools(raw []byte, edit func(tool []byte) []byte) []byte {
	if !p.strange() {
		return raw
	}
	tools := list(raw, edit)
	p.toolless = tools == nil
	return tools
}

// vendors drops a tool that only the vendor which it was meant for can run.
func (p *projection) vendors(tool []byte) []byte {
	kind, name := unquote(member(tool, "type")), unquote(member(tool, "name"))
	p.dropped.add(strings.TrimSpace("tool " + kind + " " + name))
	return nil
}

// list is rewrite for a list, which is left out if nothing is left of it.
func list(raw []byte, edit func(val []byte) []byte) []byte {
	out := rewrite(raw, func(_, val []byte) []byte { return edit(val) })
	if same(out, raw) {
		return raw
	}
	if w := walk(out); !w.element() {
		return nil
	}
	return out
}

// without is the object raw without the named members.
func (p *projection) without(raw []byte, names ...string) []byte {
	if raw[0] != '{' {
		return raw
	}
	return rewrite(raw, func(key, val []byte) []byte {
		if slices.Contains(names, string(key)) {
			p.dropped.add(string(key))
			return nil
		}
		return val
	})
}
