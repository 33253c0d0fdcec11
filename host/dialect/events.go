package dialect

import (
	"strings"

	"spillway/sdk"
)

// answer is a whole answer, folded from its events.
type answer struct {
	id, model string
	blocks    []answerBlock
	usage     sdk.Usage
	finish    sdk.Finish
}

type answerBlock struct {
	kind      sdk.BlockKind
	id, name  string
	text      string
	signature string
}

// events gives the events of an answer that was not streamed.
func (a *answer) events() []sdk.Event {
	all := make([]sdk.Event, 0, 3+3*len(a.blocks))
	all = append(all, sdk.Event{Kind: sdk.KindStart, ID: a.id, Model: a.model})
	for i, b := range a.blocks {
		all = append(all, sdk.Event{Kind: sdk.KindBlockStart, Index: i, Block: b.kind, ID: b.id, Name: b.name})
		if b.text != "" {
			all = append(all, sdk.Event{Kind: deltaOf(b.kind), Index: i, Text: b.text})
		}
		all = append(all, sdk.Event{Kind: sdk.KindBlockEnd, Index: i, Signature: b.signature})
	}
	usageEvent(a.usage, func(e sdk.Event) { all = append(all, e) })
	return append(all, sdk.Event{Kind: sdk.KindFinish, Finish: a.finish})
}

// fold joins the events of one answer. It reports false if they do not end
// cleanly.
func fold(events []sdk.Event) (answer, bool) {
	var a answer
	var open bool
	var joined strings.Builder
	end := func() {
		if open {
			a.blocks[len(a.blocks)-1].text = joined.String()
			joined.Reset()
			open = false
		}
	}
	begin := func(b answerBlock) {
		end()
		a.blocks = append(a.blocks, b)
		open = true
	}
	for _, e := range events {
		switch e.Kind {
		case sdk.KindStart:
			a.id, a.model = e.ID, e.Model
		case sdk.KindBlockStart:
			begin(answerBlock{kind: e.Block, id: e.ID, name: e.Name})
		case sdk.KindTextDelta, sdk.KindReasoningDelta, sdk.KindToolCallDelta:
			kind := blockOf(e.Kind)
			if !open || a.blocks[len(a.blocks)-1].kind != kind {
				begin(answerBlock{kind: kind})
			}
			joined.WriteString(e.Text)
		case sdk.KindBlockEnd:
			if open {
				a.blocks[len(a.blocks)-1].signature = e.Signature
			}
			end()
		case sdk.KindUsage:
			if e.Usage != nil {
				a.usage = a.usage.Merge(*e.Usage)
			}
		case sdk.KindFinish:
			end()
			a.finish = e.Finish
			return a, clean(e)
		}
	}
	return a, false
}

// clean reports whether a finish event ends a whole answer.
func clean(e sdk.Event) bool {
	return e.Failure == nil && e.Finish != sdk.FinishError && e.Finish != sdk.FinishAborted
}

// blockOf is the kind of block that a delta belongs to.
func blockOf(k sdk.EventKind) sdk.BlockKind {
	switch k {
	case sdk.KindReasoningDelta:
		return sdk.BlockReasoning
	case sdk.KindToolCallDelta:
		return sdk.BlockToolCall
	case sdk.KindTextDelta, sdk.KindStart, sdk.KindBlockStart, sdk.KindBlockEnd, sdk.KindUsage, sdk.KindFinish:
	}
	return sdk.BlockText
}

// deltaOf is the kind of a piece of such a block.
func deltaOf(k sdk.BlockKind) sdk.EventKind {
	switch k {
	case sdk.BlockReasoning:
		return sdk.KindReasoningDelta
	case sdk.BlockToolCall:
		return sdk.KindToolCallDelta
	case sdk.BlockText:
	}
	return sdk.KindTextDelta
}

// usageEvent hands out u if it reports anything.
func usageEvent(u sdk.Usage, emit emitFunc) {
	if u != (sdk.Usage{}) {
		emit(sdk.Event{Kind: sdk.KindUsage, Usage: &u})
	}
}
