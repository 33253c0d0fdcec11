package telemetry

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"spillway/host/profile"
	"spillway/host/state/record"
	"spillway/sdk"
)

// Bounds of what waits for a collector.
const (
	maxQueue   = 1024             // requests; they keep their records
	maxBatch   = 128              // requests in one message
	batchDelay = time.Second      // how long a batch waits for others, and for late decisions
	sendLimit  = 30 * time.Second // for one message, its repetitions included
	maxText    = 256              // of an attribute, in characters
)

// Options say where spans go, and which.
type Options struct {
	// Endpoint is the collector's base URL. "" leaves it to the standard
	// variables, OTEL_EXPORTER_OTLP_ENDPOINT and its like, else to their default.
	Endpoint string
	// Headers go with every message.
	Headers map[string]profile.Secret
	// Ratio of the requests that are traced, unless their client says so.
	Ratio float64
	// Service is the name of this service; "" leaves it to OTEL_SERVICE_NAME,
	// else it is "spillway".
	Service string
	Log     *slog.Logger
}

// Exporter makes spans and sends them to a collector. It is safe for concurrent
// use.
type Exporter struct {
	log     *slog.Logger
	sampler sdktrace.Sampler
	tracer  trace.Tracer
	spans   collected // of the batch that is being made
	client  sdktrace.SpanExporter

	life   context.Context
	end    context.CancelFunc
	worker sync.WaitGroup

	mu     sync.Mutex
	queue  chan ended // sent to and closed under mu
	closed bool

	sent, dropped atomic.Uint64
}

// ended is a request whose spans can be made.
type ended struct {
	trace  Trace
	record func() record.Request
	peers  Peers
}

// Open makes an exporter. Nothing is connected to before there is something to
// send.
func Open(o Options) (*Exporter, error) {
	ctx := context.Background()
	client, err := otlptracehttp.New(ctx, clientOptions(o)...)
	if err != nil {
		return nil, err
	}
	service := resource.WithAttributes() // overrides what stands before it
	if o.Service != "" {
		service = resource.WithAttributes(attribute.String("service.name", o.Service))
	}
	about, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", "spillway")),
		resource.WithTelemetrySDK(), resource.WithFromEnv(), service)
	if err != nil {
		return nil, err
	}
	e := &Exporter{
		log: o.Log, client: client, queue: make(chan ended, maxQueue),
		sampler: sdktrace.ParentBased(sdktrace.TraceIDRatioBased(o.Ratio)),
	}
	limits := sdktrace.NewSpanLimits()
	limits.AttributeValueLengthLimit = maxText
	e.tracer = sdktrace.NewTracerProvider(
		sdktrace.WithResource(about), sdktrace.WithIDGenerator(ids{}), sdktrace.WithRawSpanLimits(limits),
		sdktrace.WithSampler(sdktrace.AlwaysSample()), // decided when a request begins
		sdktrace.WithSpanProcessor(&e.spans),
	).Tracer("spillway", trace.WithSchemaURL(schema))
	e.life, e.end = context.WithCancel(ctx)
	e.worker.Go(e.run)
	return e, nil
}

// schema is the version of the conventions whose names are used.
const schema = "https://opentelemetry.io/schemas/1.41.0"

func clientOptions(o Options) []otlptracehttp.Option {
	var options []otlptracehttp.Option
	if o.Endpoint != "" {
		options = append(options, otlptracehttp.WithEndpointURL(strings.TrimRight(o.Endpoint, "/")+"/v1/traces"))
	}
	if len(o.Headers) > 0 {
		headers := map[string]string{}
		for name, value := range o.Headers {
			if value != "" { // its variable is not set
				headers[name] = value.Reveal()
			}
		}
		options = append(options, otlptracehttp.WithHeaders(headers))
	}
	return options
}

// Begin gives a request its place in a trace, from the headers of its client if
// they name one.
func (e *Exporter) Begin(id string, client http.Header) Trace { return newTrace(id, client, e.sampler) }

