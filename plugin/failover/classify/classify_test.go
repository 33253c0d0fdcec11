package classify

import (
	"strings"
	"testing"
	"time"

	"github.com/dlclark/regexp2"
	"github.com/google/go-cmp/cmp"

	"spillway/sdk"
)

// failed is a failure as the host hands it on after a bare status.
func failed(code sdk.Code, message string) sdk.Failure {
	f := sdk.NewFailure(code, "status", message)
	f.Generic = true
	return *f
}

func newClassifier(t testing.TB, patterns ...string) *Classifier {
	t.Helper()
	c, faults := New(patterns)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	return c
}

func TestRefinePhrases(t *testing.T) {
	tests := []struct {
		base    sdk.Code
		message string
		want    sdk.Code
		scope   sdk.Scope
	}{
		// money
		{sdk.CodeInvalidRequest, "Credit balance is too low, buy more", sdk.CodeQuota, sdk.ScopeVendor},
		{sdk.CodeAuth, "Your team ran out of budget: out of credits", sdk.CodeQuota, sdk.ScopeVendor},
		{sdk.CodeAuth, "This account is in arrears", sdk.CodeQuota, sdk.ScopeVendor},
		{sdk.CodeAuth, "API key monthly limit exceeded", sdk.CodeQuota, sdk.ScopeKey},
		{sdk.CodeInvalidCredential, "该令牌的额度已耗尽", sdk.CodeQuota, sdk.ScopeKey},
		{sdk.CodeAuth, "可用余额不足，请充值后再用", sdk.CodeQuota, sdk.ScopeVendor},
		{sdk.CodeServer, "企业账户欠費，服务已暂停", sdk.CodeQuota, sdk.ScopeVendor},
		// plans
		{sdk.CodeRateLimit, "You have reached your weekly message limit.", sdk.CodeQuota, sdk.ScopeVendor},
		{sdk.CodeRateLimit, "monthly limit exceeded", sdk.CodeQuota, sdk.ScopeVendor},
		{sdk.CodeRateLimit, "usage-limit reached", sdk.CodeQuota, sdk.ScopeVendor},
		{sdk.CodeRateLimit, "Free tier requests exhausted for today", sdk.CodeQuota, sdk.ScopeRoute},
		{sdk.CodeRateLimit, "Quota exhausted", sdk.CodeQuota, sdk.ScopeRoute},
		{sdk.CodeRateLimit, "Credits are required for turbo mode", sdk.CodeQuota, sdk.ScopeNone},
		{sdk.CodeRateLimit, "The team has used its organization TPD, come back tomorrow", sdk.CodeQuota, sdk.ScopeVendor},
		{sdk.CodeRateLimit, "This key is limited to 100 calls per day", sdk.CodeQuota, sdk.ScopeKey},
		{sdk.CodeRateLimit, "Exceeded budget for model foo", sdk.CodeQuota, sdk.ScopeRoute},
		{sdk.CodeInvalidRequest, "账号无可用额度", sdk.CodeQuota, sdk.ScopeVendor},
		{sdk.CodeRateLimit, "您的订阅本月额度已用尽", sdk.CodeQuota, sdk.ScopeVendor},
		{sdk.CodeRateLimit, "该模型今日调用次数已达上限", sdk.CodeQuota, sdk.ScopeRoute},
		// accounts and keys
		{sdk.CodeRateLimit, "Your account has been suspended.", sdk.CodeAuth, sdk.ScopeVendor},
		{sdk.CodeInvalidRequest, "Account deactivated", sdk.CodeAuth, sdk.ScopeVendor},
		{sdk.CodeAuth, "用户已被停用，请联系管理员", sdk.CodeAuth, sdk.ScopeVendor},
		{sdk.CodeAuth, "This API key has been disabled", sdk.CodeInvalidCredential, sdk.ScopeKey},
		{sdk.CodeAuth, "密钥已过期", sdk.CodeInvalidCredential, sdk.ScopeKey},
		{sdk.CodeInvalidCredential, "This IP is missing from the allowlist", sdk.CodeAuth, sdk.ScopeVendor},
		{sdk.CodeAuth, "The project has been archived", sdk.CodeAuth, sdk.ScopeVendor},
		{sdk.CodeAuth, "This API is not enabled, turn it on first", sdk.CodeAuth, sdk.ScopeVendor},
		{sdk.CodeAuth, "This token does not have the required scopes", sdk.CodeAuth, sdk.ScopeKey},
		{sdk.CodeInvalidRequest, "Could not verify your access token", sdk.CodeInvalidCredential, sdk.ScopeKey},
		// models
		{sdk.CodeAuth, "You do not have access to model foo", sdk.CodeModelUnavailable, sdk.ScopeRoute},
		{sdk.CodeServer, "该模型已下线，请更换", sdk.CodeModelUnavailable, sdk.ScopeRoute},
		{sdk.CodeAuth, "Your plan does not include foo", sdk.CodeModelUnavailable, sdk.ScopeRoute},
		{sdk.CodeAuth, "Team not entitled to use model foo", sdk.CodeModelUnavailable, sdk.ScopeRoute},
		{sdk.CodeInvalidRequest, "foo has no provider supported", sdk.CodeModelUnavailable, sdk.ScopeRoute},
		// the caller's own
		{sdk.CodeRateLimit, "Request too large for this tier, reduce it", sdk.CodeContextWindow, sdk.ScopeNone},
		{sdk.CodeRateLimit, "Request too large for foo on tokens per minute", sdk.CodeContextWindow, sdk.ScopeNone},
		{sdk.CodeInvalidRequest, "Input validation error: `a` tokens + `b` must be <= 100", sdk.CodeContextWindow, sdk.ScopeNone},
		{sdk.CodeServer, "the input exceeds the maximum number of tokens", sdk.CodeContextWindow, sdk.ScopeNone},
		{sdk.CodeInvalidRequest, "The max_tokens you asked for exceeds the limit of 4096", sdk.CodeInvalidRequest, sdk.ScopeNone},
		{sdk.CodeServer, "request validation failed: unsupported effort", sdk.CodeInvalidRequest, sdk.ScopeNone},
		{sdk.CodeServer, "the prompt exceeds the model's context window", sdk.CodeContextWindow, sdk.ScopeNone},
		{sdk.CodeInvalidRequest, "提示词超过最大长度限制", sdk.CodeContextWindow, sdk.ScopeNone},
		{sdk.CodeAuth, "The response was blocked by our safety filters", sdk.CodePolicy, sdk.ScopeNone},
		{sdk.CodeServer, "内容安全审核未通过", sdk.CodePolicy, sdk.ScopeNone},
		// what passes
		{sdk.CodeInvalidRequest, "The cluster is overwhelmed, it is at capacity", sdk.CodeOverloaded, sdk.ScopeRoute},
		{sdk.CodeRateLimit, "服务器负载过高", sdk.CodeOverloaded, sdk.ScopeRoute},
		{sdk.CodeServer, "访问频率超出限制", sdk.CodeRateLimit, sdk.ScopeRoute},
		{sdk.CodeServer, "upstream timed out", sdk.CodeTimeout, sdk.ScopeRoute},
		{sdk.CodeInvalidRequest, "Request rate increased too quickly", sdk.CodeRateLimit, sdk.ScopeRoute},
		{sdk.CodeServer, "All accounts are limited", sdk.CodeRateLimit, sdk.ScopeRoute},
		{sdk.CodeRateLimit, "Concurrency limit exceeded for user", sdk.CodeRateLimit, sdk.ScopeVendor},
		{sdk.CodeServer, "rate_limit_check_failed", sdk.CodeServer, sdk.ScopeRoute},
		// words that decide nothing
		{sdk.CodeRateLimit, "Rate limit exceeded. Upgrade your plan for higher limits.", sdk.CodeRateLimit, sdk.ScopeRoute},
		{sdk.CodeRateLimit, "Rate limit will reset soon; see billing for more credits", sdk.CodeRateLimit, sdk.ScopeRoute},
		{sdk.CodeServer, "quota", sdk.CodeServer, sdk.ScopeRoute},
		{sdk.CodeServer, "limit", sdk.CodeServer, sdk.ScopeRoute},
		{sdk.CodeServer, "credit", sdk.CodeServer, sdk.ScopeRoute},
		{sdk.CodeServer, "billing service returned an error", sdk.CodeServer, sdk.ScopeRoute},
		{sdk.CodeServer, "额度服务异常", sdk.CodeServer, sdk.ScopeRoute},
		{sdk.CodeRateLimit, "See https://example.com/account/insufficient-balance/usage-limit-reached", sdk.CodeRateLimit, sdk.ScopeRoute},
		// an echo of the caller's words
		{sdk.CodeInvalidRequest, "messages.4.content: 'your account has been banned' is not allowed", sdk.CodeInvalidRequest, sdk.ScopeNone},
		{sdk.CodeInvalidRequest, "Unknown role “insufficient balance”", sdk.CodeInvalidRequest, sdk.ScopeNone},
		{sdk.CodeInvalidRequest, "got `usage limit reached`, want an object", sdk.CodeInvalidRequest, sdk.ScopeNone},
		{sdk.CodeInvalidRequest, `the value "余额不足" cannot be used here`, sdk.CodeInvalidRequest, sdk.ScopeNone},
	}
	c := newClassifier(t)
	for _, tt := range tests {
		got := c.Refine("vendor", failed(tt.base, tt.message))
		if got.Code != tt.want || got.Scope != tt.scope {
			t.Errorf("%s %q: got %s %s by %s, want %s %s", tt.base, tt.message, got.Code, got.Scope, got.Rule, tt.want, tt.scope)
		}
	}
}

