package failure

import (
	"net/http"
	"strconv"

	"spillway/sdk"
)

// statuses is what a bare HTTP status means when nothing else decided. 52x and
// 530 are an edge's own, about the server behind it.
var statuses = map[int]verdict{
	400: {code: sdk.CodeInvalidRequest},
	401: {code: sdk.CodeInvalidCredential},
	402: {code: sdk.CodeQuota, scope: sdk.ScopeVendor},
	403: {code: sdk.CodeAuth},
	404: {code: sdk.CodeModelUnavailable},
	408: {code: sdk.CodeTimeout},
	410: {code: sdk.CodeModelUnavailable},
	413: {code: sdk.CodeContextWindow},
	424: {code: sdk.CodeServer},
	425: {code: sdk.CodeServer},
	429: {code: sdk.CodeRateLimit},
	451: {code: sdk.CodePolicy},
	499: {code: sdk.CodeServer},
	504: {code: sdk.CodeTimeout},
	522: {code: sdk.CodeTimeout},
	524: {code: sdk.CodeTimeout},
	529: {code: sdk.CodeOverloaded},
	598: {code: sdk.CodeTimeout},
	599: {code: sdk.CodeTimeout},
}

func statusDecision(status int) decision {
	d := decision{rule: "status:" + strconv.Itoa(status), generic: true}
	if status == http.StatusProxyAuthRequired {
		// Our own proxy refuses, and would for every vendor behind it: held
		// pending like a missing route.
		d.verdict = verdict{code: sdk.CodeTransport, scope: sdk.ScopeVendor}
		d.cause, d.generic = sdk.CauseNoRoute, false
		return d
	}
	v, ok := statuses[status]
	switch {
	case ok:
		d.verdict = v
	case status >= http.StatusInternalServerError:
		d.code = sdk.CodeServer
	case status >= http.StatusBadRequest:
		d.code = sdk.CodeInvalidRequest
	default:
		d.code = sdk.CodeServer
	}
	return d
}

// widened gives a refusal without a vendor's code the whole vendor: it is an
// edge's or a gateway's, which looks at where the call comes from and not at
// its key or its model. rate is what the vendor's limits are known to be for.
func (d decision) widened(status int, r *reading, rate sdk.Scope) decision {
	switch {
	case status == http.StatusForbidden && len(r.names) == 0,
		status == http.StatusTooManyRequests && r.bare() && rate == "":
		d.scope = sdk.ScopeVendor
	}
	return d
}

// pageDecision judges an intermediary's page. Its words are boilerplate, so only
// the status speaks, and no wording may overrule it.
func pageDecision(status int, r *reading) decision {
	if r.edge {
		if m := lookup(vendorTable(edgeOwner), "", r.names); m.ok && m.table == edgeOwner {
			return m.decision()
		}
	}
	if status < http.StatusBadRequest {
		return decision{verdict: verdict{code: sdk.CodeEmptyResponse}, rule: "shape:page"}
	}
	d := statusDecision(status).widened(status, &reading{shape: shapeHTML}, "")
	d.rule, d.generic = "shape:page "+d.rule, false
	return d
}
