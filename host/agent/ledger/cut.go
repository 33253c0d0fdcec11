package ledger

import (
	"encoding/json"
	"fmt"
	"strings"

	"spillway/host/agent/tool"
	"spillway/sdk"
)

const (
	maxKept = 256 << 10 // bytes of an input, or of a result's texts and data
	maxNote = 4 << 10
)

// kept is how much of a result is recorded: all of it, or as much as there is
// room for, and a word about the rest.
func kept(r tool.Result) tool.Result {
	room := maxKept
	short := tool.Result{Error: r.Error}
	for _, p := range r.Parts {
		size := len(p.Text) + len(p.Data) + len(p.URL)
		switch {
		case size <= room:
		case p.Kind == sdk.PartText && room > 0:
			p.Text = fmt.Sprintf("%s\n[%d more bytes were not recorded]", clip(p.Text, room), size-room)
		case room > 0:
			p = sdk.TextPart(fmt.Sprintf("[%s of %d bytes was not recorded]", p.Kind, size))
		default:
			continue
		}
		room -= size
		short.Parts = append(short.Parts, p)
	}
	return short
}

// keptInput is a call's input as it is recorded: valid JSON in any case.
func keptInput(raw json.RawMessage) json.RawMessage {
	switch {
	case len(raw) == 0:
		return json.RawMessage("{}")
	case len(raw) <= maxKept && json.Valid(raw):
		return raw
	}
	text, err := json.Marshal(clip(string(raw), maxKept))
	if err != nil { // a string always has a form
		return json.RawMessage("null")
	}
	return text
}

// clip cuts s to at most n bytes, and what is no UTF-8 out of it.
func clip(s string, n int) string {
	return strings.ToValidUTF8(s[:min(n, len(s))], "")
}