func TestRefineLeavesSpecificFailures(t *testing.T) {
	c := newClassifier(t, "teapot")
	for _, f := range []sdk.Failure{
		{Code: sdk.CodeOverloaded, Scope: sdk.ScopeRoute, Message: "insufficient balance", Rule: "anthropic.type"},
		{Code: sdk.CodePolicy, Scope: sdk.ScopeNone, Message: "teapot", Rule: "openai.code"},
		{Code: sdk.CodeQuota, Scope: sdk.ScopeVendor, Message: "teapot", Rule: "zhipu.code"},
		{Code: sdk.CodeAborted, Scope: sdk.ScopeNone, Message: "teapot", Generic: true},
		{Code: sdk.CodeLocalNetwork, Scope: sdk.ScopeNone, Message: "teapot"},
		{Code: sdk.CodeServer, Scope: sdk.ScopeRoute, Generic: true},
	} {
		if diff := cmp.Diff(f, c.Refine("vendor", f)); diff != "" {
			t.Errorf("%s changed (-want +got):\n%s", f.Code, diff)
		}
	}
}

func TestRefineQuotaNarrows(t *testing.T) {
	c := newClassifier(t)
	f := failed(sdk.CodeQuota, "API key budget exceeded")
	f.Scope = sdk.ScopeVendor
	if got := c.Refine("vendor", f); got.Scope != sdk.ScopeKey {
		t.Errorf("scope %s, want key", got.Scope)
	}
	f = failed(sdk.CodeQuota, "prompt is too long for your rate limit")
	if got := c.Refine("vendor", f); got.Code != sdk.CodeQuota {
		t.Errorf("code %s, want QUOTA", got.Code)
	}

	f = failed(sdk.CodeQuota, "Quota exceeded: 60 requests per minute")
	if got := c.Refine("vendor", f); got.Code != sdk.CodeRateLimit {
		t.Errorf("a minute's quota: code %s, want RATE_LIMIT", got.Code)
	}
	f.Billing = true
	if got := c.Refine("vendor", f); got.Code != sdk.CodeQuota {
		t.Errorf("a minute's quota under 402: code %s, want QUOTA", got.Code)
	}
	f = failed(sdk.CodeQuota, "the monthly plan quota is exhausted")
	f.Scope = sdk.ScopeRoute
	if got := c.Refine("vendor", f); got.Scope != sdk.ScopeVendor {
		t.Errorf("a plan's quota: scope %s, want vendor", got.Scope)
	}
}

