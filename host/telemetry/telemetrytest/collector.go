// Package telemetrytest has a collector of spans for tests: a server on loopback
// that takes OTLP over HTTP as a real one does, and keeps what it was sent.
package telemetrytest

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Collector keeps the spans that it is sent.
type Collector struct {
	URL string // without a slash at the end

	t testing.TB

	mu       sync.Mutex
	status   int // of answers, 0 for success
	answer   string
	messages int
	raw      []byte // all messages, decompressed
	headers  []http.Header
	spans    []Span
	changed  chan struct{} // closed and replaced with each message
}

// Span is a span as it came, with its attributes as text.
type Span struct {
	*otlp.Span
	Resource   map[string]string
	Scope      string
	Schema     string
	Attributes map[string]string
}

// New starts a collector for the time of a test.
func New(t testing.TB) *Collector {
	c := &Collector{t: t, changed: make(chan struct{})}
	s := httptest.NewServer(c)
	t.Cleanup(s.Close)
	c.URL = s.URL
	return c
}

// Refuse makes the collector answer with a status from now on; 0 ends that.
func (c *Collector) Refuse(status int, answer string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.status, c.answer = status, answer
}

// ServeHTTP implements http.Handler.
func (c *Collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := body(r)
	var m collector.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(body, &m)
	}
	if r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" || err != nil {
		c.t.Errorf("collector: %s %s of %q: %v", r.Method, r.URL, r.Header.Get("Content-Type"), err)
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.messages++
	c.headers = append(c.headers, r.Header)
	close(c.changed)
	c.changed = make(chan struct{})
	if c.status != 0 {
		w.WriteHeader(c.status)
		_, _ = io.WriteString(w, c.answer)
		return
	}
	c.raw = append(c.raw, body...)
	for _, rs := range m.ResourceSpans {
		for _, ss := range rs.ScopeSpans {
			for _, s := range ss.Spans {
				c.spans = append(c.spans, Span{
					Span: s, Resource: text(rs.Resource.GetAttributes()), Scope: ss.Scope.GetName(),
					Schema: ss.SchemaUrl, Attributes: text(s.Attributes),
				})
			}
		}
	}
}

func body(r *http.Request) ([]byte, error) {
	b, err := io.ReadAll(r.Body)
	if err != nil || r.Header.Get("Content-Encoding") != "gzip" {
		return b, err
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

func text(all []*common.KeyValue) map[string]string {
	m := map[string]string{}
	for _, kv := range all {
		m[kv.Key] = value(kv.Value)
	}
	return m
}

func value(v *common.AnyValue) string {
	switch v := v.Value.(type) {
	case *common.AnyValue_StringValue:
		return v.StringValue
	case *common.AnyValue_IntValue:
		return fmt.Sprint(v.IntValue)
	case *common.AnyValue_BoolValue:
		return fmt.Sprint(v.BoolValue)
	case *common.AnyValue_DoubleValue:
		return fmt.Sprint(v.DoubleValue)
	case *common.AnyValue_ArrayValue:
		var all []string
		for _, e := range v.ArrayValue.Values {
			all = append(all, value(e))
		}
		return "[" + strings.Join(all, ", ") + "]"
	}
	return fmt.Sprint(v)
}

// Spans waits until there are n spans and returns all there are as they began, a
// request's before its attempts'.
func (c *Collector) Spans(n int) []Span {
	c.t.Helper()
	c.wait(func() bool { return len(c.spans) >= n })
	c.mu.Lock()
	defer c.mu.Unlock()
	spans := slices.Clone(c.spans)
	slices.SortStableFunc(spans, func(a, b Span) int {
		return cmp.Or(
			cmp.Compare(a.StartTimeUnixNano, b.StartTimeUnixNano),
			cmp.Compare(a.Kind, b.Kind), // those of attempts are of the highest kind here
		)
	})
	return spans
}

// Messages waits until there were n messages, refused ones included, and returns
// their headers.
func (c *Collector) Messages(n int) []http.Header {
	c.t.Helper()
	c.wait(func() bool { return c.messages >= n })
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.headers)
}

// Count is how many messages there were so far.
func (c *Collector) Count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.messages
}

// Raw is all that was taken.
func (c *Collector) Raw() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return bytes.Clone(c.raw)
}

// patience is more than an exporter takes on a busy machine.
const patience = 20 * time.Second

// wait returns when done does. done is called with c.mu held.
func (c *Collector) wait(done func() bool) {
	c.t.Helper()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for {
		c.mu.Lock()
		ok, changed := done(), c.changed
		c.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-changed:
		case <-limit.C:
			c.t.Fatal("the collector was not sent what was waited for")
		}
	}
}
