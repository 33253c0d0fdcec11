package dialect

import (
	"crypto/rand"
	"strconv"
	"strings"

	"spillway/sdk"
)

func (anthropic) NewEncoder(o AnswerOptions) Encoder {
	return &anthropicEncoder{encoding: encoding{o: o, late: true}}
}

type anthropicEncoder struct {
	encoding
	next int // index of the next block
}

func (e *anthropicEncoder) Encode(dst []byte, ev sdk.Event) []byte { return e.encode(e, dst, ev) }

func (e *anthropicEncoder) Sent() Sent { return Sent{} }

func (e *anthropicEncoder) start(dst []byte) []byte {
	dst = append(dst, "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":"...)
	dst = appendString(dst, answerID("msg_", e.id, e.o.ID))
	dst = append(dst, `,"type":"message","role":"assistant","model":`...)
	dst = appendString(dst, e.model)
	dst = append(dst, `,"content":[],"stop_reason":null,"stop_sequence":null,"usage":`...)
	dst = appendAnthropicUsage(dst, e.usage)
	return append(dst, "}}\n\n"...)
}

func (e *anthropicEncoder) begin(dst []byte, ev sdk.Event) []byte {
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
	case sdk.BlockText:
		dst = append(dst, `,"content_block":{"type":"text","text":""`...)
	}
	return append(dst, "}}\n\n"...)
}

func (e *anthropicEncoder) piece(dst []byte, text string) []byte {
	switch e.open {
	case sdk.BlockReasoning:
		return e.delta(dst, "thinking_delta", "thinking", text)
	case sdk.BlockToolCall:
		return e.delta(dst, "input_json_delta", "partial_json", text)
	case sdk.BlockText:
	}
	return e.delta(dst, "text_delta", "text", text)
}

func (e *anthropicEncoder) delta(dst []byte, kind, field, text string) []byte {
	dst = append(dst, "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":"...)
	dst = strconv.AppendInt(dst, int64(e.next), 10)
	dst = append(append(dst, `,"delta":{"type":"`...), kind...)
	dst = append(append(dst, `","`...), field...)
	dst = appendString(append(dst, `":`...), text)
	return append(dst, "}}\n\n"...)
}

func (e *anthropicEncoder) end(dst []byte, signature string) []byte {
	if e.open == sdk.BlockReasoning && signature != "" {
		dst = e.delta(dst, "signature_delta", "signature", signature)
	}
	dst = append(dst, "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":"...)
	dst = strconv.AppendInt(dst, int64(e.next), 10)
	e.next++
	return append(dst, "}\n\n"...)
}

func (e *anthropicEncoder) finish(dst []byte, f sdk.Finish) []byte {
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