func TestRefineAsksWho(t *testing.T) {
	c := newClassifier(t)
	f := failed(sdk.CodeRateLimit, "Free quota exceeded")
	for provider, want := range map[string]sdk.Scope{"qwen": sdk.ScopeRoute, "qwen-oauth": sdk.ScopeVendor} {
		if got := c.Refine(provider, f); got.Code != sdk.CodeQuota || got.Scope != want {
			t.Errorf("%s: %s at the %s, want QUOTA at the %s", provider, got.Code, got.Scope, want)
		}
	}
}

func TestRefineHintDecides(t *testing.T) {
	c := newClassifier(t)
	f := failed(sdk.CodeRateLimit, "You have exhausted your capacity on this model.")
	for _, tt := range []struct {
		wait time.Duration
		want sdk.Code
	}{{30 * time.Second, sdk.CodeRateLimit}, {2 * time.Hour, sdk.CodeQuota}} {
		f.RetryAfter = tt.wait
		if got := c.Refine("vendor", f); got.Code != tt.want {
			t.Errorf("after %v: %s, want %s", tt.wait, got.Code, tt.want)
		}
	}
}

func TestPatterns(t *testing.T) {
	c := newClassifier(t, `tea\s*pot`, `(?<=no )milk`)
	tests := []struct {
		f    sdk.Failure
		want sdk.Code
		rule string
	}{
		{failed(sdk.CodeServer, "I am a TEA POT"), sdk.CodeQuota, `pattern:tea\s*pot`},
		{failed(sdk.CodeInvalidRequest, "there is no milk"), sdk.CodeQuota, `pattern:(?<=no )milk`},
		{sdk.Failure{Code: sdk.CodeOverloaded, Message: "teapot"}, sdk.CodeQuota, `pattern:tea\s*pot`},
		{failed(sdk.CodeServer, "messages.0.role: teapot"), sdk.CodeInvalidRequest, "phrase:validation"},
		{failed(sdk.CodeServer, "prompt is too long for a teapot"), sdk.CodeContextWindow, "phrase:context-window"},
	}
	for _, tt := range tests {
		got := c.Refine("vendor", tt.f)
		if got.Code != tt.want || got.Rule != tt.rule {
			t.Errorf("%q: got %s by %s, want %s by %s", tt.f.Message, got.Code, got.Rule, tt.want, tt.rule)
		}
		if got.Code == sdk.CodeQuota && got.Scope != sdk.ScopeRoute {
			t.Errorf("%q: scope %s, want route", tt.f.Message, got.Scope)
		}
	}
}

