package telemetry_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"spillway/host/profile"
	"spillway/host/state/record"
	"spillway/host/telemetry"
	"spillway/host/telemetry/telemetrytest"
)

func hexOf(b []byte) string { return hex.EncodeToString(b) }

// TestRefused: a collector that does not take spans is complained of once, and
// what it says, which may repeat a credential, is not.
func TestRefused(t *testing.T) {
	var log bytes.Buffer
	c := telemetrytest.New(t)
	x := open(t, telemetry.Options{
		Endpoint: c.URL, Ratio: 1, Headers: map[string]profile.Secret{"Authorization": "Bearer canary", "X-Unset": ""},
		Log: slog.New(slog.NewTextHandler(&log, nil)),
	})
	end := func(n int) {
		t.Helper()
		id := fmt.Sprint("req_", n)
		x.End(x.Begin(id, nil), kept(record.Request{ID: id, Started: began}), peers)
		headers := c.Messages(n)[n-1]
		if _, unset := headers["X-Unset"]; headers.Get("Authorization") != "Bearer canary" || unset {
			t.Errorf("message %d has headers %v", n, headers)
		}
	}
	c.Refuse(http.StatusUnauthorized, "no: Bearer canary")
	end(1)
	end(2)
	c.Refuse(0, "")
	end(3)
	c.Refuse(http.StatusBadRequest, "no: Bearer canary")
	end(4)
	x.Stop(t.Context())
	if x.Sent() != 1 || x.Dropped() != 3 {
		t.Errorf("sent %d, dropped %d; want 1 and 3", x.Sent(), x.Dropped())
	}
	got := log.String()
	if strings.Count(got, "traces are not taken") != 2 || strings.Count(got, "taken again") != 1 ||
		!strings.Contains(got, "401 Unauthorized") || strings.Contains(got, "canary") {
		t.Errorf("log:\n%s", got)
	}
}

// TestQueue: requests never wait; what finds the queue full is dropped and
// counted.
func TestQueue(t *testing.T) {
	c := telemetrytest.New(t)
	x := open(t, telemetry.Options{Endpoint: c.URL, Ratio: 1})
	reading, go_ := make(chan struct{}), make(chan struct{})
	first := func() record.Request {
		close(reading)
		<-go_
		return record.Request{}
	}
	rest := kept(record.Request{Started: began})
	x.End(x.Begin("r", nil), first, peers)
	for range telemetry.MaxBatch - 1 {
		x.End(x.Begin("r", nil), rest, peers)
	}
	<-reading // the batch has left the queue
	for range telemetry.MaxQueue + 7 {
		x.End(x.Begin("r", nil), rest, peers)
	}
	if x.Dropped() != 7 {
		t.Errorf("dropped %d, want 7", x.Dropped())
	}
	close(go_)
	x.Stop(t.Context())
	x.End(x.Begin("r", nil), rest, peers)
	if want := uint64(telemetry.MaxBatch + telemetry.MaxQueue); x.Sent() != want || x.Dropped() != 8 {
		t.Errorf("sent %d, dropped %d; want %d and 8", x.Sent(), x.Dropped(), want)
	}
}

// TestStopIsBounded: a collector that does not answer does not hold up the end.
func TestStopIsBounded(t *testing.T) {
	c := telemetrytest.New(t)
	c.Refuse(http.StatusServiceUnavailable, "") // which is worth another try, later
	x := open(t, telemetry.Options{Endpoint: c.URL, Ratio: 1})
	x.End(x.Begin("r", nil), kept(record.Request{Started: began}), peers)
	c.Messages(1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	x.Stop(ctx)
	x.Stop(t.Context())
	if x.Dropped() != 1 {
		t.Errorf("dropped %d, want 1", x.Dropped())
	}
}

// TestStandardVariables: they say what the options leave open.
func TestStandardVariables(t *testing.T) {
	c := telemetrytest.New(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", c.URL)
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-team=blue")
	t.Setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip")
	t.Setenv("OTEL_SERVICE_NAME", "by variable")
	for i, tt := range []struct{ service, want string }{{"", "by variable"}, {"by option", "by option"}} {
		x := open(t, telemetry.Options{Ratio: 1, Service: tt.service})
		x.End(x.Begin("r", nil), kept(record.Request{Started: began}), peers)
		x.Stop(t.Context())
		s := c.Spans(i + 1)[i]
		if s.Resource["service.name"] != tt.want || s.Scope != "spillway" || !strings.HasSuffix(s.Schema, "/1.41.0") {
			t.Errorf("service %q, scope %q, schema %q", s.Resource["service.name"], s.Scope, s.Schema)
		}
		if h := c.Messages(i + 1)[i]; h.Get("X-Team") != "blue" || h.Get("Content-Encoding") != "gzip" {
			t.Errorf("headers %v", h)
		}
	}
}
