package gateway

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"spillway/host"
	"spillway/host/state"
	"spillway/host/state/record"
	"spillway/sdk"
)

// metrics are what a Prometheus fetches from /metrics. A label's values are those
// of a closed set or of the profile: a model that its catalogue does not list is
// "other", since a client can make up any.
type metrics struct {
	handler  http.Handler
	requests *prometheus.CounterVec
	attempts *prometheus.CounterVec
	first    *prometheus.HistogramVec
	streams  prometheus.Gauge
}

const other = "other"

func newMetrics(rt *host.Runtime) *metrics {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "spillway_requests_total", Help: "Clients' requests by how they ended.",
		}, []string{"dialect", "outcome"}),
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "spillway_attempts_total", Help: "Attempts on vendors by what came of them: OK or a failure's code.",
		}, []string{"provider", "model", "code"}),
		first: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "spillway_first_content_seconds", Help: "Time from a request to its first visible content, by who served it.",
			Buckets: []float64{.1, .25, .5, 1, 2, 4, 8, 15, 30, 60, 120},
		}, []string{"provider"}),
		streams: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "spillway_streams_in_flight", Help: "Streamed answers under way.",
		}),
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(m.requests, m.attempts, m.first, m.streams, &health{runtime: rt})
	m.handler = promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
	return m
}

// count takes in a request that has ended.
func (m *metrics) count(c sdk.Catalogue, rec record.Request, first time.Duration) {
	m.requests.WithLabelValues(rec.Dialect, string(rec.Outcome)).Inc()
	for _, a := range rec.Attempts {
		code := a.Code
		if a.JudgedCode != "" {
			code = a.JudgedCode
		}
		if code == "" {
			code = "OK"
		} else if !code.Known() {
			code = other
		}
		provider, model := listed(c, a.Route)
		m.attempts.WithLabelValues(provider, model, string(code)).Inc()
	}
	if n := len(rec.Attempts); n > 0 && first > 0 {
		provider, _ := listed(c, rec.Attempts[n-1].Route)
		m.first.WithLabelValues(provider).Observe(first.Seconds())
	}
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

// health is what the runtime knows at the moment of a scrape.
type health struct{ runtime *host.Runtime }

var (
	circuitDesc = prometheus.NewDesc("spillway_circuit_state",
		"What a plugin last reported of a target: 0 closed, 1 half open, 2 open.", []string{"plugin", "scope", "target"}, nil)
	bypassedDesc = prometheus.NewDesc("spillway_bypassed_calls_total",
		"Calls that went on without a plugin because it was not there.", []string{"plugin"}, nil)
	droppedDesc = prometheus.NewDesc("spillway_records_dropped_total",
		"Requests whose record was lost because the state store did not take it.", nil, nil)
	storeDesc = prometheus.NewDesc("spillway_store_up",
		"Whether the state store answered this scrape.", nil, nil)
)

// Describe implements prometheus.Collector.
func (*health) Describe(ch chan<- *prometheus.Desc) {
	ch <- circuitDesc
	ch <- bypassedDesc
	ch <- droppedDesc
	ch <- storeDesc
}

// Collect implements prometheus.Collector.
func (h *health) Collect(ch chan<- prometheus.Metric) {
	graph := h.runtime.Graph()
	for _, p := range graph.Plugins() {
		ch <- prometheus.MustNewConstMetric(bypassedDesc, prometheus.CounterValue, float64(p.Bypassed), p.Entry)
	}
	ch <- prometheus.MustNewConstMetric(droppedDesc, prometheus.CounterValue, float64(h.runtime.Records().Dropped()))
	statuses, err := h.runtime.Statuses(context.Background()) // which has a limit of its own
	up := 1.0
	if err != nil {
		up = 0
	}
	ch <- prometheus.MustNewConstMetric(storeDesc, prometheus.GaugeValue, up)
	for labels, v := range circuits(graph.Catalogue(), statuses) {
		ch <- prometheus.MustNewConstMetric(circuitDesc, prometheus.GaugeValue, v, labels[:]...)
	}
}

// circuits is the state of each plugin's targets, by plugin, scope and target.
// Targets that share their labels are told by their worst.
func circuits(c sdk.Catalogue, statuses []state.PluginStatus) map[[3]string]float64 {
	worst := map[[3]string]float64{}
	for _, s := range statuses {
		for _, t := range s.Targets {
			labels := [3]string{s.Plugin, string(t.Scope), target(c, t.Target)}
			worst[labels] = max(worst[labels], circuitValue(t.State))
		}
	}
	return worst
}

func circuitValue(s sdk.CircuitState) float64 {
	switch s {
	case sdk.CircuitOpen:
		return 2
	case sdk.CircuitHalfOpen:
		return 1
	case sdk.CircuitClosed:
	}
	return 0
}

// target is vendor, vendor/model, vendor#key or vendor#key/model with an unlisted
// model replaced.
func target(c sdk.Catalogue, name string) string {
	vendor, model, ok := strings.Cut(name, "/")
	if !ok {
		return name
	}
	provider, _, _ := strings.Cut(vendor, "#")
	_, model = listed(c, sdk.Route{Provider: provider, Model: model})
	return vendor + "/" + model
}
