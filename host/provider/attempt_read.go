package provider

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"spillway/host/dialect"
	"spillway/host/dialect/failure"
	"spillway/host/profile"
	"spillway/host/sse"
	"spillway/sdk"
)

// AwaitVisible implements sdk.Awaiter.
func (a *attempt) AwaitVisible(ctx context.Context) *sdk.Failure {
	// Whoever awaits mostly does so with the context that the attempt was made with,
	// and a second wait finds what the first has brought: neither has to be watched.
	if ctx.Done() != a.given && !a.facts.Committed {
		defer context.AfterFunc(ctx, func() { a.cancel(context.Cause(ctx)) })()
	}
	a.begin()
	for !a.over && !a.facts.Committed {
		f, ok := a.next()
		if !ok {
			break
		}
		a.hold(f)
	}
	if a.failure != nil && !a.facts.Committed {
		a.settle()
		a.release()
		return a.failure
	}
	return nil
}

// hold keeps a frame that came before visible content, and the frame that
// brought it.
func (a *attempt) hold(f heldFrame) {
	a.heldBytes += len(f.raw)
	if most := a.mayHold(); a.heldBytes > most {
		a.fail(sdk.NewFailure(sdk.CodeServer, "limit.held", fmt.Sprintf("more than %d MB came that could not be handed out", most>>20)))
		return
	}
	both := slices.Concat(f.raw, f.data)
	n := len(f.raw)
	a.held = append(a.held, heldFrame{event: f.event, data: both[n:], raw: both[:n:n], mark: f.mark})
}

// next reads the following frame that means something. The result is valid
// until the next call; ok is false at the end, good or bad, and when lull says that
// nobody wants more. Frames that came in one piece cost no look at a clock.
func (a *attempt) next() (f heldFrame, ok bool) {
	for !a.over {
		waits := !a.frames.Ready()
		if waits && a.lull != nil && !a.lull() {
			return heldFrame{}, false
		}
		var sf sse.Frame
		var err error
		if waits {
			sf, err = a.wait()
		} else {
			sf, err = a.frames.Next()
		}
		if err != nil {
			a.brokeOff(err)
			return heldFrame{}, false
		}
		f = heldFrame{event: sf.Event, data: sf.Data, raw: sf.Raw, mark: dialect.Mark{Kind: dialect.MarkNoise}}
		if sf.Partial { // the blank line is missing; what is whole JSON still counts
			f.raw = append(append([]byte(nil), sf.Raw...), "\n\n"...)
		}
		if len(sf.Data) > 0 {
			f.mark = a.dialect.Scan(sf.Event, sf.Data)
			a.seen = true
		}
		if a.take(f) {
			return f, true
		}
	}
	return heldFrame{}, false
}

// wait reads a frame that has not come yet, within the limit in force.
func (a *attempt) wait() (sse.Frame, error) {
	now := time.Now()
	a.arm(now)
	f, err := a.frames.Next()
	a.limit.quiet += time.Since(now)
	if a.facts.FirstContent != 0 {
		a.limit.pause() // until arm: what the consumer takes is not the vendor's time
	}
	return f, err
}

// arm puts the limit in force that fits what is being waited for.
func (a *attempt) arm(now time.Time) {
	switch {
	case a.facts.FirstContent == 0:
		return // the limit on the first content runs since the start
	case a.finished && a.payload.Choices <= 1:
		a.limit.set(now, afterFinish-a.limit.quiet, errAfterFinish)
	default:
		idle, cause := a.request.Dispatch.Limits.Idle, errIdle
		if idle <= 0 {
			idle = defaultIdle
		}
		left := idle - a.limit.quiet
		total := a.request.Dispatch.Limits.Total
		if total <= 0 {
			total = defaultTotal
		}
		if rest := total - now.Sub(a.started); rest < left {
			left, idle, cause = rest, total, errTotal
		}
		a.limit.period = idle
		a.limit.set(now, left, cause)
	}
}

// take notes what a frame means. It reports whether the frame is part of the
// answer.
func (a *attempt) take(f heldFrame) bool {
	m := f.mark
	a.hosted = a.hosted || m.Hosted
	a.facts.Usage = a.facts.Usage.Merge(m.Usage)
	if m.Visible&a.visible() != 0 {
		a.shows()
	}
	if m.Visible != 0 {
		a.limit.quiet = 0
		a.pieces++
	}
	if m.Seal != 0 {
		a.sealed(m.Seal)
	}
	switch m.Kind {
	case dialect.MarkInvalid:
		a.call.Trace.Malformed(a.number)
		return false
	case dialect.MarkNoise, dialect.MarkContent:
	case dialect.MarkFinish:
		a.finished, a.facts.Finish = true, m.Finish
		a.limit.quiet = 0
	case dialect.MarkTerminal:
		if m.Finish != "" { // says both at once
			a.finished, a.facts.Finish = true, m.Finish
		}
		a.complete()
		return a.failure == nil
	case dialect.MarkError:
		a.fail(a.judge(failure.Evidence{Phase: sdk.PhaseStream, Body: a.scrub(f.data)}))
		return false
	}
	return true
}