func TestNewFaults(t *testing.T) {
	c, faults := New([]string{"good", "(", "", strings.Repeat("a", maxPattern+1)})
	var paths []string
	for _, f := range faults {
		paths = append(paths, f.Path)
	}
	if diff := cmp.Diff([]string{"patterns[1]", "patterns[2]", "patterns[3]"}, paths); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
	if faults[0].Value != "(" {
		t.Errorf("fault names %q, want the expression", faults[0].Value)
	}
	if got := c.Refine("vendor", failed(sdk.CodeServer, "good")); got.Code != sdk.CodeQuota {
		t.Errorf("the good pattern does not work: %s", got.Code)
	}

	many := make([]string, maxPatterns+5)
	for i := range many {
		many[i] = "x"
	}
	if _, faults = New(many[:maxPatterns]); len(faults) != 0 {
		t.Errorf("%d patterns: %v", maxPatterns, faults)
	}
	if _, faults = New(many); len(faults) != 1 {
		t.Errorf("%d patterns: %d faults, want 1", len(many), len(faults))
	}
}

func TestSlowPatternIsReportedOnce(t *testing.T) {
	const slow = `^(a+)+$`
	c := newClassifier(t, slow, "fine")
	var faults []sdk.Fault
	c.OnFault = func(f sdk.Fault) { faults = append(faults, f) }

	message := strings.Repeat("a", 60) + "! fine"
	for range maxTimeouts + 2 {
		if got := c.Refine("vendor", failed(sdk.CodeServer, message)); got.Rule != "pattern:fine" {
			t.Errorf("rule %q, want the next pattern's", got.Rule)
		}
	}
	if len(faults) != 1 || faults[0].Value != slow {
		t.Errorf("faults %v, want one for %q", faults, slow)
	}
}

func TestPhrases(t *testing.T) {
	for _, p := range phrases() {
		if p.name == "" || p.code.Scope() == "" || !p.code.Known() {
			t.Errorf("phrase %q: incomplete", p.name)
		}
		for _, e := range p.any {
			if literals(e) == nil {
				t.Errorf("phrase %q: nothing is required by %s", p.name, e)
			}
		}
	}
}

// No built-in expression explodes on a message made of its own words. The limit
// is far from what they need, and far below what an explosion takes.
func TestPhrasesTakeBoundedTime(t *testing.T) {
	var all []*regexp2.Regexp
	for _, p := range phrases() {
		for _, e := range builtin(append(p.any, p.unless, p.unlessFrom)...) {
			re, err := e.compiled()
			if err != nil {
				t.Fatalf("phrase %q: %s: %v", p.name, e.source, err)
			}
			re.MatchTimeout = 10 * time.Second
			all = append(all, re)
		}
	}
	for _, word := range []string{"a ", "limit ", "token ", "tokens exceed ", "your account ", "model ", "额度", "1 hour ", "'", "messages.0", "per minute "} {
		long := []rune(strings.Repeat(word, sdk.MaxMessage/len(word)))
		for _, re := range all {
			if _, err := re.MatchRunes(long); err != nil {
				t.Errorf("on %q: %s: %v", word, re, err)
			}
		}
	}
}

