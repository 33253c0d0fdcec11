package gateway

import (
	"fmt"
	"net/http"
	"strings"

	"spillway/sdk"
)

// Headers with which a client demands something of whoever serves it. They stay
// here: no vendor sees them.
const (
	headerBudget   = "X-Spillway-Budget"   // a named budget
	headerContract = "X-Spillway-Contract" // a named contract
	headerStrict   = "X-Spillway-Strict"   // true: the chosen route and no other
	headerFallback = "X-Spillway-Fallback" // false: no other model
	headerStream   = "X-Spillway-Stream"   // fail, buffer or resume: what becomes of a stream that breaks
)

// wants reads a client's demands on top of those of the alias that it named.
func wants(h http.Header, w sdk.Wants) (sdk.Wants, *sdk.Failure) {
	if v := h.Get(headerBudget); v != "" {
		w.Budget = v
	}
	if v := h.Get(headerContract); v != "" {
		w.Contract = v
	}
	switch v := strings.ToLower(strings.TrimSpace(h.Get(headerStream))); v {
	case "":
	case "fail", "buffer", "resume":
		w.Stream = v
	default:
		return w, sdk.NewFailure(sdk.CodeInvalidRequest, "gateway.wants", fmt.Sprintf("header %s: got %q (allowed: fail, buffer, resume)", headerStream, v))
	}
	strict, fallback := w.Strict, !w.SameModel
	for _, b := range []struct {
		name string
		v    *bool
	}{{headerStrict, &strict}, {headerFallback, &fallback}} {
		switch v := strings.ToLower(strings.TrimSpace(h.Get(b.name))); v {
		case "":
		case "true", "on", "1":
			*b.v = true
		case "false", "off", "0":
			*b.v = false
		default:
			return w, sdk.NewFailure(sdk.CodeInvalidRequest, "gateway.wants", fmt.Sprintf("header %s: got %q (allowed: true, false)", b.name, v))
		}
	}
	w.Strict, w.SameModel = strict, !fallback
	return w, nil
}
