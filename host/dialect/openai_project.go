package dialect

// What the vendors of Chat have in common. What is not here belongs to one of
// them (store, prompt_cache_key, service_tier, enable_thinking, …).
var (
	chatFields = []string{
		"model", "messages", "stream", "stream_options", "tools", "tool_choice", "parallel_tool_calls",
		"functions", "function_call", "max_tokens", "max_completion_tokens", "temperature", "top_p", "n", "stop",
		"seed", "presence_penalty", "frequency_penalty", "logit_bias", "logprobs", "top_logprobs",
		"response_format", "reasoning_effort", "thinking", "user",
	}
	chatTool = []string{"type", "function"}
	chatTurn = []string{
		"role", "content", "name", "tool_calls", "tool_call_id", "function_call", "refusal", "reasoning_content", "reasoning",
	}
)

func (openai) Project(body []byte, o Outbound) ([]byte, []string, error) {
	p := &chatProjection{projection: projection{Outbound: o, ids: o.callIDs(chatIDs)}}
	p.effort = given(member(body, "reasoning_effort"))
	out, err := p.project(body, chatFields, p.field)
	if err != nil {
		return nil, nil, err
	}
	if p.strange() {
		out = p.limit(out)
	}
	return out, p.dropped, nil
}

type chatProjection struct {
	projection
	effort bool // reasoning_effort is set
}

func (p *chatProjection) field(key, val []byte) []byte {
	switch string(key) {
	case "messages":
		return rewrite(val, func(_, m []byte) []byte { return p.turn(m) })
	case "tools":
		return p.tools(val, p.tool)
	case "stream_options":
		if p.strange() && p.Quirks.NoStreamUsage {
			p.dropped.add("stream_options")
			return nil
		}
	case "thinking": // OpenAI does not know it, Kimi not beside an effort
		if p.strange() && (p.effort || !p.Quirks.ReasoningContent) {
			p.dropped.add("thinking")
			return nil
		}
	}
	return val
}

// tool is a function. Other kinds are the vendor's own.
func (p *chatProjection) tool(tool []byte) []byte {
	if len(member(tool, "function")) == 0 {
		return p.vendors(tool)
	}
	return only(tool, &p.dropped, "tools.", chatTool)
}

// limit names the answer's limit as the vendor does.
func (p *chatProjection) limit(body []byte) []byte {
	from, to := "max_completion_tokens", "max_tokens"
	if p.Quirks.MaxCompletionTokens {
		from, to = to, from
	}
	limit := member(body, from)
	if !given(limit) || given(member(body, to)) {
		return body
	}
	return with(omit(omit(body, from), to), to, limit)
}

func (p *chatProjection) turn(raw []byte) []byte {
	if p.strange() {
		raw = only(raw, &p.dropped, "messages.", chatTurn)
	}
	assistant, calls := false, false
	var reasoning, relayed []byte // relays call it otherwise
	raw = rewrite(raw, func(key, val []byte) []byte {
		switch string(key) {
		case "role":
			assistant = string(val) == `"assistant"`
			if p.strange() && string(val) == `"developer"` { // newer than most vendors; all know this one
				return []byte(`"system"`)
			}
		case "content":
			if p.strange() && val[0] == '[' {
				return rewrite(val, func(_, part []byte) []byte { return p.without(part, "cache_control") })
			}
		case "tool_calls":
			if val[0] == '[' {
				calls = true
				return rewrite(val, func(_, call []byte) []byte {
					return rewrite(call, func(key, val []byte) []byte {
						if string(key) == "id" {
							return rename(val, p.ids.call)
						}
						return val
					})
				})
			}
		case "tool_call_id":
			return rename(val, p.ids.result)
		case "reasoning_content":
			reasoning = val
		case "reasoning":
			relayed = val
		}
		return val
	})
	switch {
	case p.strange() && !p.Quirks.ReasoningContent:
		raw = p.without(raw, "reasoning_content", "reasoning")
	case p.Quirks.ReasoningContent && assistant && p.lacks(reasoning) && (calls || filled(relayed)):
		if !filled(relayed) {
			relayed = []byte(`"` + someThought + `"`)
		}
		raw = with(omit(omit(raw, "reasoning_content"), "reasoning"), "reasoning_content", relayed)
	}
	return raw
}

// lacks reports whether there is no reasoning that counts. What is empty counts
// for the vendor that may have said so itself.
func (p *chatProjection) lacks(reasoning []byte) bool {
	return !filled(reasoning) && (!p.Home || string(reasoning) != `""`)
}
