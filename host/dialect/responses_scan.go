package dialect

import "spillway/sdk"

func (responses) Scan(event string, data []byte) Mark {
	switch {
	case event == "error":
		return Mark{Kind: MarkError} // whatever it carries
	case len(data) == 0:
		return Mark{Kind: MarkNoise}
	case isDone(data):
		return Mark{Kind: MarkTerminal} // of relays; an answer has ended before
	case !valid(data):
		return Mark{}
	}
	m := Mark{Kind: MarkNoise}
	failed, message := false, false
	var kind, delta, item, response []byte
	for w := walk(data); w.member(); {
		switch string(w.key) {
		case "type":
			kind = plain(w.val)
		case "sequence_number":
			m.Number = count(w.val)
		case "delta":
			delta = w.val
		case "item":
			item = w.val
		case "response":
			response = w.val
		case "error":
			failed = failed || isError(w.val)
		case "code", "message", "msg", "detail":
			message = message || given(w.val)
		}
	}
	if kind == nil {
		kind = []byte(event)
	}
	if failed || message && len(kind) == 0 {
		return Mark{Kind: MarkError, Number: m.Number}
	}
	switch string(kind) {
	case "error", "response.failed":
		m.Kind = MarkError
	case "response.created":
		for w := walk(response); w.member(); {
			if string(w.key) == "id" {
				m.ID = unquote(w.val)
			}
		}
	case "response.output_item.added":
		m.Hosted = responsesHosted(item)
	case "response.output_item.done":
		m.Visible, m.Seal = responsesShown(item), sealIn(item)
		m.Hosted = responsesHosted(item)
	case "response.completed", "response.incomplete":
		finish, broken := responsesEnding(kind, response)
		if broken {
			return Mark{Kind: MarkError, Number: m.Number}
		}
		m.Kind, m.Finish = MarkTerminal, finish
		for w := walk(response); w.member(); {
			switch string(w.key) {
			case "usage":
				m.Usage = responsesUsage(w.val)
			case "output":
				for i := walk(w.val); i.element(); {
					m.Visible |= responsesShown(i.val)
				}
			}
		}
	default:
		if block := responsesBlock(kind); block != 0 && filled(delta) {
			m.Visible = visibleOf(block)
		}
	}
	if m.Kind == MarkNoise && m.Visible != 0 {
		m.Kind = MarkContent
	}
	return m
}

// responsesEnding reads the finish that an event brings. Some vendors say only
// by the event's name that the answer was cut.
func responsesEnding(event, response []byte) (f sdk.Finish, broken bool) {
	f, broken = responsesFinish(response)
	if string(event) == "response.incomplete" && !broken && f != sdk.FinishRefusal {
		f = sdk.FinishMaxTokens
	}
	return f, broken
}

// responsesShown says what an item shows that is given as a whole. Some vendors
// send no pieces before it.
func responsesShown(item []byte) sdk.Visible {
	var v sdk.Visible
	var kind []byte
	for w := walk(item); w.member(); {
		switch string(w.key) {
		case "type":
			kind = plain(w.val)
		case "arguments":
			if filled(w.val) || w.val[0] == '{' {
				v |= sdk.VisibleToolCall
			}
		case "content", "summary":
			for part := walk(w.val); part.element(); {
				for p := walk(part.val); p.member(); {
					if (string(p.key) == "text" || string(p.key) == "refusal") && filled(p.val) {
						v |= sdk.VisibleText
					}
				}
			}
		}
	}
	switch {
	case string(kind) == "custom_tool_call": // takes a text, which may be empty
		return sdk.VisibleToolCall
	case string(kind) == "reasoning" && v != 0:
		return sdk.VisibleReasoning
	}
	return v
}

// responsesHosted reports whether an item is neither words nor a call that the
// caller makes: then the vendor runs something.
func responsesHosted(item []byte) bool {
	for w := walk(item); w.member(); {
		if string(w.key) == "type" {
			switch string(plain(w.val)) {
			case "message", "reasoning", "function_call", "custom_tool_call",
				"local_shell_call", "computer_call", "apply_patch_call":
				return false
			}
			return true
		}
	}
	return false
}

// responsesBlock is the kind of block that an event brings a piece of, 0 if it
// brings none.
func responsesBlock(event []byte) sdk.BlockKind {
	switch string(event) {
	case "response.output_text.delta", "response.refusal.delta":
		return sdk.BlockText
	case "response.reasoning_text.delta", "response.reasoning_summary_text.delta":
		return sdk.BlockReasoning
	case "response.function_call_arguments.delta", "response.custom_tool_call_input.delta":
		return sdk.BlockToolCall
	}
	return 0
}

func visibleOf(k sdk.BlockKind) sdk.Visible {
	switch k {
	case sdk.BlockReasoning:
		return sdk.VisibleReasoning
	case sdk.BlockToolCall:
		return sdk.VisibleToolCall
	case sdk.BlockText:
	}
	return sdk.VisibleText
}
