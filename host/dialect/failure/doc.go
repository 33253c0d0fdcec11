// Package failure turns the raw evidence of a failed vendor call into one
// sdk.Failure. It is the only place where statuses, bodies, headers and socket
// errors of vendors are interpreted; wording is left to whoever refines the
// failure afterwards, so Failure.Generic says how much the answer itself
// decided.
//
// The order of evidence is fixed: socket error, shape of the body (HTML, empty,
// cut stream), specific vendor code, generic code, status. Evidence is unwrapped
// first: JSON inside messages, relay envelopes, server-sent events, a status or
// code spelled inside a text.
//
// What a code means is data. dialects.go and providers_*.go hold one table per
// dialect and one per vendor that deviates from it; families.go knows codes by
// their parts, for the many that nobody listed; status.go is the last resort.
// The entries come from the vendors' published error lists and from answers
// recorded in the field.
//
// Nothing here fails and nothing is kept: every input yields a failure, bodies
// are read up to maxBody bytes, nesting up to maxDepth, and the message of a
// JSON answer is only ever the vendor's own message field.
package failure
