package provider

import (
	"slices"

	"spillway/host/dialect"
)

// body is what to send. Where the vendor speaks the client's dialect and is the
// one that the client chose, that is the client's own bytes, unless another
// vendor has had a part in the conversation: then the vendor gets what of it it
// takes.
func (a *attempt) body() ([]byte, error) {
	o := dialect.Outbound{
		Model: a.request.Model, Stream: a.request.Stream, MaxOutput: a.provider.maxOutput(a.request.Model),
		Quirks: a.provider.data.Quirks, Home: a.home, Owns: a.owns,
	}
	if a.payload.Body != nil && a.payload.Dialect == a.dialect {
		fit := a.dialect.Redirect
		if a.mixed() {
			fit = a.dialect.Project
		}
		body, dropped, err := fit(a.payload.Body, o)
		a.call.Trace.Dropped(a.number, dropped)
		return body, err
	}
	p, err := a.payload.Prompt()
	if err != nil {
		return nil, err
	}
	body, dropped, err := a.dialect.BuildRequest(p, o)
	a.call.Trace.Dropped(a.number, append(slices.Clone(p.Dropped), dropped...))
	return body, err
}

// mixed reports whether the request may hold what is not the vendor's own.
func (a *attempt) mixed() bool {
	past := a.payload.History
	return !a.home || a.provider.data.Quirks.Minds(past) ||
		past&dialect.HistorySealed != 0 && a.provider.seals.others(a.provider.vendor)
}

func (a *attempt) owns(s dialect.Seal) bool {
	return a.provider.seals.madeBy(s, a.provider.vendor, a.home)
}

// sealed takes in a seal of the answer.
func (a *attempt) sealed(s dialect.Seal) {
	a.provider.seals.answered(s, a.provider.vendor, a.home)
}
