package dialect

import (
	"github.com/tidwall/gjson"

	"spillway/sdk"
)

func (anthropic) NewDecoder() Decoder { return &anthropicDecoder{} }

// anthropicDecoder numbers blocks as the vendor does and leaves their order to
// blocks.
type anthropicDecoder struct{ decoding }

func (d *anthropicDecoder) Decode(event string, data []byte, emit func(sdk.Event)) {
	if d.ended || !valid(data) {
		return
	}
	frame := gjson.ParseBytes(data)
	kind := event
	if t := frame.Get("type"); t.Exists() {
		kind = text(t)
	}
	index := int(frame.Get("index").Int())
	switch kind {
	case "message_start":
		m := frame.Get("message")
		d.start(text(m.Get("id")), text(m.Get("model")), emit)
		usageEvent(anthropicUsage([]byte(m.Get("usage").Raw)), emit)
	case "content_block_start":
		d.begin(index, frame.Get("content_block"), emit)
	case "content_block_delta":
		d.delta(index, frame.Get("delta"), emit)
	case "content_block_stop":
		d.blocks.stop(index, emit)
	case "message_delta":
		if reason := text(frame.Get("delta.stop_reason")); reason != "" {
			d.announce(anthropicFinish(reason), emit)
		}
		usageEvent(anthropicUsage([]byte(frame.Get("usage").Raw)), emit)
	case "message_stop":
		d.terminal(emit)
	}
}

// begin takes the start of a block. Blocks the vocabulary has no kind for, such
// as those of the vendor's own tools, are left out, and so are their pieces.
func (d *anthropicDecoder) begin(index int, start gjson.Result, emit emitFunc) {
	b := &block{key: index}
	switch text(start.Get("type")) {
	case "text":
		b.kind = sdk.BlockText
	case "thinking":
		b.kind, b.signature = sdk.BlockReasoning, text(start.Get("signature"))
	case "tool_use":
		b.kind, b.id, b.name = sdk.BlockToolCall, text(start.Get("id")), text(start.Get("name"))
		if input := start.Get("input"); input.IsObject() && len(input.Map()) > 0 {
			b.whole = input.Raw
		}
	default:
		d.blocks.stop(index, emit)
		return
	}
	d.blocks.begin(b, emit)
	d.blocks.piece(index, sdk.BlockText, text(start.Get("text")), emit)
	d.blocks.piece(index, sdk.BlockReasoning, text(start.Get("thinking")), emit)
}

func (d *anthropicDecoder) delta(index int, delta gjson.Result, emit emitFunc) {
	switch text(delta.Get("type")) {
	case "text_delta":
		d.blocks.piece(index, sdk.BlockText, text(delta.Get("text")), emit)
	case "thinking_delta":
		d.blocks.piece(index, sdk.BlockReasoning, text(delta.Get("thinking")), emit)
	case "input_json_delta":
		d.blocks.piece(index, sdk.BlockToolCall, text(delta.Get("partial_json")), emit)
	case "signature_delta":
		d.blocks.sign(index, text(delta.Get("signature")))
	}
}
