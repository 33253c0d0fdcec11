package dialecttest

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Vendor is what one vendor takes of a request's history.
type Vendor struct {
	Made      func(seal string) bool // it has made this signature, or encrypted content; nil: none
	Unsigned  bool                   // takes reasoning of Messages that nobody has signed
	Reasoning bool                   // demands reasoning of turns that call tools
	Begun     bool                   // demands that a tool loop began with reasoning, where thinking goes by a budget
	Common    bool                   // takes what the vendors of the dialect have in common
}

// CheckRequest reports the first reason for which a strict vendor would refuse a
// request. The rules are those of the vendors' references and of refusals that
// their users have reported.
func CheckRequest(dialect string, body []byte, v Vendor) error {
	var r map[string]any
	if err := json.Unmarshal(body, &r); err != nil {
		return err
	}
	if r["model"] == nil {
		return errors.New("no model")
	}
	if v.Common {
		for _, name := range []string{
			"metadata", "context_management", "safeguards", "prompt_cache_key", "include", "client_metadata", "service_tier",
		} {
			if r[name] != nil {
				return fmt.Errorf("field %q", name)
			}
		}
		if strings.Contains(string(body), `"cache_control"`) {
			return errors.New("a cache marker")
		}
	}
	switch dialect {
	case "anthropic":
		return v.messages(r)
	case "openai":
		return v.chat(r)
	case "responses":
		return v.items(r)
	}
	return fmt.Errorf("dialect %q: unknown", dialect)
}

var (
	toolUseID = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	knownPart = strings.Fields("text image document tool_use tool_result thinking redacted_thinking")
)

// messages checks turns of Messages: neighbours of one role are one turn.
func (v Vendor) messages(r map[string]any) error {
	var open []string // calls without a result
	used := map[string]bool{}
	begun := "" // first block of the assistant's turn under way
	result := false
	for i, m := range objects(r["messages"]) {
		role, at := text(m, "role"), fmt.Sprintf("messages[%d]", i)
		if role == "system" && !v.Common {
			continue
		}
		if role != "user" && role != "assistant" {
			return fmt.Errorf("%s: role %q", at, role)
		}
		content := objects(m["content"])
		if s, ok := m["content"].(string); ok {
			content = []map[string]any{{"type": "text", "text": s}}
		}
		if len(content) == 0 {
			return fmt.Errorf("%s: no content", at)
		}
		answered := role == "user" && len(open) > 0
		reasons, calls := false, false
		result = false
		for j, b := range content {
			kind := text(b, "type")
			if role == "assistant" && begun == "" {
				begun = kind
			}
			if v.Common && !slices.Contains(knownPart, kind) {
				return fmt.Errorf("%s: block %q", at, kind)
			}
			switch kind {
			case "text":
				if text(b, "text") == "" {
					return fmt.Errorf("%s: empty text", at)
				}
			case "thinking", "redacted_thinking":
				if err := v.thinking(b); err != nil {
					return fmt.Errorf("%s: %w", at, err)
				}
				reasons = true
			case "tool_use":
				id := text(b, "id")
				if used[id] || !toolUseID.MatchString(id) || role != "assistant" {
					return fmt.Errorf("%s: tool_use %q", at, id)
				}
				used[id], calls = true, true
				open = append(open, id)
			case "tool_result":
				k := slices.Index(open, text(b, "tool_use_id"))
				if k < 0 || role != "user" || j > 0 && text(content[j-1], "type") != "tool_result" {
					return fmt.Errorf("%s: tool_result %q", at, text(b, "tool_use_id"))
				}
				open = slices.Delete(open, k, k+1)
				result = true
			}
		}
		switch {
		case answered && len(open) > 0 || role == "assistant" && len(open) > 0 && !calls:
			return fmt.Errorf("%s: no result of %q", at, open)
		case calls && v.Reasoning && !reasons:
			return fmt.Errorf("%s: a call without reasoning", at)
		case role == "user" && !result:
			begun = ""
		}
	}
	if thinking, _ := r["thinking"].(map[string]any); text(thinking, "type") == "enabled" &&
		v.Begun && result && !strings.HasSuffix(begun, "thinking") {
		return fmt.Errorf("thinking is enabled, and the tool loop under way began with %q", begun)
	}
	return unanswered(open)
}