func TestLiterals(t *testing.T) {
	tests := []struct {
		expr string
		want [][]string
	}{
		{`\bover(?:loaded)? the\b`, [][]string{{"over"}, {" the"}}},
		{`(?:reach|hit)\w* .{0,9}LIMIT`, [][]string{{"reach", "hit"}, {" "}, {"limit"}}},
		{`[额額]度+`, [][]string{{"額", "额"}, {"度"}}},
		{`a?[a-z]*`, nil},
		{`abc|d*`, nil},
		{`(?=x)`, nil},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, literals(tt.expr)); diff != "" {
			t.Errorf("literals(%q) (-want +got):\n%s", tt.expr, diff)
		}
	}
}

func TestNormalize(t *testing.T) {
	tests := []struct {
		in    string
		blank bool
		want  string
	}{
		{"a  b\n\tc", false, "a b c"},
		{"see https://x.y/billing, now", false, "see now"},
		{"don’t ＡＢ", false, "don't AB"},
		{"you're 'out of credits' now, it's \"true\"", true, `you're '' now, it's ""`},
		{"the model's 'x's", true, "the model's 'x's"},
		{"open 'quote", true, "open 'quote"},
		{"'kept' without blanking", false, "'kept' without blanking"},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, string(normalize(tt.in, tt.blank))); diff != "" {
			t.Errorf("normalize(%q, %v) (-want +got):\n%s", tt.in, tt.blank, diff)
		}
	}
}

func FuzzRefine(f *testing.F) {
	f.Add("Your credit balance is too low", "429", "rate_limit_error", true)
	f.Add("messages.0: 'account banned'", "", "invalid_request_error", true)
	f.Add("余额不足，请充值", "1113", "", false)
	c, _ := New([]string{`quota\s+left`})
	f.Fuzz(func(t *testing.T, message, code, kind string, generic bool) {
		for _, base := range sdk.Codes() {
			in := sdk.NewFailure(base, "status:0", message)
			in.VendorCode, in.VendorType, in.Generic = code, kind, generic
			got := c.Refine("vendor", *in)
			if !got.Code.Known() || got.Scope == "" || got.Message != in.Message {
				t.Fatalf("%+v", got)
			}
			if !generic && in.Class() == sdk.ClassCaller && got.Code != base {
				t.Fatalf("specific %s became %s", base, got.Code)
			}
		}
	})
}

// messages are what the classifier reads when it is measured, each with what it
// may allocate, twice what it does: the race detector has pools forget what they
// hold. Only failures are read, so this is there to notice a rule that makes
// garbage for each word.
var messages = []struct {
	name, message string
	allocs        float64
}{
	{"typical", "Rate limit reached for model in organization org-x on tokens: Limit 6000, Used 5034. Please try again in 4.77s.", 30},
	{"unknown", "The request could not be handled for a reason that nobody wrote down; ask the operators of the service for more.", 20},
	{"longest", strings.Repeat("the model said something else ", sdk.MaxMessage/30), 20},
}

func TestRefineAllocates(t *testing.T) {
	c := newClassifier(t)
	for _, m := range messages {
		f := failed(sdk.CodeServer, m.message)
		if n := testing.AllocsPerRun(100, func() { c.Refine("vendor", f) }); n > m.allocs {
			t.Errorf("%s: %v allocations, at most %v", m.name, n, m.allocs)
		}
	}
}

func BenchmarkRefine(b *testing.B) {
	c := newClassifier(b)
	for _, m := range messages {
		b.Run(m.name, func(b *testing.B) {
			f := failed(sdk.CodeServer, m.message)
			b.ReportAllocs()
			for b.Loop() {
				c.Refine("vendor", f)
			}
		})
	}
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		New(nil)
	}
}

func TestMatched(t *testing.T) {
	c, faults := New([]string{"bana+nas"})
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	for _, tt := range []struct{ name, message, rule, want string }{
		{"a rule of wording", "Sorry! You've reached  your Opus limit, wait.", "phrase:plan-of-model", "reached your Opus limit"},
		{"a pattern", "we are out of banaanas", "pattern:bana+nas", "banaanas"},
		{"nothing", "no", "status:429", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := c.Refine("acme", sdk.Failure{Code: sdk.CodeRateLimit, Rule: "status:429", Generic: true, Message: tt.message})
			if f.Rule != tt.rule || f.Matched != tt.want {
				t.Errorf("rule %q matched %q, want %q matched %q", f.Rule, f.Matched, tt.rule, tt.want)
			}
		})
	}
}
