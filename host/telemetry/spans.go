package telemetry

import (
	"context"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"spillway/host/state/record"
	"spillway/sdk"
)

// Operation is what every request asks a model for, in the conventions' words.
const Operation = "chat"

// Peer is who answers a provider's calls.
type Peer struct {
	Name    string // as the conventions spell it
	Address string
	Port    int
}

// Peers finds who answers the calls of a profile's provider when the client
// speaks a dialect.
type Peers func(provider, dialect string) Peer

// spans makes the spans of a request that has ended.
func (t Trace) spans(tracer trace.Tracer, rec record.Request, peers Peers) {
	kind := trace.SpanKindServer
	if rec.Dialect == "" { // made inside the runtime
		kind = trace.SpanKindInternal
	}
	ctx := trace.ContextWithRemoteSpanContext(context.Background(), t.parent)
	ctx, span := tracer.Start(t.choose(ctx, 0), spanName(rec.Head.Model), trace.WithSpanKind(kind), trace.WithTimestamp(rec.Started))
	end := rec.Started.Add(time.Duration(rec.Took))
	before := rec.Started // when the attempt before had ended
	for _, a := range rec.Attempts {
		before = t.attempt(ctx, tracer, rec, a, peers, before, end)
	}
	span.SetAttributes(requestAttributes(rec, peers)...)
	if rec.Failure != nil {
		failed(span, rec.Failure.Code)
	}
	span.End(trace.WithTimestamp(end))
}

// attempt makes the span of an attempt and returns when it ended. One that sent
// nothing has no time of its own.
func (t Trace) attempt(ctx context.Context, tracer trace.Tracer, rec record.Request, a record.Attempt, peers Peers, before, limit time.Time) time.Time {
	began := a.Sent
	if began.IsZero() {
		began = before
	}
	end := began.Add(time.Duration(a.Took))
	if a.Outcome == "" { // the request did not wait for it
		end = limit
	}
	_, span := tracer.Start(t.choose(ctx, a.N), spanName(a.Route.Model), trace.WithSpanKind(trace.SpanKindClient), trace.WithTimestamp(began))
	span.SetAttributes(attemptAttributes(rec, a, peers)...)
	if code := Code(a); code != "" {
		failed(span, code)
	}
	span.End(trace.WithTimestamp(end))
	return end
}

// spanName is bounded: a client may make up any model.
func spanName(model string) string {
	if model == "" {
		return Operation
	}
	return Operation + " " + valid(model[:min(len(model), maxText)])
}

