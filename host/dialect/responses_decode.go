package dialect

import (
	"cmp"
	"strings"

	"github.com/tidwall/gjson"

	"spillway/sdk"
)

func (responses) NewDecoder() Decoder { return &responsesDecoder{items: map[int]*responsesHeard{}} }

// responsesDecoder numbers blocks as the vendor numbers items. All text of an
// item is one block, which begins with its first piece.
type responsesDecoder struct {
	decoding
	items map[int]*responsesHeard
	calls bool
}

// responsesHeard is what has come of an item.
type responsesHeard struct {
	begun    bool // of a call
	text     bool // pieces of what is no call
	freeform bool // a call of a tool that takes plain text
	over     bool
}

func (d *responsesDecoder) Decode(event string, data []byte, emit func(sdk.Event)) {
	if d.ended || !valid(data) {
		return
	}
	frame := gjson.ParseBytes(data)
	kind := event
	if t := frame.Get("type"); t.Exists() {
		kind = text(t)
	}
	index := int(frame.Get("output_index").Int())
	switch kind {
	case "response.created", "response.queued", "response.in_progress":
		d.begin(frame.Get("response"), emit)
	case "response.output_item.added":
		d.added(index, frame.Get("item"), emit)
	case "response.reasoning_summary_part.added":
		if d.heard(index).text {
			d.piece(index, sdk.BlockReasoning, "\n\n", emit)
		}
	case "response.output_item.done":
		d.whole(index, frame.Get("item"), emit)
	case "response.completed", "response.incomplete":
		d.end(kind, frame.Get("response"), emit)
	default:
		if block := responsesBlock([]byte(kind)); block != 0 {
			d.piece(index, block, text(frame.Get("delta")), emit)
		}
	}
}

func (d *responsesDecoder) begin(v gjson.Result, emit emitFunc) {
	d.start(text(v.Get("id")), text(v.Get("model")), emit)
}

// heard is what is known of an item. Of more than an answer may hold nothing is
// kept, and the answer never is complete.
func (d *responsesDecoder) heard(index int) *responsesHeard {
	h := d.items[index]
	if h == nil {
		h = &responsesHeard{}
		if len(d.items) == maxCalls {
			d.blocks.broken = true
			return h
		}
		d.items[index] = h
	}
	return h
}

// added takes the start of an item. Only calls have one that says something.
func (d *responsesDecoder) added(index int, item gjson.Result, emit emitFunc) {
	h := d.heard(index)
	*h = responsesHeard{}
	kind := text(item.Get("type"))
	if kind != "function_call" && kind != "custom_tool_call" {
		return
	}
	h.begun, h.freeform = true, kind == "custom_tool_call"
	d.calls = true
	d.blocks.begin(&block{
		key: index, kind: sdk.BlockToolCall, name: text(item.Get("name")),
		id: cmp.Or(text(item.Get("call_id")), text(item.Get("id"))),
	}, emit)
}

func (d *responsesDecoder) piece(index int, kind sdk.BlockKind, piece string, emit emitFunc) {
	h := d.heard(index)
	if piece == "" || h.over {
		return
	}
	if kind != sdk.BlockToolCall {
		h.text = true
	} else if b := d.blocks.find(index); h.freeform && b != nil {
		quoted := string(appendString(nil, piece))
		piece = quoted[1 : len(quoted)-1]
		if !b.any {
			piece = freeformHead + `"` + piece
		}
	}
	d.blocks.piece(index, kind, piece, emit)
}

// whole takes the end of an item, which holds all of it: some vendors send
// nothing before.
func (d *responsesDecoder) whole(index int, item gjson.Result, emit emitFunc) {
	h := d.heard(index)
	if h.over {
		return
	}
	kind, s := responsesSaid(item)
	if kind == sdk.BlockToolCall {
		if !h.begun {
			d.added(index, item, emit)
		}
		if b := d.blocks.find(index); b != nil && b.any && h.freeform {
			d.blocks.piece(index, kind, `"}`, emit)
		} else if b != nil {
			b.whole = s
		}
	} else if kind != 0 && !h.text {
		d.blocks.piece(index, kind, s, emit)
	}
	d.blocks.stop(index, emit)
	h.over = true
}

// responsesSaid is what an item of an answer says: 0 for the vendor's own kinds.
func responsesSaid(item gjson.Result) (sdk.BlockKind, string) {
	switch text(item.Get("type")) {
	case "message":
		var said strings.Builder
		elements(item.Get("content"), func(part gjson.Result) {
			said.WriteString(cmp.Or(text(part.Get("text")), text(part.Get("refusal"))))
		})
		return sdk.BlockText, said.String()
	case "reasoning":
		return sdk.BlockReasoning, responsesThought(item)
	case "function_call":
		return sdk.BlockToolCall, arguments(item.Get("arguments"))
	case "custom_tool_call":
		return sdk.BlockToolCall, string(freeform(text(item.Get("input"))))
	}
	return 0, ""
}

// end takes the last event, which holds the whole answer once more.
func (d *responsesDecoder) end(event string, response gjson.Result, emit emitFunc) {
	finish, broken := responsesEnding([]byte(event), []byte(response.Raw))
	if broken {
		return
	}
	if len(d.items) == 0 {
		d.begin(response, emit)
		index := 0
		elements(response.Get("output"), func(item gjson.Result) {
			d.whole(index, item, emit)
			index++
		})
	}
	if finish == sdk.FinishStop && d.calls { // some vendors leave the output out
		finish = sdk.FinishToolCalls
	}
	d.announce(finish, emit)
	usageEvent(responsesUsage([]byte(response.Get("usage").Raw)), emit)
	d.Close(emit)
}
