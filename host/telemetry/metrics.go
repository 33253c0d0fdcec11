package telemetry

import "strings"

// Metric is one of those at /metrics.
type Metric struct {
	Name    string // as OpenTelemetry spells it
	Kind    MetricKind
	Unit    string    // of the conventions: "s", or a word in braces
	Labels  []string  // attributes
	Buckets []float64 // of a histogram
	Help    string
}

// MetricKind is how a metric counts, in Prometheus's words.
type MetricKind string

const (
	Counter   MetricKind = "counter"
	Gauge     MetricKind = "gauge"
	Histogram MetricKind = "histogram"
)

// Bucket bounds as the conventions want them, but that a first content may take
// longer than they think.
var (
	durations  = []float64{.01, .02, .04, .08, .16, .32, .64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}
	firstTimes = []float64{.001, .005, .01, .02, .04, .06, .08, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10, 25, 50, 100}
	amounts    = []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864}
)

var perModel = []string{operationName, providerName, requestModel}

// The metrics. What gen_ai.client tells is of attempts on vendors, what
// gen_ai.server tells is of requests, as our clients see them.
var (
	ClientDuration = Metric{"gen_ai.client.operation.duration", Histogram, "s", with(errorType), durations,
		"Attempts on vendors, from sending to the last byte."}
	ClientFirst = Metric{"gen_ai.client.operation.time_to_first_chunk", Histogram, "s", perModel, durations,
		"Streamed attempts, from sending to the first visible content."}
	ClientTokens = Metric{"gen_ai.client.token.usage", Histogram, "{token}", with(tokenType), amounts,
		"Tokens of an attempt, by type, where the vendor told them."}
	ServerDuration = Metric{"gen_ai.server.request.duration", Histogram, "s", with(errorType), durations,
		"Clients' requests to the last byte, all attempts included."}
	ServerFirst = Metric{"gen_ai.server.time_to_first_token", Histogram, "s", perModel, firstTimes,
		"Clients' streams to the first visible content, all attempts included."}

	Requests = Metric{"spillway.requests", Counter, "{request}", []string{ownDialect, ownOutcome}, nil,
		"Clients' requests by how they ended."}
	Attempts = Metric{"spillway.attempts", Counter, "{attempt}", []string{ownProvider, ownModel, ownKind, ownCode}, nil,
		"Attempts on vendors by what came of them: OK or a failure's code."}
	Streams = Metric{"spillway.streams.in_flight", Gauge, "{stream}", nil, nil,
		"Streamed answers under way."}
	Held = Metric{"spillway.streams.held", Gauge, "{stream}", nil, nil,
		"Of those, the ones of which the client has not been sent anything."}
	BegunEarly = Metric{"spillway.streams.begun_early", Counter, "{stream}", []string{ownDialect}, nil,
		"Streams begun before any content had come, since the client could not be kept waiting."}
	KeepAlives = Metric{"spillway.keep_alives", Counter, "{event}", []string{ownDialect}, nil,
		"Events without meaning that were sent to fill a silence."}
	GrammarFaults = Metric{"spillway.grammar_faults", Counter, "{answer}", []string{ownDialect}, nil,
		"Sampled answers whose shape was not their dialect's."}
	Circuit = Metric{"spillway.circuit.state", Gauge, "{state}", []string{ownPlugin, ownScope, ownTarget}, nil,
		"What a plugin last reported of a target: 0 closed, 1 half open, 2 open."}
	PluginUp = Metric{"spillway.plugin.up", Gauge, "{plugin}", []string{ownPlugin}, nil,
		"Whether a plugin's process is there."}
	Restarts = Metric{"spillway.plugin.restarts", Counter, "{restart}", []string{ownPlugin}, nil,
		"Processes of a plugin that were started in the place of one that ended."}
	Bypassed = Metric{"spillway.bypassed_calls", Counter, "{call}", []string{ownPlugin}, nil,
		"Calls that went on without a plugin because it was not there."}
	Planned = Metric{"spillway.planned_calls", Counter, "{call}", []string{ownPlugin}, nil,
		"Calls that a plugin's standing plan served without asking it."}
	StoreUp = Metric{"spillway.store.up", Gauge, "{store}", nil, nil,
		"Whether the state store answered this scrape."}
	RecordsDropped = Metric{"spillway.records.dropped", Counter, "{record}", nil, nil,
		"Requests whose record was lost because the state store did not take it."}
	TracesSent = Metric{"spillway.traces.sent", Counter, "{trace}", nil, nil,
		"Requests whose spans the collector took."}
	TracesDropped = Metric{"spillway.traces.dropped", Counter, "{trace}", nil, nil,
		"Requests whose spans were lost because the collector did not take them."}
)

func with(label string) []string { return append(perModel[:len(perModel):len(perModel)], label) }

// Metrics is the table of all of them.
func Metrics() []Metric {
	return []Metric{
		ClientDuration, ClientFirst, ClientTokens, ServerDuration, ServerFirst,
		Requests, Attempts, Streams, Held, BegunEarly, KeepAlives, GrammarFaults,
		Circuit, PluginUp, Restarts, Bypassed, Planned, StoreUp, RecordsDropped, TracesSent, TracesDropped,
	}
}

// Prometheus is the metric's name at /metrics.
func (m Metric) Prometheus() string {
	name := underscored(m.Name)
	if m.Unit == "s" {
		name += "_seconds"
	}
	if m.Kind == Counter {
		name += "_total"
	}
	return name
}

// PrometheusLabels are the metric's labels at /metrics. Our own do without the
// prefix.
func (m Metric) PrometheusLabels() []string {
	labels := make([]string, len(m.Labels))
	for i, l := range m.Labels {
		labels[i] = underscored(strings.TrimPrefix(l, "spillway."))
	}
	return labels
}

func underscored(name string) string { return strings.ReplaceAll(name, ".", "_") }
