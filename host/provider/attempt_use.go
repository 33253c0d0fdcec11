package provider

import (
	"iter"

	"spillway/host/dialect"
	"spillway/host/llm"
	"spillway/sdk"
)

// each runs f over the answer's frames, held ones first, until f returns false.
// It reports whether f saw them all.
func (a *attempt) each(f func(heldFrame) bool) bool {
	for i := range a.held {
		if !f(a.held[i]) {
			return false
		}
	}
	a.held = nil
	for {
		hf, ok := a.next()
		if !ok {
			return true
		}
		if !f(hf) {
			return false
		}
	}
}

// leave ends an attempt whose consumer went away early.
func (a *attempt) leave() {
	if !a.over {
		a.cancel(errClosed)
		a.fail(a.caused(nil))
	}
	a.settle()
	a.release()
}

// Events implements sdk.Stream.
func (a *attempt) Events() iter.Seq2[sdk.Event, error] {
	return func(yield func(sdk.Event, error) bool) {
		if !a.use() {
			yield(sdk.Event{}, sdk.ErrConsumed)
			return
		}
		defer a.leave()
		a.begin()
		gone := false // the consumer left
		emit := func(e sdk.Event) {
			if e.Kind == sdk.KindFinish {
				a.settle() // before the consumer hears of the end
			}
			gone = gone || !yield(e, nil)
		}
		switch {
		case a.whole != nil && a.failure == nil:
			for _, e := range a.wholeEvents() {
				if emit(e); gone {
					return
				}
			}
		case a.frames != nil:
			d := a.dialect.NewDecoder()
			if !a.each(func(f heldFrame) bool {
				if len(f.data) > 0 {
					d.Decode(f.event, f.data, emit)
				}
				return !gone
			}) {
				return
			}
			if a.failure == nil && !a.closeDecoder(d, emit) {
				return
			}
			fallthrough
		default:
			if a.failure != nil {
				emit(sdk.FailEvent(a.failure))
			}
		}
	}
}

// closeDecoder lets d hand out what the frames announced. A decoder that finds
// the answer incomplete although its frames were not is a bug there; it must
// not become a silent success.
func (a *attempt) closeDecoder(d dialect.Decoder, emit func(sdk.Event)) bool {
	if d.Close(emit) {
		return true
	}
	a.fail(sdk.NewFailure(sdk.CodeServer, "dialect.decode", "the answer could not be decoded to its end"))
	emit(sdk.FailEvent(a.failure))
	return false
}

// Frames implements llm.Raw.
func (a *attempt) Frames() iter.Seq[llm.Frame] {
	return func(yield func(llm.Frame) bool) {
		if !a.use() {
			yield(llm.Frame{Failure: sdk.NewFailure(sdk.CodePlugin, "stream", sdk.ErrConsumed.Error())})
			return
		}
		defer a.leave()
		a.begin()
		taken, terminal := true, false
		give := func(f llm.Frame) bool {
			taken = taken && yield(f)
			return taken
		}
		a.lull = func() bool { return give(llm.Frame{}) }
		if a.frames != nil {
			a.each(func(f heldFrame) bool {
				if f.mark.Kind == dialect.MarkTerminal {
					terminal = true
					a.settle()
				}
				return give(llm.Frame{Raw: f.raw, Event: f.event, Data: f.data, Mark: f.mark})
			})
		}
		switch {
		case !taken:
		case a.failure != nil:
			a.settle()
			yield(llm.Frame{Failure: a.failure})
		case !terminal:
			a.settle()
			yield(llm.Frame{Raw: a.dialect.Terminal(), Mark: dialect.Mark{Kind: dialect.MarkTerminal}})
		}
	}
}

// Whole implements llm.Raw.
func (a *attempt) Whole() ([]byte, *sdk.Failure) {
	if !a.use() {
		return nil, sdk.NewFailure(sdk.CodePlugin, "stream", sdk.ErrConsumed.Error())
	}
	a.begin()
	a.leave()
	return a.whole, a.failure
}

// Resumes implements llm.Resumable.
func (a *attempt) Resumes() bool { return a.request.Dispatch.Resume && a.request.Stream }

// Broken implements llm.Resumable.
func (a *attempt) Broken() (sdk.Attempted, bool) {
	if a.failure == nil || a.failure.Acted || !a.Resumes() || !a.facts.Committed {
		return sdk.Attempted{}, false
	}
	d := a.request.Dispatch
	return sdk.Attempted{
		Route: a.request.Route(), Key: a.print, Kind: d.Kind, Tag: d.Tag,
		Started: a.started, Failure: a.failure, Committed: true,
	}, true
}
