package dialect

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"spillway/sdk"
)

// maxEncoded bounds the text of one answer, which is held because the events
// behind the pieces repeat it. What is more is left out, and the answer ends as
// one that was cut. Real answers stay below a megabyte.
const maxEncoded = 16 << 20

func (responses) NewEncoder(o AnswerOptions) Encoder { return &responsesEncoder{o: o} }

// responsesEncoder writes one item for each block.
type responsesEncoder struct {
	o      AnswerOptions
	answer responsesAnswer // as known so far
	usage  sdk.Usage
	next   int // number of the next frame
	size   int // bytes of text so far
	full   bool
	ended  bool
	open   bool
	form   responsesForm
	block  answerBlock // the open one, its text apart
	text   strings.Builder
}

func (e *responsesEncoder) Encode(dst []byte, ev sdk.Event) []byte {
	if e.ended {
		return dst
	}
	switch ev.Kind {
	case sdk.KindStart:
		dst = e.start(dst, ev)
	case sdk.KindUsage:
		if ev.Usage != nil {
			e.usage = e.usage.Merge(*ev.Usage)
		}
	case sdk.KindBlockStart:
		dst = e.begin(dst, ev)
	case sdk.KindTextDelta, sdk.KindReasoningDelta, sdk.KindToolCallDelta:
		dst = e.delta(dst, ev)
	case sdk.KindBlockEnd:
		dst = e.end(dst)
	case sdk.KindFinish:
		if clean(ev) {
			dst = e.finish(dst, ev.Finish)
		}
		e.ended = true
	}
	return dst
}

func (e *responsesEncoder) Sent() Sent { return Sent{ID: e.answer.ID, Next: e.next} }

// head writes a frame up to its own members, tail the rest of it.
func (e *responsesEncoder) head(dst []byte, event string) []byte {
	dst = append(append(dst, "event: "...), event...)
	dst = append(append(dst, "\ndata: {\"type\":\""...), event...)
	dst = strconv.AppendInt(append(dst, `","sequence_number":`...), int64(e.next), 10)
	e.next++
	return dst
}

func (e *responsesEncoder) tail(dst []byte) []byte { return append(dst, "}\n\n"...) }

// start writes the first two frames. A second start writes nothing.
func (e *responsesEncoder) start(dst []byte, ev sdk.Event) []byte {
	if e.next > 0 {
		return dst
	}
	e.answer = newResponsesAnswer(answerID("resp_", ev.ID, e.o.ID), "in_progress")
	e.answer.Created, e.answer.Model = e.o.Created, cmp.Or(ev.Model, e.o.Model)
	return e.report(e.report(dst, "response.created"), "response.in_progress")
}

// report writes a frame that holds the answer so far.
func (e *responsesEncoder) report(dst []byte, event string) []byte {
	return e.tail(appendJSON(append(e.head(dst, event), `,"response":`...), e.answer))
}

func (e *responsesEncoder) begin(dst []byte, ev sdk.Event) []byte {
	dst = e.end(e.start(dst, sdk.Event{}))
	e.open = true
	e.form = responsesFormOf(ev.Block, slices.Contains(e.o.Freeform, ev.Name))
	e.block = answerBlock{kind: cmp.Or(ev.Block, sdk.BlockText), id: ev.ID, name: ev.Name}
	if ev.Block == sdk.BlockToolCall {
		e.block.id = callID("call_", ev.ID)
	}
	dst = e.item(dst, "response.output_item.added", e.form.begun(e.itemID(), e.block))
	if e.form.part != "" {
		dst = e.part(dst, e.form.part+".added", "")
	}
	return dst
}

// delta writes a piece. A piece of a call without a start is left out: it has no
// name. What goes to a tool as plain text can be told only from the whole.
func (e *responsesEncoder) delta(dst []byte, ev sdk.Event) []byte {
	block := blockOf(ev.Kind)
	if ev.Text == "" || block == sdk.BlockToolCall && (!e.open || e.block.kind != block) {
		return dst
	}
	if e.size += len(ev.Text); e.size > maxEncoded {
		e.full = true
		return dst
	}
	if !e.open || e.block.kind != block {
		dst = e.begin(dst, sdk.Event{Block: block})
	}
	e.text.WriteString(ev.Text)
	if e.form.item == "custom_tool_call" {
		return dst
	}
	return e.piece(dst, ev.Text)
}

// end closes a block. Clients parse the arguments, so a call without any gets
// an empty object.
func (e *responsesEncoder) end(dst []byte) []byte {
	if !e.open {
		return dst
	}
	e.open = false
	written := e.form.item != "custom_tool_call" && e.text.Len() > 0
	e.block.text = e.form.said(e.text.String())
	e.text.Reset()
	if e.block.kind == sdk.BlockToolCall && !written && e.block.text != "" {
		dst = e.piece(dst, e.block.text)
	}
	dst = e.place(e.head(dst, e.form.pieces+".done"))
	dst = append(append(append(dst, `,"`...), e.form.whole...), `":`...)
	dst = e.tail(appendString(dst, e.block.text))
	if e.form.part != "" {
		dst = e.part(dst, e.form.part+".done", e.block.text)
	}
	item := e.form.done(e.itemID(), e.block)
	dst = e.item(dst, "response.output_item.done", item)
	e.answer.Output = append(e.answer.Output, item)
	return dst
}

// itemID is the id of the open item.
func (e *responsesEncoder) itemID() string {
	return e.form.id(e.answer.ID, len(e.answer.Output))
}

// item writes a frame that holds the open item.
func (e *responsesEncoder) item(dst []byte, event string, item *responsesItem) []byte {
	dst = strconv.AppendInt(append(e.head(dst, event), `,"output_index":`...), int64(len(e.answer.Output)), 10)
	return e.tail(appendJSON(append(dst, `,"item":`...), item))
}

// part writes a frame that holds the one part of the open item.
func (e *responsesEncoder) part(dst []byte, event, text string) []byte {
	dst = append(e.place(e.head(dst, event)), `,"part":`...)
	return e.tail(appendJSON(dst, e.form.partOf(text)))
}

func (e *responsesEncoder) piece(dst []byte, text string) []byte {
	dst = append(e.place(e.head(dst, e.form.pieces+".delta")), `,"delta":`...)
	return e.tail(appendString(dst, text))
}

// place names the open item, and its part if it has one.
func (e *responsesEncoder) place(dst []byte) []byte {
	dst = appendString(append(dst, `,"item_id":`...), e.itemID())
	dst = strconv.AppendInt(append(dst, `,"output_index":`...), int64(len(e.answer.Output)), 10)
	if e.form.index != "" {
		dst = append(append(append(dst, `,"`...), e.form.index...), `":0`...)
	}
	return dst
}

func (e *responsesEncoder) finish(dst []byte, f sdk.Finish) []byte {
	dst = e.end(e.start(dst, sdk.Event{}))
	if e.full {
		f = sdk.FinishMaxTokens
	}
	e.answer.Status, e.answer.Details = responsesStatus(f)
	e.answer.Usage = toResponsesUsage(e.usage)
	return e.report(dst, "response."+e.answer.Status)
}
