package dialect

import (
	"bytes"
	"fmt"
	"strconv"
)

// lowered is a limit on the answer's tokens as the model takes it. Vendors
// refuse a request that asks for more than their model can write.
func (o Outbound) lowered(asked int, d *dropped) int {
	if o.MaxOutput <= 0 || asked <= o.MaxOutput {
		return asked
	}
	d.add(fmt.Sprintf("max_tokens lowered to %d", o.MaxOutput))
	return o.MaxOutput
}

// edit replaces a piece of a body.
type edit struct {
	from, to int
	text     []byte
}

// redirect replaces the top-level model of body, and the limits that the other
// model does not take. A doubled key is replaced each time, because readers
// differ in which of them counts.
func redirect(body []byte, o Outbound) ([]byte, []string, error) {
	model := appendString(nil, o.Model)
	var edits []edit
	var lost dropped
	found, moved := false, false
	for w := walk(body); w.member(); {
		at := w.i - len(w.val)
		switch string(w.key) {
		case "model":
			found = true
			if !bytes.Equal(w.val, model) {
				moved = true
				edits = append(edits, edit{at, w.i, model})
			}
		case "max_tokens", "max_completion_tokens", "max_output_tokens":
			asked := count(w.val)
			if limit := o.lowered(asked, &lost); limit != asked {
				edits = append(edits, edit{at, w.i, strconv.AppendInt(nil, int64(limit), 10)})
			}
		case "thinking": // its budget must stay below the limit
			for t := walk(w.val); t.member(); {
				if limit := o.MaxOutput - 1; string(t.key) == "budget_tokens" && limit > 0 && count(t.val) > limit {
					lost.add(fmt.Sprintf("thinking.budget_tokens lowered to %d", limit))
					edits = append(edits, edit{at + t.i - len(t.val), at + t.i, strconv.AppendInt(nil, int64(limit), 10)})
				}
			}
		}
	}
	switch {
	case !found:
		return nil, nil, invalid("model", "missing")
	case !moved:
		return body, nil, nil
	}
	return splice(body, edits), lost, nil
}

// splice returns body with edits, which are in the order of their places, made.
func splice(body []byte, edits []edit) []byte {
	var out []byte
	done := 0 // body[:done] is in out
	for _, e := range edits {
		out = append(append(out, body[done:e.from]...), e.text...)
		done = e.to
	}
	return append(out, body[done:]...)
}
