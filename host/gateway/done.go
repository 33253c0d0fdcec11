package gateway

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"spillway/host/state/record"
	"spillway/sdk"
)

// refused is the outcome, in the log and the metrics, of a request that never
// became a call.
const refused record.Outcome = "refused"

// done closes the books of a request: its record, its line in the log, its part
// in the metrics. f is what the client was told, nil for success; committed says
// whether it had seen content.
func (x *exchange) done(f *sdk.Failure, committed bool) {
	rec := record.Request{Dialect: x.dialect.Name(), Outcome: refused}
	if x.call != nil {
		rec = x.call.Trace.Finish(f, committed)
	} else if f.Code == sdk.CodeAborted {
		rec.Outcome = record.Cancelled
	}
	x.server.metrics.count(x.server.runtime.Graph(), rec, x.first)
	x.log(rec, f)
}

// log writes the request's line. It holds nothing of what was said.
func (x *exchange) log(rec record.Request, f *sdk.Failure) {
	log := x.server.log
	if !log.Enabled(context.Background(), slog.LevelInfo) {
		return
	}
	attrs := []slog.Attr{
		slog.String("id", x.id), slog.String("dialect", rec.Dialect), slog.String("outcome", string(rec.Outcome)),
		slog.Int("status", x.status), slog.String("took", brief(time.Since(x.began))),
	}
	if x.call != nil {
		attrs = append(attrs, slog.String("head", clip(rec.Head.String())), slog.Int("attempts", len(rec.Attempts)))
	}
	if n := len(rec.Attempts); n > 0 {
		last := rec.Attempts[n-1]
		attrs = append(attrs, slog.String("route", clip(last.Route.String())),
			slog.Int("input", last.Usage.Input), slog.Int("output", last.Usage.Output))
	}
	if x.first > 0 {
		attrs = append(attrs, slog.String("first_content", brief(x.first)))
	}
	if f != nil {
		attrs = append(attrs, slog.String("code", string(f.Code)))
	}
	log.LogAttrs(context.Background(), slog.LevelInfo, "request", attrs...)
}

// ungrammatical tells of an answer whose shape was wrong.
func (x *exchange) ungrammatical(fault error) {
	x.server.metrics.faults.WithLabelValues(x.dialect.Name()).Inc()
	route := ""
	if last, attempts := x.call.Trace.Served(); attempts > 0 {
		route = last.String()
	}
	x.server.log.LogAttrs(context.Background(), slog.LevelWarn, "answer breaks its dialect's grammar", slog.String("id", x.id),
		slog.String("dialect", x.dialect.Name()), slog.String("route", clip(route)), slog.String("fault", fault.Error()))
}

func brief(d time.Duration) string { return d.Round(100 * time.Microsecond).String() }

// maxName bounds a model's name in the log: a client may make up any.
const maxName = 200

func clip(name string) string {
	if len(name) <= maxName {
		return name
	}
	return strings.ToValidUTF8(name[:maxName], "") + "…"
}
