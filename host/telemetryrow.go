package host

import (
	_ "embed"
	"encoding/json"
	"log/slog"
	"slices"

	"spillway/host/llm"
	"spillway/host/profile"
	"spillway/host/telemetry"
)

//go:embed telemetry.schema.json
var telemetrySchema []byte

// moduleTelemetry is the built-in module by which a profile has its requests
// traced.
const moduleTelemetry = "telemetry"

// exporter is where an entry sends spans.
type exporter struct {
	*telemetry.Exporter
	propagate bool // vendors are told of the trace
}

// openExporter starts the exporter of an entry.
func openExporter(e profile.Entry, log *slog.Logger) (*exporter, error) {
	if err := validate(e, telemetrySchema); err != nil {
		return nil, err
	}
	raw, err := configJSON(e)
	if err != nil {
		return nil, err
	}
	c := struct {
		Endpoint    string                    `json:"endpoint"`
		Headers     map[string]profile.Secret `json:"headers"`
		SampleRatio float64                   `json:"sampleRatio"`
		ServiceName string                    `json:"serviceName"`
		Propagate   bool                      `json:"propagate"`
	}{SampleRatio: 1}
	if err := json.Unmarshal(raw, &c); err != nil {
		return nil, err
	}
	x, err := telemetry.Open(telemetry.Options{
		Endpoint: c.Endpoint, Headers: c.Headers, Ratio: c.SampleRatio, Service: c.ServiceName,
		Log: log.With("entry", e.ID),
	})
	if err != nil {
		return nil, err
	}
	return &exporter{Exporter: x, propagate: c.Propagate}, nil
}

// exporter is the one in force, nil if there is none; of several entries the last
// counts.
func (g *Graph) exporter() *exporter {
	for _, u := range slices.Backward(g.units) {
		if u.exporter != nil {
			return u.exporter
		}
	}
	return nil
}

// Traces tells how many requests' spans the collector has taken and how many were
// lost; ok is false if none are sent.
func (g *Graph) Traces() (sent, dropped uint64, ok bool) {
	x := g.exporter()
	if x == nil {
		return 0, 0, false
	}
	return x.Sent(), x.Dropped(), true
}

// Peer is who answers a provider's calls when the client speaks a dialect.
func (g *Graph) Peer(provider, dialect string) (peer telemetry.Peer) {
	if p := g.providers.Provider(provider); p != nil {
		peer.Name, peer.Address, peer.Port = p.Peer(dialect)
	}
	return peer
}

// traced gives a call its place in a trace, and returns what makes its spans when
// it has ended, nil if nobody wants them. A long answer may outlive the exporter
// that it began with, so they go to the one of then.
func (r *Runtime) traced(g *Graph, c *llm.Call) func() {
	x := g.exporter()
	if x == nil || r.opts.terminal != nil {
		return nil
	}
	t := x.Begin(c.ID, c.Payload.Header)
	if x.propagate {
		c.Traceparent = t.Traceparent
	}
	return func() {
		if now := r.graph.Load().exporter(); now != nil {
			now.End(t, c.Trace.Record, g.Peer)
		}
	}
}
