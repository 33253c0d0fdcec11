package telemetry_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/semconv/v1.41.0/genaiconv"

	"spillway/host/telemetry"
)

// TestConventions: what is not ours is of the conventions, name and unit.
func TestConventions(t *testing.T) {
	known := []attribute.Key{
		semconv.GenAIOperationNameKey, semconv.GenAIProviderNameKey, semconv.GenAIRequestModelKey, semconv.GenAIRequestStreamKey,
		semconv.GenAIRequestMaxTokensKey, semconv.GenAIResponseModelKey, semconv.GenAIResponseFinishReasonsKey,
		semconv.GenAIResponseTimeToFirstChunkKey, semconv.GenAITokenTypeKey, semconv.GenAIUsageInputTokensKey,
		semconv.GenAIUsageOutputTokensKey, semconv.GenAIUsageCacheReadInputTokensKey, semconv.GenAIUsageCacheCreationInputTokensKey,
		semconv.GenAIUsageReasoningOutputTokensKey, semconv.ErrorTypeKey, semconv.ServerAddressKey, semconv.ServerPortKey,
		semconv.HTTPResponseStatusCodeKey,
	}
	for _, a := range telemetry.Attributes() {
		if !strings.HasPrefix(a.Name, "spillway.") && !slices.Contains(known, attribute.Key(a.Name)) {
			t.Errorf("attribute %s is neither ours nor of the conventions", a.Name)
		}
	}
	metrics := map[string]string{
		genaiconv.ClientOperationDuration{}.Name():         genaiconv.ClientOperationDuration{}.Unit(),
		genaiconv.ClientOperationTimeToFirstChunk{}.Name(): genaiconv.ClientOperationTimeToFirstChunk{}.Unit(),
		genaiconv.ClientTokenUsage{}.Name():                genaiconv.ClientTokenUsage{}.Unit(),
		genaiconv.ServerRequestDuration{}.Name():           genaiconv.ServerRequestDuration{}.Unit(),
		genaiconv.ServerTimeToFirstToken{}.Name():          genaiconv.ServerTimeToFirstToken{}.Unit(),
	}
	got := map[string]string{}
	for _, m := range telemetry.Metrics() {
		if !strings.HasPrefix(m.Name, "spillway.") {
			got[m.Name] = m.Unit
		}
	}
	if diff := cmp.Diff(metrics, got); diff != "" {
		t.Errorf("metrics (-conventions +ours):\n%s", diff)
	}
	if string(semconv.GenAIOperationNameChat.Value.AsString()) != telemetry.Operation {
		t.Errorf("operation %q", telemetry.Operation)
	}
}

// TestTables: each name stands in its table once, and is used where that says.
func TestTables(t *testing.T) {
	want := map[string]telemetry.Where{}
	for _, a := range telemetry.Attributes() {
		if _, twice := want[a.Name]; twice || a.Meaning == "" {
			t.Errorf("attribute %s stands twice or means nothing", a.Name)
		}
		want[a.Name] = a.Where
	}
	got := map[string]telemetry.Where{}
	for _, s := range stories {
		for i, span := range s.want {
			where := telemetry.OnAttempt
			if i == 0 {
				where = telemetry.OnRequest
			}
			for name := range maps.Keys(span.Attributes) {
				got[name] |= where
			}
		}
	}
	names := map[string]bool{}
	for _, m := range telemetry.Metrics() {
		if names[m.Prometheus()] || m.Help == "" || (m.Kind == telemetry.Histogram) != (m.Buckets != nil) {
			t.Errorf("metric %s stands twice, lacks its help, or has buckets where there are none", m.Name)
		}
		names[m.Prometheus()] = true
		for _, l := range m.Labels {
			got[l] |= telemetry.OnMetrics
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("attributes (-table +used):\n%s", diff)
	}
}
