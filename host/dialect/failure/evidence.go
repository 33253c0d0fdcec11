package failure

import (
	"net/http"
	"time"

	"spillway/sdk"
)

// Evidence is everything known about one failed attempt.
type Evidence struct {
	Vendor  string // the provider's name; picks the vendor table
	Dialect string // "openai", "responses", "anthropic", "gemini"; anything else reads generically
	Phase   sdk.Phase

	Status int         // HTTP status, 0 without a response
	Header http.Header // of the response
	// Body is what there is of the answer: a whole body, one error frame's
	// data, or a stream's text. In PhaseTransport it is a client library's
	// description of the error.
	Body []byte

	// Err is the Go error of the exchange. A failure status that arrived before
	// it says more, and wins.
	Err error
	// Content is true if the stream had delivered visible content.
	Content bool
	// Silence is how long the connection had been quiet when it broke.
	Silence time.Duration

	Now time.Time // wall time, for reset hints
}

// maxSilence is the longest pause after which a broken connection still counts
// as broken rather than as a vendor that hangs.
const maxSilence = 5 * time.Second

// From judges an attempt that is known to have failed; it never returns nil.
// Evidence in which no failure can be seen is an EMPTY_RESPONSE.
func From(ev Evidence) *sdk.Failure {
	var f *sdk.Failure
	switch {
	case ev.Err != nil && ev.Status < http.StatusBadRequest:
		f = fromError(ev.Err, ev.Phase)
	case ev.Phase == sdk.PhaseTransport:
		f = fromClientText(ev.Body)
	default:
		f = fromAnswer(ev)
	}
	f.Phase = ev.Phase
	if f.Phase == "" {
		f.Phase = sdk.PhaseResponse
	}
	f.Status = ev.Status
	if f.Code == sdk.CodeTransport && !f.Cause.Unreachable() && ev.Silence > maxSilence {
		f.Code, f.Rule = sdk.CodeTimeout, f.Rule+"+silence"
	}
	return f
}

func fromAnswer(ev Evidence) *sdk.Failure {
	r := read(ev.Body)
	r.header(ev.Header)
	r.answer.content = r.answer.content || ev.Content
	vendor := vendorTable(ev.Vendor)

	d, ok := headerDecision(ev.Header)
	if !ok {
		d = decide(ev, r, vendor)
	}
	f := sdk.NewFailure(d.code, d.rule, r.message)
	f.Generic = d.generic
	f.Billing = f.Code == sdk.CodeQuota && (d.money || ev.Status == http.StatusPaymentRequired)
	f.Cause = d.cause
	if d.scope != "" {
		f.Scope = d.scope
	} else if rate := vendor.rateScope(); d.code == sdk.CodeRateLimit && rate != "" {
		f.Scope = rate
	}
	f.VendorCode, f.VendorType = r.vendorCode(), r.vendorType()

	if f.Class() != sdk.ClassCaller {
		setHint(f, ev, r, vendor)
	}
	return f
}

// decision is a verdict with its reason.
type decision struct {
	verdict
	cause   sdk.Cause
	rule    string
	generic bool
}

// headerDecision is for the one header that says more than any body: the
// subscription window of an Anthropic account is spent. The body of such an
// answer is that of a burst limit.
func headerDecision(h http.Header) (decision, bool) {
	if h.Get("anthropic-ratelimit-unified-status") != "rejected" {
		return decision{}, false
	}
	return decision{
		verdict: verdict{code: sdk.CodeQuota, scope: sdk.ScopeVendor},
		rule:    "header:anthropic-ratelimit-unified-status",
	}, true
}

// decide follows the order of evidence for an answer.
func decide(ev Evidence, r *reading, vendor *table) decision {
	status := r.effectiveStatus(ev.Status)
	if r.shape == shapeHTML || r.edge {
		return pageDecision(status, r)
	}
	found := lookup(vendor, ev.Dialect, r.names)
	silent := status < http.StatusBadRequest
	switch {
	case found.ok && found.weight == specific:
		return found.decision()
	case status == http.StatusPaymentRequired, status == http.StatusRequestEntityTooLarge:
		// Nobody sends these two by habit: they say more than a catch-all code.
		return statusDecision(status)
	case found.ok && (found.weight == generic || silent):
		return found.decision()
	case !silent:
		return statusDecision(status).widened(status, r, vendor.rateScope())
	}
	return shapeDecision(ev, r)
}
