package sim

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
)

// responsesFormat writes OpenAI Responses. What it refuses, it refuses in the
// words of Chat Completions.
type responsesFormat struct{ openaiFormat }

func (responsesFormat) name() string { return "responses" }

func (responsesFormat) frames(a *answer) iter.Seq[frame] {
	return func(yield func(frame) bool) {
		w := responsesWriter{yield: yield}
		w.event(frameOther, "response.created", `"response":%s`, a.response("in_progress", nil, ""))
		w.event(frameOther, "response.in_progress", `"response":%s`, a.response("in_progress", nil, ""))
		items := a.items()
		for i, item := range items {
			w.item(i, item)
		}
		// The last event is also the one that says how the answer ends.
		w.event(frameFinish, "response."+a.responsesStatus(), `"response":%s`, a.response(a.responsesStatus(), items, ""))
	}
}

func (responsesFormat) whole(a *answer) []byte {
	return []byte(a.response(a.responsesStatus(), a.items(), ""))
}

// responsesWriter numbers the events. Nothing is written once the reader has
// enough.
type responsesWriter struct {
	yield func(frame) bool
	next  int
	done  bool
}

func (w *responsesWriter) event(kind frameKind, name, format string, args ...any) {
	if w.done {
		return
	}
	w.done = !w.yield(frame{kind, responsesEvent(w.next, name, fmt.Sprintf(format, args...))})
	w.next++
}

func responsesEvent(number int, name, rest string) []byte {
	return fmt.Appendf(nil, "event: %s\ndata: {\"type\":%q,\"sequence_number\":%d,%s}\n\n", name, name, number, rest)
}

// responsesShape is how one kind of item is written.
type responsesShape struct {
	kind, prefix string
	pieces       string // the event of a piece is this and ".delta"
	field        string // of the whole text in the event ".done"
	part         string // "" for an item without parts
	index        string // the part's place
}

var (
	reasoningShape = responsesShape{"reasoning", "rs_", "response.reasoning_summary_text", "text", "response.reasoning_summary_part", `"summary_index":0,`}
	messageShape   = responsesShape{"message", "msg_", "response.output_text", "text", "response.content_part", `"content_index":0,`}
	callShape      = responsesShape{"function_call", "fc_", "response.function_call_arguments", "arguments", "", ""}
	freeformShape  = responsesShape{"custom_tool_call", "ctc_", "response.custom_tool_call_input", "input", "", ""}
)

func (a *answer) shape(kind pieceKind) responsesShape {
	switch {
	case kind == reasoningPiece:
		return reasoningShape
	case kind == argumentPiece && a.toolFreeform:
		return freeformShape
	case kind == argumentPiece:
		return callShape
	}
	return messageShape
}

// outputItem is one item of an answer's output.
type outputItem struct {
	responsesShape
	answer *answer
	pieces []piece
	cut    bool // the answer ends in it for want of room
}

func (a *answer) items() []outputItem {
	var items []outputItem
	for i, p := range a.pieces {
		if i == 0 || p.kind != a.pieces[i-1].kind {
			items = append(items, outputItem{responsesShape: a.shape(p.kind), answer: a})
		}
		last := &items[len(items)-1]
		last.pieces = append(last.pieces, p)
		last.cut = a.stop == stopLength && i == len(a.pieces)-1
	}
	return items
}

func (o outputItem) id() string { return o.prefix + o.answer.id }

func (o outputItem) status() string {
	if o.cut {
		return "incomplete"
	}
	return "completed"
}

// partJSON is the one part of an item that has parts.
func (o outputItem) partJSON(text string) string {
	if o.responsesShape == reasoningShape {
		return `{"type":"summary_text","text":` + quote(text) + `}`
	}
	return `{"type":"output_text","annotations":[],"logprobs":[],"text":` + quote(text) + `}`
}

// json is the item: parts is what stands in its list of parts.
func (o outputItem) json(status, parts, text string) string {
	a := o.answer
	switch o.responsesShape {
	case reasoningShape:
		sealed := ""
		if a.sealed {
			sealed = `,"encrypted_content":` + orNull(a.signature)
		}
		return fmt.Sprintf(`{"id":%q,"type":"reasoning"%s,"summary":[%s]}`, o.id(), sealed, parts)
	case messageShape:
		return fmt.Sprintf(`{"id":%q,"type":"message","status":%q,"role":"assistant","content":[%s]}`, o.id(), status, parts)
	}
	return fmt.Sprintf(`{"id":%q,"type":%q,"status":%q,"call_id":%s,"name":%s,%q:%s}`,
		o.id(), o.kind, status, quote(a.callID("call_")), quote(a.toolName), o.field, quote(text))
}

// whole is the item at its end.
func (o outputItem) whole() string {
	text := joinPieces(o.pieces)
	parts := ""
	if o.part != "" {
		parts = o.partJSON(text)
	}
	return o.json(o.status(), parts, text)
}

