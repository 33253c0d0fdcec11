package agent

import (
	"context"
	"errors"
	"time"

	"spillway/host"
	"spillway/host/agent/session"
	"spillway/host/dialect"
	"spillway/host/llm"
	"spillway/sdk"
)

// maxRestarts bounds how often an answer that broke off is asked for again: twice
// more than a circuit of the failover plugin takes to open by its default.
const maxRestarts = 4

// answer gets the next answer and accepts it.
func (a *Agent) answer(ctx context.Context, c session.Conversation) error {
	for summed := 0; ; summed++ {
		p := a.prompt(c.Messages)
		if a.tooLong(p) && summed < maxSummaries {
			shorter, err := a.summarise(ctx)
			if err != nil || shorter {
				return err // the loop reads the session again
			}
		}
		got, err := a.complete(ctx, p, true)
		if f, ok := errors.AsType[*FailedError](err); ok && f.Failure.Code == sdk.CodeContextWindow && summed < maxSummaries {
			shorter, sumErr := a.summarise(ctx)
			if sumErr != nil {
				return sumErr
			}
			if shorter {
				c = session.Read(a.o.Session.Entries())
				continue
			}
		}
		if errors.Is(err, ErrInterrupted) {
			return a.interrupted(got)
		}
		if err != nil {
			return err
		}
		return a.accept(got)
	}
}

// accept makes an answer part of the history, before anything follows from it.
func (a *Agent) accept(got answered) error {
	err := a.o.Session.Append(session.Entry{
		Kind: session.KindAnswer, Parts: got.parts, Invalid: got.invalid, Finish: got.finish, Usage: got.usage,
		Route: got.route, Request: got.request,
	})
	if err != nil {
		return err
	}
	a.tell(Event{Kind: EventRequest, Request: got.request})
	return nil
}

// interrupted keeps what came of an answer.
func (a *Agent) interrupted(got answered) error {
	err := a.o.Session.Append(session.Entry{Kind: session.KindInterrupted, Parts: got.parts, Route: got.route, Request: got.request})
	if err != nil {
		return err
	}
	return ErrInterrupted
}

// prompt is what the model is told.
func (a *Agent) prompt(messages []sdk.Message) *sdk.Prompt {
	p := &sdk.Prompt{Messages: messages, Tools: a.offered()}
	if system := a.system(); system != "" {
		p.System = []sdk.Part{sdk.TextPart(system)}
	}
	return p
}

// complete asks until there is a whole answer, or no sense in asking. When ctx
// has ended the error is ErrInterrupted, beside what had come by then. Shown
// answers are told as they come.
func (a *Agent) complete(ctx context.Context, p *sdk.Prompt, shown bool) (answered, error) {
	patience := patienceOf(ctx)
	for restarts := 0; ; {
		got, f := a.call(ctx, p, shown)
		switch {
		case ctx.Err() != nil:
			return got, ErrInterrupted
		case f == nil:
			patience.served()
			return got, nil
		case got.begun:
			if err := a.withdraw(got, f); err != nil {
				return got, err
			}
			if restarts++; restarts > maxRestarts || f.Class() == sdk.ClassCaller {
				return got, &FailedError{Failure: f, Request: got.request, Begun: true}
			}
			continue
		}
		wait, ok := patience.take(f, time.Now())
		if !ok {
			return got, &FailedError{Failure: f, Request: got.request}
		}
		a.tell(Event{Kind: EventWait, Wait: wait, Failure: f, Request: got.request})
		if !sleep(ctx, wait) {
			return answered{}, ErrInterrupted
		}
	}
}

// withdraw keeps a broken answer where only people see it.
func (a *Agent) withdraw(got answered, f *sdk.Failure) error {
	a.tell(Event{Kind: EventWithdrawn, Failure: f, Request: got.request})
	return a.o.Session.Append(session.Entry{
		Kind: session.KindWithdrawn, Parts: got.parts, Text: f.Error(), Route: got.route, Request: got.request,
	})
}

// call makes one call of the runtime.
func (a *Agent) call(ctx context.Context, p *sdk.Prompt, shown bool) (answered, *sdk.Failure) {
	meant, err := a.o.Models.Resolve(a.o.Model, nil)
	if err != nil {
		return answered{}, sdk.NewFailure(sdk.CodeUnknownModel, "agent.route", err.Error())
	}
	call, stream := a.o.Models.Call(ctx, host.Inbound{
		Route: meant.Route, Wants: meant.Wants, Stream: true, Conversation: a.o.Session.ID(),
		Shape: dialect.ShapeOf(p), Payload: llm.PromptPayload(p), Notice: a.noticed(meant.Route),
	})
	var c collector
	c.request = call.ID
	f := sdk.NewFailure(sdk.CodeTransport, "stream", "the answer ended without a finish")
	for e, err := range stream.Events() {
		if err != nil {
			f = sdk.NewFailure(sdk.CodePlugin, "stream", err.Error())
			break
		}
		if e.Kind == sdk.KindFinish {
			f = e.Failure
		}
		begun := c.begun
		if c.take(e); c.begun && !begun {
			a.answers(call.Trace.Record().Attempts)
		}
		if c.full() {
			f = sdk.NewFailure(sdk.CodeServer, "agent.answer", "the answer does not end: it was given up")
			c.drop()
			break
		}
		if shown {
			a.tell(Event{Kind: EventAnswer, Answer: &e, Request: call.ID})
		}
	}
	c.close("")
	call.Trace.Finish(f, c.begun)
	if attempts := call.Trace.Record().Attempts; len(attempts) > 0 {
		c.route = attempts[len(attempts)-1].Route.String()
	}
	return c.answered, f
}
