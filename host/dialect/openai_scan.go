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
	m := Mark{Kind: MarkNoise}
	var usage []byte
	failed, message, choices := false, false, false
	w := walker{b: data}
	for in := w.enter('{'); in && w.name(); {
		switch string(w.key) {
		case "choices":
			if !w.enter('[') {
				choices = given(w.value())
				continue
			}
			choices = true
			for w.more() {
				scanChoice(&m, &w)
			}
		case "usage":
			usage = w.value()
		case "error":
			failed = isError(w.value()) || failed
		case "code", "message", "msg", "detail":
			message = given(w.value()) || message
		default:
			w.value()
		}
	}
	// A chunk that has nothing of a chunk but a message is an error in a form
	// of the vendor's own.
	if failed || message && !choices && !given(usage) {
		return Mark{Kind: MarkError}
	}
	if u := openaiUsage(usage); u != (sdk.Usage{}) {
		m.Usage = u
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

func scanChoice(m *Mark, w *walker) {
	if !w.enter('{') {
		w.value()
		return
	}
	for w.name() {
		switch string(w.key) {
		case "delta":
			m.Visible |= openaiVisible(w)
		case "usage": // some vendors report it here
			if u := openaiUsage(w.value()); m.Usage == (sdk.Usage{}) {
				m.Usage = u
			}
		case "finish_reason":
			reason := w.value()
			if !filled(reason) {
				continue
			}
			finish, broken := openaiFinish(string(plain(reason)))
			switch {
			case broken:
				m.Kind, m.Finish = MarkError, ""
			case m.Kind != MarkError:
				m.Kind, m.Finish = MarkFinish, finish
			}
		default:
			w.value()
		}
	}
}

// openaiVisible says what the delta or message that w has come to shows.
func openaiVisible(w *walker) (v sdk.Visible) {
	if !w.enter('{') {
		w.value()
		return 0
	}
	for w.name() {
		switch string(w.key) {
		case "content", "refusal":
			if filled(w.value()) {
				v |= sdk.VisibleText
			}
		case "reasoning_content", "reasoning":
			if filled(w.value()) {
				v |= sdk.VisibleReasoning
			}
		case "tool_calls":
			for calls := walk(w.value()); calls.element(); {
				if hasArguments(calls.val) {
					v |= sdk.VisibleToolCall
				}
			}
		default:
			w.value()
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
