package dialect

import (
	"slices"
	"strconv"
	"strings"

	"spillway/sdk"
)

// maxEncoded bounds the text of one answer, which is held because the events
// behind the pieces repeat it. What is more is left out, and the answer ends as
// one that was cut. Real answers stay below a megabyte.
const maxEncoded = 16 << 20

func (responses) NewEncoder(o AnswerOptions) Encoder {
	return &responsesEncoder{encoding: encoding{o: o, limit: maxEncoded}}
}

// responsesEncoder writes one item for each block.
type responsesEncoder struct {
	encoding
	answer responsesAnswer // as known so far
	next   int             // number of the next frame
	form   responsesForm
	block  answerBlock // the open one, its text apart
	text   strings.Builder
}

func (e *responsesEncoder) Encode(dst []byte, ev sdk.Event) []byte { return e.encode(e, dst, ev) }

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

// start writes the first two frames.
func (e *responsesEncoder) start(dst []byte) []byte {
	e.answer = newResponsesAnswer(answerID("resp_", e.id, e.o.ID), "in_progress")
	e.answer.Created, e.answer.Model = e.o.Created, e.model
	return e.report(e.report(dst, "response.created"), "response.in_progress")
}

// report writes a frame that holds the answer so far.
func (e *responsesEncoder) report(dst []byte, event string) []byte {
	return e.tail(appendJSON(append(e.head(dst, event), `,"response":`...), e.answer))
}

func (e *responsesEncoder) begin(dst []byte, ev sdk.Event) []byte {
	e.form = responsesFormOf(ev.Block, slices.Contains(e.o.Freeform, ev.Name))
	e.block = answerBlock{kind: ev.Block, id: ev.ID, name: ev.Name}
	if ev.Block == sdk.BlockToolCall {
		e.block.id = callID("call_", ev.ID)
	}
	dst = e.item(dst, "response.output_item.added", e.form.begun(e.itemID(), e.block))
	if e.form.part != "" {
		dst = e.part(dst, e.form.part+".added", "")
	}
	return dst
}

// piece writes a piece, or keeps it: what goes to a tool as plain text can be told
// only from the whole.
func (e *responsesEncoder) piece(dst []byte, text string) []byte {
	e.text.WriteString(text)
	if e.form.item == "custom_tool_call" {
		return dst
	}
	return e.delta(dst, text)
}

// end closes a block. Clients parse the arguments, so a call without any gets
// an empty object.
func (e *responsesEncoder) end(dst []byte, _ string) []byte {
	written := e.form.item != "custom_tool_call" && e.text.Len() > 0
	e.block.text = e.form.said(e.text.String())
	e.text.Reset()
	if e.block.kind == sdk.BlockToolCall && !written && e.block.text != "" {
		dst = e.delta(dst, e.block.text)
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

func (e *responsesEncoder) delta(dst []byte, text string) []byte {
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
	if e.full {
		f = sdk.FinishMaxTokens
	}
	e.answer.Status, e.answer.Details = responsesStatus(f)
	e.answer.Usage = toResponsesUsage(e.usage)
	return e.report(dst, "response."+e.answer.Status)
}