// item writes an item from its beginning to its end.
func (w *responsesWriter) item(index int, o outputItem) {
	place := fmt.Sprintf(`"item_id":%q,"output_index":%d,%s`, o.id(), index, o.index)
	text := joinPieces(o.pieces)
	w.event(frameOther, "response.output_item.added", `"output_index":%d,"item":%s`, index, o.json("in_progress", "", ""))
	if o.part != "" {
		w.event(frameOther, o.part+".added", `%s"part":%s`, place, o.partJSON(""))
	}
	for _, p := range o.pieces {
		w.event(frameDelta, o.responsesShape.pieces+".delta", `%s"delta":%s`, place, quote(p.text))
	}
	w.event(frameOther, o.responsesShape.pieces+".done", `%s%q:%s`, place, o.field, quote(text))
	if o.part != "" {
		w.event(frameOther, o.part+".done", `%s"part":%s`, place, o.partJSON(text))
	}
	w.event(frameOther, "response.output_item.done", `"output_index":%d,"item":%s`, index, o.whole())
}

// response is the object that holds an answer, as far as it has come. The
// failure is JSON, "" for none.
func (a *answer) response(status string, items []outputItem, failure string) string {
	output := make([]string, len(items))
	for i, item := range items {
		output[i] = item.whole()
	}
	details, usage := "null", "null"
	if status == "incomplete" {
		details = `{"reason":"max_output_tokens"}`
	}
	if status != "in_progress" && failure == "" {
		usage = fmt.Sprintf(`{"input_tokens":%d,"input_tokens_details":{"cached_tokens":0},"output_tokens":%d,`+
			`"output_tokens_details":{"reasoning_tokens":%d},"total_tokens":%d}`,
			a.input, len(a.pieces), a.count(reasoningPiece), a.input+len(a.pieces))
	}
	return fmt.Sprintf(`{"id":"resp_%s","object":"response","created_at":%d,"status":%s,"background":false,"error":%s,"incomplete_details":%s,`+
		`"instructions":null,"max_output_tokens":null,"model":%s,"output":[%s],"parallel_tool_calls":true,"previous_response_id":null,`+
		`"reasoning":{"effort":null,"summary":null},"store":false,"temperature":1.0,"text":{"format":{"type":"text"}},"tool_choice":"auto",`+
		`"tools":[],"top_p":1.0,"truncation":"disabled","usage":%s,"user":null,"metadata":{}}`,
		a.id, a.created.Unix(), orNull(status), cmp.Or(failure, "null"), details, quote(a.model), strings.Join(output, ","), usage)
}

func (a *answer) responsesStatus() string {
	switch a.stop {
	case stopEnd, stopTool:
		return "completed"
	case stopLength:
		return "incomplete"
	case stopNone:
	}
	return ""
}

// errorFrame is the two events that OpenAI sends, unless body is one of the
// dialect's own: that is sent alone.
func (responsesFormat) errorFrame(a *answer, number int, body string) []byte {
	e := readResponsesError(body)
	if strings.HasPrefix(e.Type, "response.") {
		return fmt.Appendf(nil, "event: %s\ndata: %s\n\n", e.Type, body)
	}
	frame := responsesEvent(number, "error", fmt.Sprintf(`"error":{"type":%s,"code":%s,"message":%s,"param":null}`,
		orNull(e.Error.Type), orNull(e.Error.Code), quote(e.Error.Message)))
	return append(frame, responsesEvent(number+1, "response.failed", `"response":`+a.response("failed", nil, e.failure()))...)
}

func (responsesFormat) errorWhole(a *answer, body string) []byte {
	return []byte(a.response("failed", nil, readResponsesError(body).failure()))
}

// responsesError is what an error of another dialect gives to one of this.
type responsesError struct {
	Type  string `json:"type"`
	Error struct {
		Type    string `json:"type"`
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// readResponsesError reads as much as there is to read.
func readResponsesError(body string) responsesError {
	var e responsesError
	_ = json.Unmarshal([]byte(body), &e)
	return e
}

func (e responsesError) failure() string {
	return fmt.Sprintf(`{"code":%s,"message":%s}`, quote(cmp.Or(e.Error.Code, e.Error.Type, "server_error")),
		quote(cmp.Or(e.Error.Message, "The model failed to answer.")))
}

func (responsesFormat) brokenFrame() []byte {
	return []byte("event: response.output_text.delta\ndata: {\"type\":\"response.output_text.del\n\n")
}

// keepAlive is an event: comments do not keep every client waiting.
func (responsesFormat) keepAlive(number int) []byte {
	return fmt.Appendf(nil, "event: keepalive\ndata: {\"type\":\"keepalive\",\"sequence_number\":%d}\n\n", number)
}
