package gateway

import (
	"context"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"spillway/host"
	"spillway/host/state"
	"spillway/host/telemetry"
	"spillway/sdk"
)

// health is what the runtime knows at the moment of a scrape.
type health struct {
	runtime *host.Runtime

	circuit, pluginUp, restarts, bypassed, planned, storeUp *prometheus.Desc
	recordsDropped, tracesSent, tracesDropped               *prometheus.Desc
}

func newHealth(rt *host.Runtime) *health {
	return &health{
		runtime:        rt,
		circuit:        desc(telemetry.Circuit),
		pluginUp:       desc(telemetry.PluginUp),
		restarts:       desc(telemetry.Restarts),
		bypassed:       desc(telemetry.Bypassed),
		planned:        desc(telemetry.Planned),
		storeUp:        desc(telemetry.StoreUp),
		recordsDropped: desc(telemetry.RecordsDropped),
		tracesSent:     desc(telemetry.TracesSent),
		tracesDropped:  desc(telemetry.TracesDropped),
	}
}

func desc(m telemetry.Metric) *prometheus.Desc {
	return prometheus.NewDesc(m.Prometheus(), m.Help, m.PrometheusLabels(), nil)
}

// Describe implements prometheus.Collector.
func (h *health) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		h.circuit, h.pluginUp, h.restarts, h.bypassed, h.planned, h.storeUp, h.recordsDropped, h.tracesSent, h.tracesDropped,
	} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (h *health) Collect(ch chan<- prometheus.Metric) {
	count := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, v, labels...)
	}
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	graph := h.runtime.Graph()
	for _, p := range graph.Plugins() {
		gauge(h.pluginUp, truth(p.Up), p.Entry)
		count(h.restarts, float64(p.Restarts), p.Entry)
		count(h.bypassed, float64(p.Bypassed), p.Entry)
		count(h.planned, float64(p.Planned), p.Entry)
	}
	count(h.recordsDropped, float64(h.runtime.Records().Dropped()))
	if sent, dropped, ok := graph.Traces(); ok {
		count(h.tracesSent, float64(sent))
		count(h.tracesDropped, float64(dropped))
	}
	statuses, err := h.runtime.Statuses(context.Background()) // which has a limit of its own
	gauge(h.storeUp, truth(err == nil))
	for labels, v := range circuits(graph.Catalogue(), statuses) {
		gauge(h.circuit, v, labels[:]...)
	}
}

func truth(v bool) float64 {
	if v {
		return 1
	}
	return 0
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
