package sim

import (
	"cmp"
	"fmt"
	"iter"
	"strings"
)

// anthropicFormat writes Anthropic Messages.
type anthropicFormat struct{}

func (anthropicFormat) name() string      { return "anthropic" }
func (anthropicFormat) requestID() string { return "Request-Id" }

func (anthropicFormat) frames(a *answer) iter.Seq[frame] {
	return func(yield func(frame) bool) {
		event := func(kind frameKind, name, format string, args ...any) bool {
			data := fmt.Appendf(nil, "event: %s\ndata: {\"type\":%q", name, name)
			if format != "" {
				data = fmt.Appendf(append(data, ','), format, args...)
			}
			return yield(frame{kind, append(data, "}\n\n"...)})
		}
		if !event(frameOther, "message_start", `"message":{"id":%q,"type":"message","role":"assistant","model":%s,"content":[],`+
			`"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":%d,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":1}}`,
			a.messageID(), quote(a.model), a.input) {
			return
		}
		index, open, pinged := -1, noPiece, false
		closeBlock := func() bool {
			if open == reasoningPiece && !event(frameOther, "content_block_delta",
				`"index":%d,"delta":{"type":"signature_delta","signature":%q}`, index, a.signature) {
				return false
			}
			return open == noPiece || event(frameOther, "content_block_stop", `"index":%d`, index)
		}
		for _, p := range a.pieces {
			if p.kind != open {
				if !closeBlock() {
					return
				}
				index, open = index+1, p.kind
				if !event(frameOther, "content_block_start", `"index":%d,"content_block":%s`, index, a.emptyBlock(p.kind)) {
					return
				}
				if !pinged && !event(frameOther, "ping", "") {
					return
				}
				pinged = true
			}
			if !event(frameDelta, "content_block_delta", `"index":%d,"delta":{"type":%s:%s}`, index, anthropicDelta(p.kind), quote(p.text)) {
				return
			}
		}
		_ = closeBlock() &&
			event(frameFinish, "message_delta", `"delta":{"stop_reason":%s,"stop_sequence":null},"usage":{"output_tokens":%d}`,
				orNull(a.anthropicStop()), len(a.pieces)) &&
			event(frameLast, "message_stop", "")
	}
}

func (anthropicFormat) whole(a *answer) []byte {
	var blocks []string
	if thinking := a.text(reasoningPiece); thinking != "" {
		blocks = append(blocks, fmt.Sprintf(`{"type":"thinking","thinking":%s,"signature":%q}`, quote(thinking), a.signature))
	}
	if text := a.text(textPiece); text != "" {
		blocks = append(blocks, fmt.Sprintf(`{"type":"text","text":%s}`, quote(text)))
	}
	if a.toolName != "" {
		blocks = append(blocks, fmt.Sprintf(`{"type":"tool_use","id":%s,"name":%s,"input":%s}`,
			quote(a.callID("toolu_")), quote(a.toolName), cmp.Or(a.text(argumentPiece), "{}")))
	}
	return fmt.Appendf(nil, `{"id":%q,"type":"message","role":"assistant","model":%s,"content":[%s],"stop_reason":%s,"stop_sequence":null,`+
		`"usage":{"input_tokens":%d,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":%d}}`,
		a.messageID(), quote(a.model), strings.Join(blocks, ","), orNull(a.anthropicStop()), a.input, len(a.pieces))
}

func (a *answer) messageID() string { return "msg_" + a.id }

func (a *answer) emptyBlock(kind pieceKind) string {
	switch kind {
	case reasoningPiece:
		return `{"type":"thinking","thinking":"","signature":""}`
	case argumentPiece:
		return fmt.Sprintf(`{"type":"tool_use","id":%s,"name":%s,"input":{}}`, quote(a.callID("toolu_")), quote(a.toolName))
	case noPiece, textPiece:
	}
	return `{"type":"text","text":""}`
}

// anthropicDelta is the type of a delta and the name of its field.
func anthropicDelta(kind pieceKind) string {
	switch kind {
	case reasoningPiece:
		return `"thinking_delta","thinking"`
	case argumentPiece:
		return `"input_json_delta","partial_json"`
	case noPiece, textPiece:
	}
	return `"text_delta","text"`
}

func (a *answer) anthropicStop() string {
	switch a.stop {
	case stopEnd:
		return "end_turn"
	case stopTool:
		return "tool_use"
	case stopLength:
		return "max_tokens"
	case stopNone:
	}
	return ""
}

// errorBody uses the type that Anthropic documents for the status.
func (anthropicFormat) errorBody(status int, message string) []byte {
	types := map[int]string{
		401: "authentication_error", 402: "billing_error", 403: "permission_error", 404: "not_found_error",
		413: "request_too_large", 429: "rate_limit_error", 504: "timeout_error", 529: "overloaded_error",
	}
	fallback := "invalid_request_error"
	if status >= 500 {
		fallback = "api_error"
	}
	return fmt.Appendf(nil, `{"type":"error","error":{"type":%q,"message":%s}}`, cmp.Or(types[status], fallback), quote(message))
}

func (anthropicFormat) errorFrame(_ *answer, _ int, body string) []byte {
	return []byte("event: error\ndata: " + body + "\n\n")
}

func (anthropicFormat) errorWhole(_ *answer, body string) []byte { return []byte(body) }

func (anthropicFormat) brokenFrame() []byte {
	return []byte("event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_de\n\n")
}

func (anthropicFormat) keepAlive(int) []byte {
	return []byte("event: ping\ndata: {\"type\":\"ping\"}\n\n")
}
