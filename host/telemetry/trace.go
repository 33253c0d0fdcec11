package telemetry

import (
	"context"
	"crypto/sha256"
	"net/http"
	"strconv"

	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Trace is a request's place in a trace: which one that is, below which span of
// the client's, and whether spans are made at all.
type Trace struct {
	id      string // of the request
	context trace.SpanContext
	parent  trace.SpanContext // invalid if the client named none
}

// newTrace joins the trace that the client's headers name, else begins one. A
// client that names a trace has decided on sampling too.
func newTrace(id string, client http.Header, sampler sdktrace.Sampler) Trace {
	ctx := propagation.TraceContext{}.Extract(context.Background(), propagation.HeaderCarrier(client))
	t := Trace{id: id, parent: trace.SpanContextFromContext(ctx)}
	traceID := t.parent.TraceID()
	if !t.parent.IsValid() {
		traceID = trace.TraceID(hashed(id + "/trace"))
	}
	decision := sampler.ShouldSample(sdktrace.SamplingParameters{ParentContext: ctx, TraceID: traceID}).Decision
	t.context = trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: traceID, SpanID: t.spanID(0),
		TraceFlags: trace.TraceFlags(0).WithSampled(decision == sdktrace.RecordAndSample),
	})
	return t
}

// spanID is that of attempt n, or of the request for 0.
func (t Trace) spanID(n int) (id trace.SpanID) {
	sum := hashed(t.id + "/" + strconv.Itoa(n))
	copy(id[:], sum[:])
	return id
}

func hashed(text string) (sum [16]byte) {
	all := sha256.Sum256([]byte(text))
	copy(sum[:], all[:])
	return sum
}

// Traceparent is the header by which a vendor joins the trace below attempt n.
func (t Trace) Traceparent(n int) string {
	h := propagation.HeaderCarrier{}
	ctx := trace.ContextWithSpanContext(context.Background(), t.context.WithSpanID(t.spanID(n)))
	propagation.TraceContext{}.Inject(ctx, h)
	return h.Get("Traceparent")
}

// chosen is the context key of a span's ids.
type chosen struct{}

// choose makes the next span that is begun with the context that of attempt n.
func (t Trace) choose(ctx context.Context, n int) context.Context {
	return context.WithValue(ctx, chosen{}, t.context.WithSpanID(t.spanID(n)))
}

// ids gives spans the ids that were chosen for them.
type ids struct{}

var _ sdktrace.IDGenerator = ids{}

// NewIDs implements sdktrace.IDGenerator.
func (ids) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	c, _ := ctx.Value(chosen{}).(trace.SpanContext)
	return c.TraceID(), c.SpanID()
}

// NewSpanID implements sdktrace.IDGenerator.
func (ids) NewSpanID(ctx context.Context, _ trace.TraceID) trace.SpanID {
	c, _ := ctx.Value(chosen{}).(trace.SpanContext)
	return c.SpanID()
}
