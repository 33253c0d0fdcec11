package failure

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spillway/sdk"
)

func TestFromAnswer(t *testing.T) {
	type verdict struct {
		Code    sdk.Code
		Scope   sdk.Scope
		Rule    string
		Generic bool
		Message string
	}
	tests := []struct {
		name string
		ev   Evidence
		want verdict
	}{
		{
			"specific type",
			Evidence{Vendor: "anthropic", Dialect: "anthropic", Status: 529, Body: []byte(`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`)},
			verdict{sdk.CodeOverloaded, sdk.ScopeRoute, "anthropic.type:overloaded_error", false, "Overloaded"},
		},
		{
			"business code over the status",
			Evidence{Vendor: "zhipu-coding", Dialect: "openai", Status: 429, Body: []byte(`{"error":{"code":"1308","message":"m"}}`)},
			verdict{sdk.CodeQuota, sdk.ScopeVendor, "zhipu.code:1308", false, "m"},
		},
		{
			"the same number elsewhere is no code",
			Evidence{Vendor: "somebody", Dialect: "openai", Status: 429, Body: []byte(`{"error":{"code":"1308","message":"m"}}`)},
			verdict{sdk.CodeRateLimit, sdk.ScopeRoute, "status:429", true, "m"},
		},
		{
			"a vague code yields to the status",
			Evidence{Vendor: "deepseek", Dialect: "openai", Status: 402, Body: []byte(`{"error":{"message":"m","type":"unknown_error","code":"invalid_request_error"}}`)},
			verdict{sdk.CodeQuota, sdk.ScopeVendor, "status:402", true, "m"},
		},
		{
			"a generic code beats the status and stays open to wording",
			Evidence{Dialect: "anthropic", Status: 403, Body: []byte(`{"type":"error","error":{"type":"permission_error","message":"m"}}`)},
			verdict{sdk.CodeAuth, sdk.ScopeKey, "anthropic.type:permission_error", true, "m"},
		},
		{
			"a code before the type it refines",
			Evidence{Vendor: "volcengine", Status: 403, Body: []byte(`{"error":{"message":"m","type":"Forbidden","code":"AccessDenied"}}`)},
			verdict{sdk.CodeAuth, sdk.ScopeKey, "volcengine.code:AccessDenied", true, "m"},
		},
		{
			"the size over a generic code",
			Evidence{Status: 413, Body: []byte(`{"error":{"message":"m","code":"tokens_limit_reached"}}`)},
			verdict{sdk.CodeContextWindow, sdk.ScopeNone, "status:413", true, "m"},
		},
		{
			"a gateway's limit",
			Evidence{Vendor: "somebody", Status: 429, Body: []byte(`{"message":"m","request_id":"r"}`)},
			verdict{sdk.CodeRateLimit, sdk.ScopeVendor, "status:429", true, "m"},
		},
		{
			"a bare limit of a vendor that counts by model",
			Evidence{Vendor: "siliconflow", Status: 429, Body: []byte(`{"message":"m","data":null}`)},
			verdict{sdk.CodeRateLimit, sdk.ScopeRoute, "status:429", true, "m"},
		},
		{
			"an edge's page of a limit",
			Evidence{Status: 429, Body: []byte("<html><head><title>429 Too Many Requests</title></head></html>")},
			verdict{sdk.CodeRateLimit, sdk.ScopeVendor, "shape:page status:429", false, "429 Too Many Requests"},
		},
		{
			"a window in Google's metadata",
			Evidence{Dialect: "gemini", Status: 429, Body: []byte(`{"error":{"code":429,"message":"m","details":[{"reason":"QUOTA_EXCEEDED","metadata":{"quota_limit":"RequestsPerDayPerProject","quota_limit_value":"50"}}]}}`)},
			verdict{sdk.CodeQuota, sdk.ScopeRoute, "gemini.quotaId:RequestsPerDayPerProject", false, "m"},
		},
		{
			"a limit that is no limit of calls",
			Evidence{Status: 400, Body: []byte(`{"error":{"message":"m","code":"tool_limit_reached"}}`)},
			verdict{sdk.CodeInvalidRequest, sdk.ScopeNone, "status:400", true, "m"},
		},
		{
			"refinement after a dot",
			Evidence{Vendor: "volcengine", Status: 429, Body: []byte(`{"error":{"code":"RateLimitExceeded.NewKindOfLimit","message":"m"}}`)},
			verdict{sdk.CodeRateLimit, sdk.ScopeRoute, "volcengine.code:RateLimitExceeded.NewKindOfLimit", false, "m"},
		},
		{
			"a code nobody listed, by its parts",
			Evidence{Status: 400, Body: []byte(`{"error":{"code":"team_credit_balance_empty","message":"m"}}`)},
			verdict{sdk.CodeQuota, sdk.ScopeVendor, "family.code:team_credit_balance_empty", false, "m"},
		},
		{
			"JSON in a message",
			Evidence{Status: 500, Body: []byte(`{"error":{"message":"{\"error\":{\"message\":\"inner\",\"type\":\"overloaded_error\"}}","type":"api_error"}}`)},
			verdict{sdk.CodeOverloaded, sdk.ScopeRoute, "anthropic.type:overloaded_error", false, "inner"},
		},
		{
			"a relay's prefix and Python's quotes",
			Evidence{Status: 500, Body: []byte(`{"error":{"message":"Error code: 429 - {'error': {'message': 'it\\'s full', 'type': None, 'code': 'server_is_overloaded'}}"}}`)},
			verdict{sdk.CodeOverloaded, sdk.ScopeRoute, "openai.code:server_is_overloaded", false, "it's full"},
		},
		{
			"an object quoted back is not unwrapped",
			Evidence{Status: 400, Body: []byte(`{"error":{"message":"cannot parse arguments: {\"note\":\"account suspended\"}","type":"invalid_request_error"}}`)},
			verdict{sdk.CodeInvalidRequest, sdk.ScopeNone, "status:400", true, `cannot parse arguments: {"note":"account suspended"}`},
		},
		{
			"error inside a success",
			Evidence{Status: 200, Body: []byte(`{"error":{"message":"m","code":503}}`)},
			verdict{sdk.CodeServer, sdk.ScopeRoute, "status:503", true, "m"},
		},
		{
			"a schema checker's report",
			Evidence{Status: 422, Body: []byte(`{"detail":[{"type":"string_too_long","loc":["body","messages"],"msg":"too long","input":"insufficient balance"}]}`)},
			verdict{sdk.CodeInvalidRequest, sdk.ScopeNone, "relay.loc:schema_violation", false, "too long"},
		},
		{
			"JSON without a message shows nothing of itself",
			Evidence{Status: 400, Body: []byte(`{"messages":[{"content":"insufficient balance"}],"echo":"account suspended"}`)},
			verdict{sdk.CodeInvalidRequest, sdk.ScopeNone, "status:400", true, ""},
		},
		{
			"broken JSON shows nothing of itself",
			Evidence{Status: 502, Body: []byte(`{"error":{"mess`)},
			verdict{sdk.CodeServer, sdk.ScopeRoute, "status:502", true, ""},
		},
		{
			"a text is its own message",
			Evidence{Status: 503, Body: []byte("no healthy upstream\n")},
			verdict{sdk.CodeServer, sdk.ScopeRoute, "status:503", true, "no healthy upstream"},
		},
		{
			"a page's words do not count",
			Evidence{Status: 503, Body: []byte(`<html><title>Busy</title><p>rate limit exceeded, quota used up</p></html>`)},
			verdict{sdk.CodeServer, sdk.ScopeRoute, "shape:page status:503", false, "Busy"},
		},
		{
			"a page instead of an answer",
			Evidence{Status: 200, Body: []byte(`<!DOCTYPE html><html></html>`)},
			verdict{sdk.CodeEmptyResponse, sdk.ScopeRoute, "shape:page", false, ""},
		},
		{
			"an empty success",
			Evidence{Status: 200},
			verdict{sdk.CodeEmptyResponse, sdk.ScopeRoute, "shape:empty", false, ""},
		},
		{
			"choices without any",
			Evidence{Status: 200, Body: []byte(`{"id":"x","choices":[]}`)},
			verdict{sdk.CodeEmptyResponse, sdk.ScopeRoute, "shape:no-answer", false, ""},
		},
		{
			"our own proxy",
			Evidence{Status: 407},
			verdict{sdk.CodeTransport, sdk.ScopeVendor, "status:407", false, ""},
		},
		{
			"error event",
			Evidence{Status: 200, Phase: sdk.PhaseStream, Body: []byte("event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":\"m\"}}\n\n")},
			verdict{sdk.CodeRateLimit, sdk.ScopeRoute, "anthropic.type:rate_limit_error", true, "m"},
		},
		{
			"cut stream",
			Evidence{Status: 200, Phase: sdk.PhaseStream, Content: true},
			verdict{sdk.CodeTransport, sdk.ScopeRoute, "shape:cut", false, ""},
		},
		{
			"keep-alives only",
			Evidence{Status: 200, Phase: sdk.PhaseStream, Body: []byte(": ping\n\n: ping\n\n")},
			verdict{sdk.CodeEmptyResponse, sdk.ScopeRoute, "shape:no-answer", false, ""},
		},
		{
			"a stop reason that is a failure",
			Evidence{Status: 200, Phase: sdk.PhaseStream, Body: []byte("data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"content_filter\"}]}\n\n")},
			verdict{sdk.CodePolicy, sdk.ScopeNone, "finish:content_filter", false, ""},
		},
		{
			"a vendor's header",
			Evidence{Status: 429, Header: http.Header{"Anthropic-Ratelimit-Unified-Status": {"rejected"}}, Body: []byte(`{"error":{"type":"rate_limit_error","message":"m"}}`)},
			verdict{sdk.CodeQuota, sdk.ScopeVendor, "header:anthropic-ratelimit-unified-status", false, "m"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := From(tt.ev)
			got := verdict{f.Code, f.Scope, f.Rule, f.Generic, f.Message}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestFromKeepsVendorNames(t *testing.T) {
	f := From(Evidence{Status: 429, Body: []byte(`{"error":{"message":"m","type":"tokens","code":"rate_limit_exceeded"}}`)})
	if f.VendorCode != "rate_limit_exceeded" || f.VendorType != "tokens" || f.Status != 429 || f.Phase != sdk.PhaseResponse {
		t.Errorf("got %+v", f)
	}
}

func TestMessageIsBounded(t *testing.T) {
	f := From(Evidence{Status: 500, Body: []byte(strings.Repeat("长", 5000))})
	if len(f.Message) > sdk.MaxMessage || !strings.HasPrefix(f.Message, "长") {
		t.Errorf("message has %d bytes", len(f.Message))
	}
	huge := `{"error":{"message":"m","type":"overloaded_error"},"input":"` + strings.Repeat("x", 2*maxBody) + `"}`
	if f := From(Evidence{Status: 503, Body: []byte(huge)}); f.Code != sdk.CodeOverloaded || f.Message != "m" {
		t.Errorf("huge body: %s %q", f.Code, f.Message)
	}
	deep := strings.Repeat(`{"error":`, 5000) + `"x"` + strings.Repeat("}", 5000)
	if f := From(Evidence{Status: 500, Body: []byte(deep)}); f.Code != sdk.CodeServer {
		t.Errorf("deep body: %s", f.Code)
	}
}

func TestSilenceIsTimeout(t *testing.T) {
	ev := Evidence{Status: 200, Phase: sdk.PhaseStream, Content: true, Silence: maxSilence}
	if f := From(ev); f.Code != sdk.CodeTransport {
		t.Errorf("at the limit: %s, want TRANSPORT", f.Code)
	}
	ev.Silence += time.Millisecond
	if f := From(ev); f.Code != sdk.CodeTimeout || f.Cause != sdk.CauseCut || f.Scope != sdk.ScopeRoute {
		t.Errorf("over the limit: %s %s %s, want TIMEOUT cut route", f.Code, f.Cause, f.Scope)
	}
}

func TestVendorTable(t *testing.T) {
	for name, want := range map[string]string{
		"zhipu": "zhipu", "Z.AI": "zhipu", "my-glm-plan": "zhipu", "xai": "", "aspark": "",
		"kimi-coding": "moonshot", "claude_cli": "anthropic", "openai": "", "new-api": "relay", "": "",
	} {
		got := ""
		if table := vendorTable(name); table != nil {
			got = table.name
		}
		if got != want {
			t.Errorf("vendorTable(%q) = %q, want %q", name, got, want)
		}
	}
}

// Two spellings of one code in one table would hide each other.
func TestTablesAreUnambiguous(t *testing.T) {
	for _, tab := range append(dialectTables(), providerTables()...) {
		seen := make(map[string]string)
		for code := range tab.codes {
			if other, ok := seen[fold(code)]; ok {
				t.Errorf("table %s: %q and %q are one code", tab.name, code, other)
			}
			seen[fold(code)] = code
		}
	}
}

func TestFromRecord(t *testing.T) {
	var r Record
	line := `{"id":"x","vendor":"v","protocol":"openai","phase":"response","status":429,"headers":{"retry-after":"3"},"body":"{}"}`
	if err := json.Unmarshal([]byte(line), &r); err != nil {
		t.Fatal(err)
	}
	if f := FromRecord(r); f.Code != sdk.CodeRateLimit || f.RetryAfter != 3*time.Second || f.HintSource != "retry-after" {
		t.Errorf("got %s after %v from %q", f.Code, f.RetryAfter, f.HintSource)
	}
	if err := json.Unmarshal([]byte(`{"phase":"transport","status":null,"headers":null,"body":"connect ECONNREFUSED ::1:1"}`), &r); err != nil {
		t.Fatal(err)
	}
}

func FuzzFrom(f *testing.F) {
	f.Add("anthropic", "anthropic", "response", 429, "retry-after", "12", `{"type":"error","error":{"type":"rate_limit_error","message":"m"}}`)
	f.Add("zhipu", "openai", "response", 429, "date", "x", `{"error":{"code":"1308","message":"您的限额将在 2026-08-25 07:41:44 重置。"}}`)
	f.Add("x", "openai", "stream", 200, "", "", "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n")
	f.Add("x", "other", "transport", 0, "", "", "read ECONNRESET")
	f.Add("gemini", "gemini", "response", 429, "x-ratelimit-reset", "1755772800", `[{"error":{"code":429,"details":[{"violations":[{"quotaId":"PerDay"}]},{"retryDelay":"9s"}]}}]`)
	f.Add("x", "other", "response", 500, "", "", `Error code: 429 - {'error': {'message': 'a', 'code': None}}`)
	f.Add("x", "other", "stream", 200, "", "", "You've hit your limit · resets Jan 18, 11:30am (Asia/Calcutta)")
	now := time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, vendor, dialect, phase string, status int, key, value, body string) {
		got := From(Evidence{
			Vendor: vendor, Dialect: dialect, Phase: sdk.Phase(phase), Status: status,
			Header: http.Header{http.CanonicalHeaderKey(key): {value}}, Body: []byte(body), Now: now,
		})
		switch {
		case got == nil:
			t.Fatal("no failure")
		case !got.Code.Known() || got.Scope == "" || got.Rule == "":
			t.Fatalf("incomplete: %+v", got)
		case len(got.Message) > sdk.MaxMessage:
			t.Fatalf("message of %d bytes", len(got.Message))
		case got.RetryAfter < 0 || got.RetryAfter > maxWait:
			t.Fatalf("wait of %v", got.RetryAfter)
		}
	})
}

// FuzzRecord: a line of a file of recorded answers is refused as JSON or judged.
func FuzzRecord(f *testing.F) {
	f.Add(`{"id":"x","vendor":"v","protocol":"openai","phase":"response","status":429,"headers":{"Retry-After":"3"},"body":"{}"}`)
	f.Add(`{"phase":"stream","status":null,"headers":null,"body":"data: {\"error\":{\"code\":\"1113\"}}"}`)
	f.Add(`{"status":-1,"headers":{"":"","\n":"\u0000","date":"x"},"protocol":"gemini","body":"[{\"error\":{}}]"}`)
	f.Fuzz(func(t *testing.T, line string) {
		var r Record
		if json.Unmarshal([]byte(line), &r) != nil {
			return
		}
		got := FromRecord(r)
		if got == nil || !got.Code.Known() || got.Rule == "" || got.Scope == "" {
			t.Fatalf("incomplete: %+v", got)
		}
		if got.RetryAfter < 0 || got.RetryAfter > maxWait || len(got.Message) > sdk.MaxMessage {
			t.Errorf("a wait of %v, a message of %d bytes", got.RetryAfter, len(got.Message))
		}
	})
}