// brokeOff ends an attempt whose vendor sends no more. After a finish event
// nothing is missing but formalities, unless the answer has several choices: the
// finish may be the first one's.
func (a *attempt) brokeOff(err error) {
	cause := a.cause(err)
	switch {
	case a.finished && a.payload.Choices <= 1 && (errors.Is(err, io.EOF) || errors.Is(cause, errAfterFinish) || a.ctx.Err() == nil):
		a.complete()
	case errors.Is(err, io.EOF) && !a.seen:
		a.fail(a.judge(failure.Evidence{Phase: sdk.PhaseStream}))
	case errors.Is(err, io.EOF):
		a.fail(a.caused(io.ErrUnexpectedEOF))
	default:
		a.fail(a.caused(err))
	}
}

// complete ends an attempt well. A terminal without a finish is no end: the
// answer is cut.
func (a *attempt) complete() {
	if !a.finished {
		a.fail(a.caused(io.ErrUnexpectedEOF))
		return
	}
	a.over = true
	a.checkWhole(a.heldEvents)
}

// fail ends an attempt badly.
func (a *attempt) fail(f *sdk.Failure) {
	f.Attempt, f.Acted = a.number, a.acted(f)
	a.failure, a.over = f, true
}

// shortestKey is shorter than any vendor's key: what is shorter would be found in
// ordinary words.
const shortestKey = 8

// scrub takes keys out of what a vendor said: some vendors
// repeat the key that they refuse. It comes before anything is cut to a length.
func scrub(said []byte, keys ...profile.Secret) []byte {
	for _, k := range keys {
		if secret := []byte(k.Reveal()); len(secret) >= shortestKey && bytes.Contains(said, secret) {
			said = bytes.ReplaceAll(said, secret, []byte(k.String()))
		}
	}
	return said
}

// settle reports the outcome, once. It comes before the consumer hears of the end.
func (a *attempt) settle() {
	a.limit.stop()
	if a.failure != nil && !a.finished {
		a.estimate()
	}
	o := a.facts
	o.Call, o.Attempt, o.Route, o.Key = a.call.ID, a.number, a.request.Route(), a.print
	o.Kind, o.Tag = a.request.Dispatch.Kind, a.request.Dispatch.Tag
	o.Started, o.Failure, o.Stream = a.started, a.failure, a.request.Stream
	o.PromptTokens = a.request.Shape.PromptTokens
	if !a.started.IsZero() {
		o.Took = time.Since(a.started)
	}
	if o.Failure != nil {
		o.Finish = sdk.FailEvent(o.Failure).Finish
	}
	a.mu.Lock()
	if a.ended != nil {
		a.mu.Unlock()
		return
	}
	a.ended = &o
	waiting := a.waiting
	a.waiting = nil
	a.mu.Unlock()
	if a.number > 0 {
		a.call.Trace.End(a.number, o, a.reply)
	}
	for _, f := range waiting {
		f(o)
	}
}

// estimate books what an answer that was cut has cost as far as its vendor had
// not said: most report usage at the end only. A frame brings about a token.
func (a *attempt) estimate() {
	u := &a.facts.Usage
	if a.pieces == 0 || u.Input > 0 && u.Output >= a.pieces {
		return
	}
	if u.Input == 0 {
		u.Input = a.request.Shape.PromptTokens
	}
	u.Output = max(u.Output, a.pieces)
	a.call.Trace.Estimated(a.number)
}

// release frees the connection. It comes after the consumer has heard of the end,
// since it may have to wait for the body's: one that was read to there can be used
// again.
func (a *attempt) release() {
	if a.resp != nil {
		if a.failure == nil && a.frames != nil {
			a.limit.set(time.Now(), drainTime, errAfterFinish)
			_, _ = io.CopyN(io.Discard, a.resp.Body, drainSize)
			a.limit.stop()
		}
		a.resp.Body.Close()
	}
	a.cancel(errClosed)
}

// Bounds of what is read behind an answer's terminal. The end of the body mostly
// comes with it.
const (
	drainTime = 50 * time.Millisecond
	drainSize = 4 << 10
)

// OnOutcome implements sdk.Reporter.
func (a *attempt) OnOutcome(f func(sdk.Outcome)) {
	a.mu.Lock()
	if a.ended == nil {
		a.waiting = append(a.waiting, f)
		a.mu.Unlock()
		return
	}
	o := *a.ended
	a.mu.Unlock()
	f(o)
}

// use claims the attempt for one consumer.
func (a *attempt) use() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.used {
		return false
	}
	a.used = true
	return true
}
