package provider

import (
	"slices"

	"spillway/host/dialect"
	"spillway/sdk"
)

// readOnlyTools are tools that vendors run which only read, whoever runs them.
var readOnlyTools = []string{"web_search", "web_fetch", "file_search", "tool_search"}

// acting reports whether one of the tools, given by their types, that the vendor
// runs may change something.
func (v Vendor) acting(tools []string) bool {
	harmless := v.ReadOnlyTools
	if harmless == nil {
		harmless = readOnlyTools
	}
	return slices.ContainsFunc(tools, func(kind string) bool {
		return !slices.ContainsFunc(harmless, func(name string) bool { return dialect.IsType(kind, name) })
	})
}

// Acts reports whether the vendor is to run tools for a request that may change
// something.
func (p *Provider) Acts(tools []string) bool { return p.data.acting(tools) }

// acted reports whether a tool that the vendor runs may have done something
// before the attempt failed with f: one was heard of, or the vendor had begun to
// answer a request with such tools and then fell silent or was lost. What it says
// itself of a failure comes instead of an answer.
func (a *attempt) acted(f *sdk.Failure) bool {
	if a.hosted && len(a.payload.Hosted) == 0 { // nobody had named it: a prompt kept by the vendor, say
		return true
	}
	if !a.provider.Acts(a.payload.Hosted) {
		return false
	}
	begun := a.resp != nil && a.resp.StatusCode/100 == 2
	switch f.Code {
	case sdk.CodeTimeout, sdk.CodeTransport, sdk.CodeAborted:
		return a.hosted || begun
	default:
		return a.hosted
	}
}
