package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"spillway/sdk"
)

// answered is what came of a model call.
type answered struct {
	parts   []sdk.Part
	invalid map[string]string // arguments that are no object, by call
	finish  sdk.Finish
	usage   *sdk.Usage
	request string
	route   string
	begun   bool // something of it was shown
}

// Bounds of an answer, which a vendor might never end. No model's is near them.
const (
	maxAnswer = 16 << 20 // bytes
	maxParts  = 1024
)

// collector puts an answer's events together. Blocks do not overlap.
type collector struct {
	answered
	size int             // bytes so far
	text strings.Builder // of the block that is open
	open *sdk.Part
	ids  map[string]bool
}

// full reports whether more has come than any answer has.
func (c *collector) full() bool { return c.size > maxAnswer || len(c.parts) > maxParts }

// drop forgets what has come: there is too much of it to be kept.
func (c *collector) drop() { c.parts, c.open, c.invalid = nil, nil, nil }

func (c *collector) take(e sdk.Event) {
	c.size += len(e.Text) + len(e.ID) + len(e.Name) + len(e.Signature)
	c.begun = c.begun || sdk.DefaultVisible.Shows(e)
	switch e.Kind {
	case sdk.KindBlockStart:
		c.close("")
		c.begin(e)
	case sdk.KindTextDelta, sdk.KindReasoningDelta, sdk.KindToolCallDelta:
		if c.open == nil {
			kind := map[sdk.EventKind]sdk.BlockKind{sdk.KindTextDelta: sdk.BlockText, sdk.KindReasoningDelta: sdk.BlockReasoning}[e.Kind]
			c.begin(sdk.Event{Block: kind})
		}
		c.text.WriteString(e.Text)
	case sdk.KindBlockEnd:
		c.close(e.Signature)
	case sdk.KindUsage:
		if e.Usage != nil {
			var u sdk.Usage
			if c.usage != nil {
				u = *c.usage
			}
			u = u.Merge(*e.Usage)
			c.usage = &u
		}
	case sdk.KindFinish:
		c.close("")
		c.finish = e.Finish
	case sdk.KindStart:
	}
}

func (c *collector) begin(e sdk.Event) {
	c.text.Reset()
	switch e.Block {
	case sdk.BlockText:
		c.open = &sdk.Part{Kind: sdk.PartText}
	case sdk.BlockReasoning:
		c.open = &sdk.Part{Kind: sdk.PartReasoning}
	case sdk.BlockToolCall:
		c.open = &sdk.Part{Kind: sdk.PartToolCall, ID: c.callID(e.ID), Name: e.Name}
	}
}

// callID is the id of a call, one of its own within the answer: some vendors give
// none, or the same twice.
func (c *collector) callID(id string) string {
	if c.ids == nil {
		c.ids = map[string]bool{}
	}
	if id == "" {
		id = "call"
	}
	for n, base := 2, id; c.ids[id]; n++ {
		id = fmt.Sprintf("%s_%d", base, n)
	}
	c.ids[id] = true
	return id
}

// close ends the open block.
func (c *collector) close(signature string) {
	p := c.open
	if p == nil {
		return
	}
	c.open = nil
	switch text := c.text.String(); p.Kind {
	case sdk.PartToolCall:
		p.Input = c.arguments(p.ID, text)
	case sdk.PartReasoning:
		p.Text, p.Signature = text, signature
	case sdk.PartText, sdk.PartImage, sdk.PartDocument, sdk.PartToolResult:
		if text == "" {
			return
		}
		p.Text = text
	}
	c.parts = append(c.parts, *p)
}

// arguments are those of a call. What is no object is kept aside, since the
// history must be sound for every vendor.
func (c *collector) arguments(id, text string) json.RawMessage {
	if strings.TrimSpace(text) == "" {
		return json.RawMessage("{}")
	}
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &object) == nil && object != nil {
		var compact bytes.Buffer
		if json.Compact(&compact, []byte(text)) == nil {
			return compact.Bytes()
		}
	}
	if c.invalid == nil {
		c.invalid = map[string]string{}
	}
	c.invalid[id] = text
	return json.RawMessage("{}")
}
