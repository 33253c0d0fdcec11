package dialect

import (
	"cmp"
	"crypto/rand"
	"strconv"
	"strings"

	"spillway/sdk"
)

func (anthropic) NewEncoder(o AnswerOptions) Encoder { return &anthropicEncoder{o: o} }

// anthropicEncoder writes message_start before the first event that shows
// something, so that usage reported before it stands in it.
type anthropicEncoder struct {
	o         AnswerOptions
	id, model string
	usage     sdk.Usage
	started   bool
	ended     bool
	open      sdk.BlockKind // 0: none
	next      int           // index of the next block
}

func (e *anthropicEncoder) Encode(dst []byte, ev sdk.Event) []byte {
	if e.ended {
		return dst
	}
	switch ev.Kind {
	case sdk.KindStart:
		e.id, e.model = ev.ID, ev.Model
	case sdk.KindUsage:
		if ev.Usage != nil {
			e.usage = e.usage.Merge(*ev.Usage)
		}
	case sdk.KindBlockStart:
		dst = e.begin(dst, ev)
	case sdk.KindTextDelta, sdk.KindReasoningDelta, sdk.KindToolCallDelta:
		dst = e.delta(dst, ev)
	case sdk.KindBlockEnd:
		dst = e.end(dst, ev.Signature)
	case sdk.KindFinish:
		if clean(ev) {
			dst = e.finish(dst, ev.Finish)
		}
		e.ended = true
	}
	return dst
}

func (e *anthropicEncoder) Sent() Sent { return Sent{} }

func (e *anthropicEncoder) start(dst []byte) []byte {
	if e.started {
		return dst
	}
	e.started = true
	dst = append(dst, "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":"...)
	dst = appendString(dst, answerID("msg_", e.id, e.o.ID))
	dst = append(dst, `,"type":"message","role":"assistant","model":`...)
	dst = appendString(dst, cmp.Or(e.model, e.o.Model))
	dst = append(dst, `,"content":[],"stop_reason":null,"stop_sequence":null,"usage":`...)
	dst = appendAnthropicUsage(dst, e.usage)
	return append(dst, "}}\n\n"...)
}

func (e *anthropicEncoder) begin(dst []byte, ev sdk.Event) []byte {
	dst = e.end(e.start(dst), "")
	e.open = ev.Block
	dst = append(dst, "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":"...)
	dst = strconv.AppendInt(dst, int64(e.next), 10)
	switch ev.Block {
	case sdk.BlockReasoning:
		dst = append(dst, `,"content_block":{"type":"thinking","thinking":"","signature":""`...)
	case sdk.BlockToolCall:
		dst = append(dst, `,"content_block":{"type":"tool_use","id":`...)
		dst = appendString(dst, callID("toolu_", ev.ID))
		dst = append(dst, `,"name":`...)
		dst = appendString(dst, ev.Name)
		dst = append(dst, `,"input":{}`...)
	default:
		e.open = sdk.BlockText
		dst = append(dst, `,"content_block":{"type":"text","text":""`...)
	}
	return append(dst, "}}\n\n"...)
}

// delta writes a piece and the start of its block if that is missing. A piece
// of a tool call without a start is left out: it has no name.
func (e *anthropicEncoder) delta(dst []byte, ev sdk.Event) []byte {
	block := blockOf(ev.Kind)
	if ev.Text == "" || block == sdk.BlockToolCall && e.open != block {
		return dst
	}
	if e.open != block {
		dst = e.begin(dst, sdk.Event{Block: block})
	}
	switch block {
	case sdk.BlockReasoning:
		return e.piece(dst, "thinking_delta", "thinking", ev.Text)
	case sdk.BlockToolCall:
		return e.piece(dst, "input_json_delta", "partial_json", ev.Text)
	case sdk.BlockText:
	}
	return e.piece(dst, "text_delta", "text", ev.Text)
}

func (e *anthropicEncoder) piece(dst []byte, kind, field, text string) []byte {
	dst = append(dst, "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":"...)
	dst = strconv.AppendInt(dst, int64(e.next), 10)
	dst = append(append(dst, `,"delta":{"type":"`...), kind...)
	dst = append(append(dst, `","`...), field...)
	dst = appendString(append(dst, `":`...), text)
	return append(dst, "}}\n\n"...)
}

func (e *anthropicEncoder) end(dst []byte, signature string) []byte {
	if e.open == 0 {
		return dst
	}
	if e.open == sdk.BlockReasoning && signature != "" {
		dst = e.piece(dst, "signature_delta", "signature", signature)
	}
	dst = append(dst, "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":"...)
	dst = strconv.AppendInt(dst, int64(e.next), 10)
	e.open = 0
	e.next++
	return append(dst, "}\n\n"...)
}

func (e *anthropicEncoder) finish(dst []byte, f sdk.Finish) []byte {
	dst = e.end(e.start(dst), "")
	dst = append(dst, "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":"...)
	dst = appendString(dst, anthropicStopReason(f))
	dst = append(dst, `,"stop_sequence":null},"usage":`...)
	dst = appendAnthropicUsage(dst, e.usage)
	dst = append(dst, "}\n\n"...)
	return append(dst, anthropic{}.Terminal()...)
}

func appendAnthropicUsage(dst []byte, u sdk.Usage) []byte {
	w := toAnthropicUsage(u)
	dst = strconv.AppendInt(append(dst, `{"input_tokens":`...), int64(w.Input), 10)
	dst = strconv.AppendInt(append(dst, `,"cache_creation_input_tokens":`...), int64(w.CacheWrite), 10)
	dst = strconv.AppendInt(append(dst, `,"cache_read_input_tokens":`...), int64(w.CacheRead), 10)
	dst = strconv.AppendInt(append(dst, `,"output_tokens":`...), int64(w.Output), 10)
	return append(dst, '}')
}

// answerID is the answer's own id if it has the dialect's prefix, else one made
// from the fallback.
func answerID(prefix, own, fallback string) string {
	switch {
	case strings.HasPrefix(own, prefix):
		return own
	case fallback == "":
		return prefix + rand.Text()
	}
	return prefix + strings.TrimPrefix(fallback, prefix)
}

// callID is the call's own id, whatever its form, because the caller sends it
// back with the result; a new one if it has none.
func callID(prefix, own string) string {
	if own == "" {
		return prefix + rand.Text()
	}
	return own
}
