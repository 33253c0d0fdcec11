package dialect

import (
	"fmt"
	"strconv"

	"github.com/tidwall/gjson"

	"spillway/host/sse"
	"spillway/sdk"
)

// adopter is an encoder behind whose start a vendor's own frames can follow.
type adopter interface {
	// adopt is the edits that make the data part of the answer; drop says that it
	// belongs to the vendor's own start.
	adopt(event string, data []byte, m Mark) (edits []edit, drop bool)
}

// EncodeRelayed appends a vendor's frame to an answer that e, of the vendor's
// dialect, has begun and nothing else was encoded with. The vendor's start is
// left out, ids and numbers are made those of the answer; all else stays as it
// was sent, so that nothing is lost which the vocabulary cannot carry.
func EncodeRelayed(e Encoder, dst []byte, event string, data, raw []byte, m Mark) []byte {
	a, ok := e.(adopter)
	if !ok || len(data) == 0 || !valid(data) { // comments, sentinels
		return append(dst, raw...)
	}
	switch edits, drop := a.adopt(event, data, m); {
	case drop:
		return dst
	case len(edits) > 0:
		return sse.AppendFrame(dst, event, splice(data, edits))
	}
	return append(dst, raw...)
}

// adopt leaves out the start. What it says of the usage, which clients need, goes
// into the end if that does not repeat it.
func (e *anthropicEncoder) adopt(event string, data []byte, m Mark) (edits []edit, drop bool) {
	kind := event
	var usage []byte
	inside := 0 // where its members begin
	for w := walk(data); w.member(); {
		switch string(w.key) {
		case "type":
			kind = anthropicEvent(w.val)
		case "usage":
			usage, inside = w.val, w.i-len(w.val)+1
		}
	}
	switch {
	case kind == "message_start":
		e.usage = e.usage.Merge(m.Usage)
		return nil, true
	case kind != "message_delta" || len(usage) == 0 || usage[0] != '{' || e.usage == (sdk.Usage{}):
		return nil, false
	}
	more := false
	for w := walk(usage); w.member(); more = true {
		if string(w.key) == "input_tokens" {
			return nil, false
		}
	}
	u := toAnthropicUsage(e.usage)
	told := fmt.Appendf(nil, `"input_tokens":%d,"cache_creation_input_tokens":%d,"cache_read_input_tokens":%d`, u.Input, u.CacheWrite, u.CacheRead)
	if more {
		told = append(told, ',')
	}
	return []edit{{inside, inside, told}}, false
}

// adopt gives the chunk the answer's id: clients refuse a chunk with another one.
func (e *openaiEncoder) adopt(event string, data []byte, m Mark) (edits []edit, drop bool) {
	if m.Kind == MarkNoise && gjson.GetBytes(data, "choices.0.delta.role").Exists() {
		return nil, true
	}
	id := appendString(nil, e.id)
	for w := walk(data); w.member(); {
		if string(w.key) == "id" {
			edits = append(edits, edit{w.i - len(w.val), w.i, id})
		}
	}
	return edits, false
}

// adopt goes on with the answer's numbers, and gives the end the answer's id.
func (e *responsesEncoder) adopt(event string, data []byte, _ Mark) (edits []edit, drop bool) {
	kind := event
	numbered := false
	for w := walk(data); w.member(); {
		at := w.i - len(w.val)
		switch string(w.key) {
		case "type":
			kind = unquote(w.val)
		case "sequence_number":
			numbered = true
			edits = append(edits, edit{at, w.i, strconv.AppendInt(nil, int64(e.next), 10)})
		case "response":
			for r := walk(w.val); r.member(); {
				if string(r.key) == "id" {
					edits = append(edits, edit{at + r.i - len(r.val), at + r.i, appendString(nil, e.answer.ID)})
				}
			}
		}
	}
	switch kind {
	case "response.created", "response.queued", "response.in_progress":
		return nil, true
	}
	if numbered {
		e.next++
	}
	return edits, false
}

var (
	_ adopter = (*anthropicEncoder)(nil)
	_ adopter = (*openaiEncoder)(nil)
	_ adopter = (*responsesEncoder)(nil)
)
