package provider

import (
	"slices"

	"spillway/host/dialect"
	"spillway/host/llm"
)

// body is what to send.
func (a *attempt) body() ([]byte, error) {
	o := a.provider.outbound(a.request.Model, a.home)
	o.Stream = a.request.Stream
	if a.payload.Body != nil && a.payload.Dialect == a.dialect {
		body, dropped, err := a.provider.fit(a.payload, o)
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

// outbound is what is known of the way to a model. home says that the vendor is
// the one that the caller chose.
func (p *Provider) outbound(model string, home bool) dialect.Outbound {
	return dialect.Outbound{
		Model: model, MaxOutput: p.maxOutput(model), Quirks: p.data.Quirks, Home: home,
		Owns: func(s dialect.Seal) bool { return p.seals.madeBy(s, p.vendor, home) },
	}
}

// fit is a request in a dialect that the vendor speaks. For the vendor that the
// client chose that is the client's own bytes, unless another vendor has had a
// part in the conversation: then the vendor gets what of it it takes.
func (p *Provider) fit(payload *llm.Payload, o dialect.Outbound) (body []byte, dropped []string, err error) {
	mixed := !o.Home || p.data.Quirks.Minds(payload.History) ||
		payload.History&dialect.HistorySealed != 0 && p.seals.others(p.vendor)
	if mixed {
		return payload.Dialect.Project(payload.Body, o)
	}
	return payload.Dialect.Redirect(payload.Body, o)
}

// sealed takes in a seal of the answer.
func (a *attempt) sealed(s dialect.Seal) {
	a.provider.seals.answered(s, a.provider.vendor, a.home)
}
