package dialect

import (
	"bytes"

	"spillway/sdk"
)

func (openai) Scan(event string, data []byte) Mark {
	switch {
	case event == "error":
		return Mark{Kind: MarkError} // whatever it carries
	case len(data) == 0:
		return Mark{Kind: MarkNoise}
	case isDone(data):
		return Mark{Kind: MarkTerminal}
	case !valid(data):
		return Mark{}
	}
	var choices, usage []byte
	failed, message := false, false
	for w := walk(data); w.member(); {
		switch string(w.key) {
		case "choices":
			choices = w.val
		case "usage":
			usage = w.val
		case "error":
			failed = failed || isError(w.val)
		case "code", "message", "msg", "detail":
			message = message || given(w.val)
		}
	}
	// A chunk that has nothing of a chunk but a message is an error in a form
	// of the vendor's own.
	if failed || message && !given(choices) && !given(usage) {
		return Mark{Kind: MarkError}
	}
	m := Mark{Kind: MarkNoise, Usage: openaiUsage(usage)}
	for w := walk(choices); w.element(); {
		scanChoice(&m, w.val)
	}
	if m.Kind == MarkNoise && m.Visible != 0 {
		m.Kind = MarkContent
	}
	return m
}

// isDone reports whether data is the sentinel.
func isDone(data []byte) bool { return string(bytes.TrimSpace(data)) == "[DONE]" }

// isError tells an error from the empty values some vendors put in every chunk.
func isError(raw []byte) bool {
	switch string(raw) {
	case "null", "false", `""`, "{}", "0":
		return false
	}
	return true
}

func scanChoice(m *Mark, raw []byte) {
	for w := walk(raw); w.member(); {
		switch string(w.key) {
		case "delta":
			m.Visible |= openaiVisible(w.val)
		case "usage": // some vendors report it here
			if m.Usage == (sdk.Usage{}) {
				m.Usage = openaiUsage(w.val)
			}
		case "finish_reason":
			if !filled(w.val) {
				continue
			}
			finish, broken := openaiFinish(string(plain(w.val)))
			switch {
			case broken:
				m.Kind, m.Finish = MarkError, ""
			case m.Kind != MarkError:
				m.Kind, m.Finish = MarkFinish, finish
			}
		}
	}
}

// openaiVisible says what a delta shows.
func openaiVisible(raw []byte) sdk.Visible {
	var v sdk.Visible
	for w := walk(raw); w.member(); {
		switch string(w.key) {
		case "content", "refusal":
			if filled(w.val) {
				v |= sdk.VisibleText
			}
		case "reasoning_content", "reasoning":
			if filled(w.val) {
				v |= sdk.VisibleReasoning
			}
		case "tool_calls":
			for calls := walk(w.val); calls.element(); {
				if hasArguments(calls.val) {
					v |= sdk.VisibleToolCall
				}
			}
		}
	}
	return v
}

func hasArguments(call []byte) bool {
	for w := walk(call); w.member(); {
		if string(w.key) != "function" {
			continue
		}
		for f := walk(w.val); f.member(); {
			if string(f.key) == "arguments" && (filled(f.val) || f.val[0] == '{') {
				return true
			}
		}
	}
	return false
}