// valid is text as OTLP can carry it. One text that it cannot would cost the
// whole message.
func valid(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

// Code is an attempt's code after plugins have seen it, "" if it did not fail.
func Code(a record.Attempt) sdk.Code {
	if a.JudgedCode != "" {
		return a.JudgedCode
	}
	return a.Code
}

// failed marks a span. A caller that goes away has its reasons: that is no error
// of the operation.
func failed(span trace.Span, code sdk.Code) {
	span.SetAttributes(attribute.String(errorType, string(code)))
	if code != sdk.CodeAborted {
		span.SetStatus(codes.Error, string(code))
	}
}

func requestAttributes(rec record.Request, peers Peers) []attribute.KeyValue {
	all := facts{}
	all.text(operationName, Operation)
	all.text(requestModel, rec.Head.Model)
	all.number(requestMaxTokens, rec.MaxTokens)
	all.truth(requestStream, rec.Stream)
	all.text(ownRequest, rec.ID)
	all.text(ownConversation, rec.Conversation)
	all.text(ownDialect, rec.Dialect)
	all.number(ownGraph, int(rec.Graph))
	all.text(ownHead, rec.Head.String())
	all.text(ownOutcome, string(rec.Outcome))
	all.text(ownReason, rec.Reason)
	all.skipped(rec.Skipped)
	all = append(all, attribute.Int(ownAttempts, len(rec.Attempts)))
	if f := rec.Failure; f != nil {
		all.text(ownScope, string(f.Scope))
		all.text(ownPhase, string(f.Phase))
	}
	provider := rec.Head.Provider
	if n := len(rec.Attempts); n > 0 {
		last := rec.Attempts[n-1]
		provider = last.Route.Provider
		all.text(ownRoute, last.Route.String())
		all.list(finishReasons, finish(last))
		if last.FirstContent > 0 {
			all.text(responseModel, last.Route.Model)
		}
		if last.FirstContent > 0 && rec.Stream {
			all.seconds(firstChunk, last.Sent.Sub(rec.Started)+time.Duration(last.FirstContent))
		}
	}
	all.text(providerName, peers(provider, rec.Dialect).Name)
	return all
}

func attemptAttributes(rec record.Request, a record.Attempt, peers Peers) []attribute.KeyValue {
	peer := peers(a.Route.Provider, rec.Dialect)
	all := facts{}
	all.text(operationName, Operation)
	all.text(providerName, peer.Name)
	all.text(requestModel, a.Route.Model)
	all.number(requestMaxTokens, rec.MaxTokens)
	all.truth(requestStream, rec.Stream)
	all.text(serverAddress, peer.Address)
	all.number(serverPort, peer.Port)
	all.number(httpStatus, a.Status)
	all.list(finishReasons, finish(a))
	if rec.Stream {
		all.seconds(firstChunk, time.Duration(a.FirstContent))
	}
	all.number(inputTokens, a.Usage.Input)
	all.number(outputTokens, a.Usage.Output)
	all.number(cacheRead, a.Usage.CacheRead)
	all.number(cacheCreation, a.Usage.CacheWrite)
	all.number(reasoningTokens, a.Usage.Reasoning)

	all.text(ownRequest, rec.ID)
	all.number(ownAttempt, a.N)
	all.text(ownProvider, a.Route.Provider)
	all.text(ownRoute, a.Route.String())
	all.text(ownKey, a.Key)
	all.text(ownKind, string(a.Kind))
	all.text(ownReason, a.Reason)
	all.seconds(ownDelay, time.Duration(a.Delay))
	all.skipped(a.Skipped)
	all.list(ownDropped, a.Dropped)
	all.text(ownOutcome, string(a.Outcome))
	all.truth(ownCommitted, a.Committed)
	all.truth(ownEstimated, a.Estimated)
	all.text(ownCode, string(a.Code))
	all.text(ownCause, string(a.Cause))
	all.text(ownScope, string(scope(a)))
	all.text(ownPhase, string(a.Phase))
	all.text(ownRule, a.Rule)
	all.text(ownAction, string(a.Action))
	all.circuits(a.Circuits)
	return all
}

func scope(a record.Attempt) sdk.Scope {
	if a.JudgedScope != "" {
		return a.JudgedScope
	}
	return a.Scope
}

// finish is the reason, in the conventions' words, for which an answer came to
// its end; nothing if there was no answer.
func finish(a record.Attempt) []string {
	switch {
	case a.Code != "" && a.FirstContent > 0:
		return []string{"error"}
	case a.Code != "":
		return nil
	}
	switch a.Finish {
	case sdk.FinishStop:
		return []string{"stop"}
	case sdk.FinishToolCalls:
		return []string{"tool_call"}
	case sdk.FinishMaxTokens:
		return []string{"length"}
	case sdk.FinishRefusal:
		return []string{"content_filter"}
	case sdk.FinishError, sdk.FinishAborted: // always with a code
	}
	return nil
}

// facts are attributes of a span. What is zero is not told.
type facts []attribute.KeyValue

func (all *facts) text(name, value string) {
	if value != "" {
		*all = append(*all, attribute.String(name, valid(value)))
	}
}

func (all *facts) number(name string, value int) {
	if value != 0 {
		*all = append(*all, attribute.Int(name, value))
	}
}

func (all *facts) seconds(name string, value time.Duration) {
	if value != 0 {
		*all = append(*all, attribute.Float64(name, value.Seconds()))
	}
}

func (all *facts) truth(name string, value bool) {
	if value {
		*all = append(*all, attribute.Bool(name, value))
	}
}

func (all *facts) list(name string, values []string) {
	if len(values) == 0 {
		return
	}
	sound := make([]string, len(values))
	for i, v := range values {
		sound[i] = valid(v)
	}
	*all = append(*all, attribute.StringSlice(name, sound))
}

func (all *facts) skipped(skips []sdk.Skip) {
	var values []string
	for _, s := range skips {
		values = append(values, s.Route.String()+": "+s.Reason)
	}
	all.list(ownSkipped, values)
}

func (all *facts) circuits(changes []sdk.Change) {
	var values []string
	for _, c := range changes {
		values = append(values, c.Target+": "+string(c.From)+" to "+string(c.To))
	}
	all.list(ownCircuits, values)
}
