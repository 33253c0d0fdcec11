// Package telemetry says what the outside is told of requests: the names of all
// metrics and of all span attributes, and the spans themselves.
//
// Names are those of the OpenTelemetry semantic conventions for generative AI
// where these have one, in version 1.41, the last one in which they are part of
// the general conventions; others begin with "spillway.". [Metrics] and
// [Attributes] are the tables. Nothing that was said, no header and no key is in
// any of them: a key is told by its fingerprint, a vendor's message not at all.
//
// A request is one span, with one span of kind client below it for each attempt.
// The upper one is of kind server, or internal if no client sent the request.
// Spans are made of a request's record when it has ended, so a request costs
// nothing on its way but, at its end, a place in a queue. Their ids are hashes of
// the request's id: who must know one before there is a span, to pass it on to a
// vendor, calculates it. What becomes no call has no span: it was no operation of
// a model, and the access log and the metrics tell of it.
//
// Tokens are told by the attempts alone. A sum over all spans is then right.
//
// An [Exporter] owns the queue and the one goroutine that empties it. Decisions
// of plugins may come a little after a request has ended, so a record is read
// when its batch is sent, up to a second later. The queue is bounded: what finds
// it full, or is refused by the collector, is dropped and counted. A collector
// that does not answer delays nobody, and is complained of once, until it is back.
package telemetry