// End takes a request that has ended. It does not block. record is called later,
// at most once.
func (e *Exporter) End(t Trace, record func() record.Request, peers Peers) {
	if !t.context.IsSampled() {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		e.dropped.Add(1)
		return
	}
	select {
	case e.queue <- ended{t, record, peers}:
	default:
		e.dropped.Add(1)
	}
}

// Sent returns how many requests the collector has taken.
func (e *Exporter) Sent() uint64 { return e.sent.Load() }

// Dropped returns how many requests were lost.
func (e *Exporter) Dropped() uint64 { return e.dropped.Load() }

// Stop sends what is queued, until ctx ends, and frees the exporter. It may be
// called more than once.
func (e *Exporter) Stop(ctx context.Context) {
	e.mu.Lock()
	if !e.closed {
		e.closed = true
		close(e.queue)
	}
	e.mu.Unlock()
	defer context.AfterFunc(ctx, e.end)()
	e.worker.Wait()
	e.end()
}

// run sends batches until the queue is closed and empty.
func (e *Exporter) run() {
	defer e.client.Shutdown(context.Background()) // frees only
	wasDown := false
	for more := true; more; {
		var batch []ended
		batch, more = e.gather()
		if len(batch) == 0 {
			continue
		}
		err := e.send(batch)
		switch {
		case err != nil:
			e.dropped.Add(uint64(len(batch)))
			if !wasDown {
				e.log.Warn("traces are not taken by the collector", "err", told(err))
			}
		default:
			e.sent.Add(uint64(len(batch)))
			if wasDown {
				e.log.Info("traces are taken again", "dropped", e.Dropped())
			}
		}
		wasDown = err != nil
	}
}

// gather waits for a request to end, and then a little for others. more is false
// when the last have come.
func (e *Exporter) gather() (batch []ended, more bool) {
	first, more := <-e.queue
	if !more {
		return nil, false
	}
	batch = append(batch, first)
	timer := time.NewTimer(batchDelay)
	defer timer.Stop()
	for len(batch) < maxBatch {
		select {
		case next, more := <-e.queue:
			if !more {
				return batch, false
			}
			batch = append(batch, next)
		case <-timer.C:
			return batch, true
		}
	}
	return batch, true
}

// send makes the spans of a batch and hands them to the collector.
func (e *Exporter) send(batch []ended) error {
	for _, r := range batch {
		r.trace.spans(e.tracer, r.record(), r.peers)
	}
	ctx, cancel := context.WithTimeout(e.life, sendLimit)
	defer cancel()
	return e.client.ExportSpans(ctx, e.spans.take())
}

// told is what may be logged of a failed message. A collector's own words are
// left out: they may repeat the headers that it was sent.
func told(err error) string {
	text := err.Error()
	for _, before := range []string{"body: ", "partial success: "} {
		text, _, _ = strings.Cut(text, before)
	}
	return sdk.ClipMessage(strings.TrimRight(text, " (:"))
}

// collected gathers spans as they end. They are made by one goroutine.
type collected struct{ spans []sdktrace.ReadOnlySpan }

var _ sdktrace.SpanProcessor = (*collected)(nil)

func (c *collected) take() []sdktrace.ReadOnlySpan {
	spans := c.spans
	c.spans = nil
	return spans
}

// OnEnd implements sdktrace.SpanProcessor.
func (c *collected) OnEnd(s sdktrace.ReadOnlySpan) { c.spans = append(c.spans, s) }

// OnStart implements sdktrace.SpanProcessor.
func (*collected) OnStart(context.Context, sdktrace.ReadWriteSpan) {}

// ForceFlush implements sdktrace.SpanProcessor.
func (*collected) ForceFlush(context.Context) error { return nil }

// Shutdown implements sdktrace.SpanProcessor.
func (*collected) Shutdown(context.Context) error { return nil }