func (v Vendor) thinking(b map[string]any) error {
	seal := text(b, "signature") + text(b, "data")
	switch {
	case seal == "" && v.Unsigned && (text(b, "thinking") != "" || !v.Reasoning):
	case seal != "" && v.Made != nil && v.Made(seal):
	default:
		return fmt.Errorf("reasoning with the seal %q", seal)
	}
	return nil
}

func unanswered(open []string) error {
	if len(open) > 0 {
		return fmt.Errorf("no result of %q", open)
	}
	return nil
}

func (v Vendor) chat(r map[string]any) error {
	var open []string
	for i, m := range objects(r["messages"]) {
		role, at := text(m, "role"), fmt.Sprintf("messages[%d]", i)
		switch role {
		case "system", "user", "assistant":
		case "developer":
			if v.Common {
				return fmt.Errorf("%s: role %q", at, role)
			}
		case "tool":
			k := slices.Index(open, text(m, "tool_call_id"))
			if k < 0 {
				return fmt.Errorf("%s: result of %q", at, text(m, "tool_call_id"))
			}
			open = slices.Delete(open, k, k+1)
			continue
		default:
			return fmt.Errorf("%s: role %q", at, role)
		}
		if err := unanswered(open); err != nil {
			return fmt.Errorf("%s: %w", at, err)
		}
		calls := objects(m["tool_calls"])
		for _, c := range calls {
			if id := text(c, "id"); id == "" || v.Common && len(id) > 40 {
				return fmt.Errorf("%s: call %q", at, id)
			}
			open = append(open, text(c, "id"))
		}
		switch reasoning := text(m, "reasoning_content"); {
		case len(calls) > 0 && v.Reasoning && reasoning == "":
			return fmt.Errorf("%s: a call without reasoning", at)
		case v.Common && !v.Reasoning && m["reasoning_content"] != nil:
			return fmt.Errorf("%s: reasoning", at)
		case role == "assistant" && m["content"] == nil && len(calls) == 0:
			return fmt.Errorf("%s: nothing", at)
		}
	}
	return unanswered(open)
}

func (v Vendor) items(r map[string]any) error {
	var open []string
	for i, it := range objects(r["input"]) {
		kind, id, at := text(it, "type"), text(it, "call_id"), fmt.Sprintf("input[%d]", i)
		if sealed := text(it, "encrypted_content"); sealed != "" && (v.Made == nil || !v.Made(sealed)) {
			return fmt.Errorf("%s: encrypted content %q", at, sealed)
		}
		if v.Common && it["id"] != nil && text(it, "encrypted_content") == "" {
			return fmt.Errorf("%s: the id %q", at, text(it, "id"))
		}
		switch {
		case kind == "reasoning" && text(it, "encrypted_content") == "" && (v.Common || strings.Contains(text(it, "id"), "spillway")):
			return fmt.Errorf("%s: reasoning that nobody keeps", at)
		case strings.HasSuffix(kind, "_call"):
			if id == "" || v.Common && len(id) > 64 {
				return fmt.Errorf("%s: call %q", at, id)
			}
			open = append(open, id)
		case strings.HasSuffix(kind, "_call_output"):
			k := slices.Index(open, id)
			if k < 0 {
				return fmt.Errorf("%s: output of %q", at, id)
			}
			open = slices.Delete(open, k, k+1)
		}
	}
	return unanswered(open)
}

// objects are the objects of a list.
func objects(v any) []map[string]any {
	list, _ := v.([]any)
	var all []map[string]any
	for _, e := range list {
		if m, ok := e.(map[string]any); ok {
			all = append(all, m)
		}
	}
	return all
}

func text(m map[string]any, name string) string {
	s, _ := m[name].(string)
	return s
}
