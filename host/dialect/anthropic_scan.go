package dialect

import (
	"bytes"

	"spillway/sdk"
)

func (anthropic) Scan(event string, data []byte) Mark {
	switch {
	case event == "error":
		return Mark{Kind: MarkError} // whatever it carries
	case len(data) == 0:
		return Mark{Kind: MarkNoise}
	case !valid(data):
		return Mark{}
	}
	kind, failed := event, false
	var delta, block, message, usage []byte
	for w := walk(data); w.member(); {
		switch string(w.key) {
		case "type":
			kind = anthropicEvent(w.val)
		case "delta":
			delta = w.val
		case "content_block":
			block = w.val
		case "message":
			message = w.val
		case "usage":
			usage = w.val
		case "error":
			failed = failed || given(w.val)
		}
	}
	if failed || kind == "error" {
		return Mark{Kind: MarkError}
	}
	m := Mark{Kind: MarkNoise}
	switch kind {
	case "content_block_delta":
		m.Visible, m.Seal = anthropicPiece(delta)
	case "content_block_start":
		m.Visible, m.Seal = anthropicPiece(block)
		m.Hosted = anthropicHosted(block)
	case "message_start":
		for w := walk(message); w.member(); {
			if string(w.key) == "usage" {
				m.Usage = anthropicUsage(w.val)
			}
		}
	case "message_delta":
		m.Usage = anthropicUsage(usage)
		for w := walk(delta); w.member(); {
			if string(w.key) == "stop_reason" && filled(w.val) {
				m.Kind, m.Finish = MarkFinish, anthropicFinish(unquote(w.val))
			}
		}
	case "message_stop":
		m.Kind = MarkTerminal
	}
	if m.Visible != 0 {
		m.Kind = MarkContent
	}
	return m
}

// anthropicPiece says what a delta, or the start of a block, shows and seals.
func anthropicPiece(raw []byte) (v sdk.Visible, seal Seal) {
	for w := walk(raw); w.member(); {
		switch string(w.key) {
		case "text":
			if filled(w.val) {
				v |= sdk.VisibleText
			}
		case "thinking":
			if filled(w.val) {
				v |= sdk.VisibleReasoning
			}
		case "partial_json":
			if filled(w.val) {
				v |= sdk.VisibleToolCall
			}
		case "signature", "data":
			seal = sealOf(w.val)
		case "input": // some vendors give the whole call at its start
			if inner := walk(w.val); inner.member() {
				v |= sdk.VisibleToolCall
			}
		}
	}
	return v, seal
}

// anthropicHosted reports whether a block is a call or a result of a tool that
// the vendor runs.
func anthropicHosted(block []byte) bool {
	var kind []byte
	for w := walk(block); w.member(); {
		if string(w.key) == "type" {
			kind = plain(w.val)
		}
	}
	return string(kind) == "server_tool_use" || string(kind) == "mcp_tool_use" || bytes.HasSuffix(kind, []byte("_tool_result"))
}

// anthropicEvent reads an event's type without allocating for the known ones.
func anthropicEvent(raw []byte) string {
	switch string(raw) {
	case `"message_start"`:
		return "message_start"
	case `"content_block_start"`:
		return "content_block_start"
	case `"content_block_delta"`:
		return "content_block_delta"
	case `"content_block_stop"`:
		return "content_block_stop"
	case `"message_delta"`:
		return "message_delta"
	case `"message_stop"`:
		return "message_stop"
	case `"ping"`:
		return "ping"
	case `"error"`:
		return "error"
	}
	return unquote(raw)
}
