package dialect

import (
	"slices"

	"github.com/tidwall/gjson"

	"spillway/sdk"
)

// maxCalls bounds the tool calls of one answer.
const maxCalls = 1024

// Keys of the blocks that are no tool calls, whose keys count from 0.
const (
	textKey = -1 - iota
	reasoningKey
)

func (openai) NewDecoder() Decoder { return &openaiDecoder{} }

type openaiDecoder struct {
	decoding
	calls []openaiCall
}

// openaiCall says which call a piece belongs to: its place in calls is the key.
type openaiCall struct {
	index int64 // the vendor's
	id    string
}

func (d *openaiDecoder) Decode(_ string, data []byte, emit func(sdk.Event)) {
	if d.ended {
		return
	}
	if isDone(data) {
		d.terminal(emit)
		return
	}
	if !valid(data) {
		return
	}
	chunk := gjson.ParseBytes(data)
	choice := chunk.Get("choices.0")
	if id := text(chunk.Get("id")); id != "" || choice.Exists() {
		d.start(id, text(chunk.Get("model")), emit)
	}
	d.delta(choice.Get("delta"), emit)
	if reason := text(choice.Get("finish_reason")); reason != "" {
		if finish, broken := openaiFinish(reason); !broken {
			d.announce(finish, emit)
		}
	}
	usage := chunk.Get("usage")
	if !usage.IsObject() {
		usage = choice.Get("usage")
	}
	usageEvent(openaiUsage([]byte(usage.Raw)), emit)
}

func (d *openaiDecoder) delta(v gjson.Result, emit emitFunc) {
	reasoning := text(v.Get("reasoning_content"))
	if reasoning == "" {
		reasoning = text(v.Get("reasoning"))
	}
	d.blocks.piece(reasoningKey, sdk.BlockReasoning, reasoning, emit)
	d.blocks.piece(textKey, sdk.BlockText, text(v.Get("content")), emit)
	d.blocks.piece(textKey, sdk.BlockText, text(v.Get("refusal")), emit)
	elements(v.Get("tool_calls"), func(call gjson.Result) { d.call(call, emit) })
}

func (d *openaiDecoder) call(v gjson.Result, emit emitFunc) {
	id, name := text(v.Get("id")), text(v.Get("function.name"))
	key := d.key(v.Get("index"), id, name)
	if key == len(d.calls) {
		if key == maxCalls {
			d.blocks.broken = true
			return
		}
		d.calls = append(d.calls, openaiCall{v.Get("index").Int(), id})
		d.blocks.begin(&block{key: key, kind: sdk.BlockToolCall, id: id, name: name}, emit)
	}
	d.blocks.piece(key, sdk.BlockToolCall, arguments(v.Get("function.arguments")), emit)
}

// key finds the call a piece belongs to, len(calls) for a new one. Vendors that
// give no index, or the same to every call, are told by id and name.
func (d *openaiDecoder) key(index gjson.Result, id, name string) int {
	if !index.Exists() && id == "" && name != "" {
		return len(d.calls)
	}
	for i, c := range slices.Backward(d.calls) {
		switch {
		case index.Exists() && c.index != index.Int():
		case id == "" || c.id == "" || c.id == id:
			return i
		case index.Exists() && name == "":
			return i
		case index.Exists():
			return len(d.calls)
		}
	}
	return len(d.calls)
}

// arguments is the text of a call's arguments, which some vendors send as an
// object.
func arguments(v gjson.Result) string {
	if v.IsObject() {
		return v.Raw
	}
	return text(v)
}
