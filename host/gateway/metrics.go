package gateway

import (
	"cmp"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"spillway/host"
	"spillway/host/state/record"
	"spillway/host/telemetry"
	"spillway/sdk"
)

// metrics are what a Prometheus fetches from /metrics; package telemetry has their
// names. A label's values are those of a closed set or of the profile: a model
// that its catalogue does not list is "other", since a client can make up any.
type metrics struct {
	handler    http.Handler
	requests   *prometheus.CounterVec
	attempts   *prometheus.CounterVec
	streams    prometheus.Gauge
	held       prometheus.Gauge
	begunEarly *prometheus.CounterVec
	keepAlives *prometheus.CounterVec
	faults     *prometheus.CounterVec

	clientDuration, clientFirst, clientTokens *prometheus.HistogramVec
	serverDuration, serverFirst               *prometheus.HistogramVec
}

const other = "other"

func newMetrics(rt *host.Runtime) *metrics {
	m := &metrics{
		requests:   counter(telemetry.Requests),
		attempts:   counter(telemetry.Attempts),
		streams:    gauge(telemetry.Streams),
		held:       gauge(telemetry.Held),
		begunEarly: counter(telemetry.BegunEarly),
		keepAlives: counter(telemetry.KeepAlives),
		faults:     counter(telemetry.GrammarFaults),

		clientDuration: histogram(telemetry.ClientDuration),
		clientFirst:    histogram(telemetry.ClientFirst),
		clientTokens:   histogram(telemetry.ClientTokens),
		serverDuration: histogram(telemetry.ServerDuration),
		serverFirst:    histogram(telemetry.ServerFirst),
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(
		m.requests, m.attempts, m.streams, m.held, m.begunEarly, m.keepAlives, m.faults,
		m.clientDuration, m.clientFirst, m.clientTokens, m.serverDuration, m.serverFirst,
		newHealth(rt),
		collectors.NewGoCollector(), // goroutines and memory: whether the process grows
	)
	m.handler = promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
	return m
}

func counter(m telemetry.Metric) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: m.Prometheus(), Help: m.Help}, m.PrometheusLabels())
}

func gauge(m telemetry.Metric) prometheus.Gauge {
	return prometheus.NewGauge(prometheus.GaugeOpts{Name: m.Prometheus(), Help: m.Help})
}

func histogram(m telemetry.Metric) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: m.Prometheus(), Help: m.Help, Buckets: m.Buckets}, m.PrometheusLabels())
}

// count takes in a request that has ended. first is its time to visible content,
// 0 if there was none.
func (m *metrics) count(g *host.Graph, rec record.Request, first time.Duration) {
	m.requests.WithLabelValues(rec.Dialect, string(rec.Outcome)).Inc()
	if rec.ID == "" { // it never became a call
		return
	}
	c := g.Catalogue()
	for _, a := range rec.Attempts {
		code := known(telemetry.Code(a))
		provider, model := listed(c, a.Route)
		m.attempts.WithLabelValues(provider, model, kind(a.Kind), cmp.Or(code, "OK")).Inc()
		if a.Sent.IsZero() || a.Outcome == "" {
			continue
		}
		of := []string{telemetry.Operation, g.Peer(a.Route.Provider, rec.Dialect).Name, model}
		m.clientDuration.WithLabelValues(append(of, code)...).Observe(time.Duration(a.Took).Seconds())
		if a.FirstContent > 0 && rec.Stream {
			m.clientFirst.WithLabelValues(of...).Observe(time.Duration(a.FirstContent).Seconds())
		}
		if a.Estimated { // the conventions want no guesses
			continue
		}
		if a.Usage.Input > 0 {
			m.clientTokens.WithLabelValues(append(of, "input")...).Observe(float64(a.Usage.Input))
		}
		if a.Usage.Output > 0 {
			m.clientTokens.WithLabelValues(append(of, "output")...).Observe(float64(a.Usage.Output))
		}
	}
	m.served(g, c, rec, first)
}

// served counts a request as its client has seen it.
func (m *metrics) served(g *host.Graph, c sdk.Catalogue, rec record.Request, first time.Duration) {
	provider := rec.Head.Provider
	if n := len(rec.Attempts); n > 0 {
		provider = rec.Attempts[n-1].Route.Provider
	}
	_, model := listed(c, rec.Head)
	of := []string{telemetry.Operation, g.Peer(provider, rec.Dialect).Name, model}
	code := ""
	if rec.Failure != nil {
		code = known(rec.Failure.Code)
	}
	m.serverDuration.WithLabelValues(append(of, code)...).Observe(time.Duration(rec.Took).Seconds())
	if first > 0 && rec.Stream {
		m.serverFirst.WithLabelValues(of...).Observe(first.Seconds())
	}
}

// known is a failure's code; plugins may make up others.
func known(code sdk.Code) string {
	if code != "" && !code.Known() {
		return other
	}
	return string(code)
}

// kind is an attempt's kind; plugins may make up others.
func kind(k sdk.AttemptKind) string {
	switch k {
	case sdk.KindPrimary, sdk.KindRetry, sdk.KindFailover, sdk.KindFallback, sdk.KindProbe, sdk.KindResume:
		return string(k)
	}
	return other
}

// listed is a route with what the catalogue does not list replaced.
func listed(c sdk.Catalogue, r sdk.Route) (provider, model string) {
	p, ok := c.Provider(r.Provider)
	if !ok {
		return other, other
	}
	for _, m := range p.Models {
		if m.ID == r.Model {
			return r.Provider, r.Model
		}
	}
	return r.Provider, other
}
