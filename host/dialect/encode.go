package dialect

import (
	"cmp"

	"spillway/sdk"
)

// frames makes the frames of one dialect, each appended to dst. An encoding calls
// it in the order that clients expect.
type frames interface {
	start(dst []byte) []byte                 // once, before anything else
	begin(dst []byte, ev sdk.Event) []byte   // a block, of the kind ev.Block, which is open now
	piece(dst []byte, text string) []byte    // of the open block
	end(dst []byte, signature string) []byte // of the open block
	finish(dst []byte, f sdk.Finish) []byte  // a clean end, once
}

// encoding is what the encoders of all dialects keep of an answer, and the order
// of its frames.
type encoding struct {
	o     AnswerOptions
	late  bool // the start waits for the first block or the end, so that usage known by then stands in it
	limit int  // of bytes of text, 0: none

	id, model string // as KindStart gave them
	usage     sdk.Usage
	started   bool
	open      sdk.BlockKind // 0: none
	size      int           // bytes of text so far, where there is a limit
	full      bool          // text was left out
	ended     bool
}

func (c *encoding) encode(w frames, dst []byte, ev sdk.Event) []byte {
	if c.ended {
		return dst
	}
	switch ev.Kind {
	case sdk.KindStart:
		if c.started {
			return dst
		}
		if c.id, c.model = ev.ID, ev.Model; !c.late {
			dst = c.opened(w, dst)
		}
	case sdk.KindUsage:
		if ev.Usage != nil {
			c.usage = c.usage.Merge(*ev.Usage)
		}
	case sdk.KindBlockStart:
		dst = c.enter(w, dst, ev)
	case sdk.KindTextDelta, sdk.KindReasoningDelta, sdk.KindToolCallDelta:
		dst = c.said(w, dst, ev)
	case sdk.KindBlockEnd:
		dst = c.closed(w, dst, ev.Signature)
	case sdk.KindFinish:
		if clean(ev) {
			dst = w.finish(c.closed(w, c.opened(w, dst), ""), ev.Finish)
		}
		c.ended = true
	}
	return dst
}

func (c *encoding) opened(w frames, dst []byte) []byte {
	if c.started {
		return dst
	}
	c.started = true
	c.model = cmp.Or(c.model, c.o.Model)
	return w.start(dst)
}

func (c *encoding) enter(w frames, dst []byte, ev sdk.Event) []byte {
	dst = c.closed(w, c.opened(w, dst), "")
	ev.Block = cmp.Or(ev.Block, sdk.BlockText)
	c.open = ev.Block
	return w.begin(dst, ev)
}

// said writes a piece and the start of its block if that is missing. A piece
// of a tool call without a start is left out: it has no name.
func (c *encoding) said(w frames, dst []byte, ev sdk.Event) []byte {
	block := blockOf(ev.Kind)
	if ev.Text == "" || block == sdk.BlockToolCall && c.open != block {
		return dst
	}
	if c.limit > 0 {
		if c.size += len(ev.Text); c.size > c.limit {
			c.full = true
			return dst
		}
	}
	if c.open != block {
		dst = c.enter(w, dst, sdk.Event{Block: block})
	}
	return w.piece(dst, ev.Text)
}

func (c *encoding) closed(w frames, dst []byte, signature string) []byte {
	if c.open == 0 {
		return dst
	}
	dst = w.end(dst, signature)
	c.open = 0
	return dst
}
