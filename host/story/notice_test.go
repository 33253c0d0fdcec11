package story

import (
	"strings"
	"testing"
	"time"

	"spillway/host/state/record"
	"spillway/sdk"
)

func TestNotice(t *testing.T) {
	kimi := sdk.Route{Provider: "kimi-coding", Model: "k3"}
	deepseek := sdk.Route{Provider: "deepseek", Model: "deepseek-flash"}
	failed := func(f record.Failure, judged sdk.Code, scope sdk.Scope) *record.Attempt {
		return &record.Attempt{Route: kimi, Failure: f, JudgedCode: judged, JudgedScope: scope}
	}
	for _, tt := range []struct {
		name   string
		a      record.Attempt
		prev   *record.Attempt
		en, zh string
	}{
		{name: "first on the route that was wished for", a: record.Attempt{Kind: sdk.KindPrimary, Route: kimi, Reason: "head"}},
		{
			name: "account closed, as the plugin judged",
			a:    record.Attempt{Kind: sdk.KindFallback, Route: deepseek, Reason: "AUTH"},
			prev: failed(record.Failure{Code: sdk.CodeAuth, Scope: sdk.ScopeKey}, sdk.CodeAuth, sdk.ScopeVendor),
			en:   "switched to deepseek/deepseek-flash: kimi-coding/k3 has closed the account (AUTH)",
			zh:   "已切换到 deepseek/deepseek-flash：kimi-coding/k3 封了账号（AUTH）",
		},
		{
			name: "the plugin's judgement is not there yet",
			a:    record.Attempt{Kind: sdk.KindFallback, Route: deepseek},
			prev: failed(record.Failure{Code: sdk.CodeTransport, Cause: sdk.CauseRefused, Scope: sdk.ScopeVendor}, "", ""),
			en:   "switched to deepseek/deepseek-flash: kimi-coding/k3 refuses connections (TRANSPORT)",
			zh:   "已切换到 deepseek/deepseek-flash：kimi-coding/k3 拒绝连接（TRANSPORT）",
		},
		{
			name: "another key",
			a:    record.Attempt{Kind: sdk.KindFailover, Route: kimi},
			prev: failed(record.Failure{Code: sdk.CodeInvalidCredential, Scope: sdk.ScopeKey}, "", ""),
			en:   "switched to another key of kimi-coding: kimi-coding/k3 does not accept the key (INVALID_CREDENTIAL)",
			zh:   "已换用 kimi-coding 的另一把密钥：kimi-coding/k3 不认这把密钥（INVALID_CREDENTIAL）",
		},
		{
			name: "what was wished for is out",
			a:    record.Attempt{Kind: sdk.KindFallback, Route: deepseek, Reason: "head is out", Skipped: []sdk.Skip{{Route: kimi, Reason: "vendor out"}}},
			en:   "switched to deepseek/deepseek-flash: kimi-coding/k3 is passed over (its vendor is paused)",
			zh:   "已切换到 deepseek/deepseek-flash：跳过 kimi-coding/k3（整个供应商已暂停）",
		},
		{
			name: "a stated wait",
			a:    record.Attempt{Kind: sdk.KindRetry, Route: kimi, Delay: record.Duration(2 * time.Second)},
			prev: failed(record.Failure{Code: sdk.CodeRateLimit}, "", ""),
			en:   "waiting 2s, then asking kimi-coding/k3 again: kimi-coding/k3 is rate limited (RATE_LIMIT)",
			zh:   "等 2 秒，再问 kimi-coding/k3：kimi-coding/k3 限流了（RATE_LIMIT）",
		},
		{
			name: "a retry after a failure of a code from a newer peer",
			a:    record.Attempt{Kind: sdk.KindRetry, Route: kimi},
			prev: failed(record.Failure{Code: "MOON_PHASE"}, "", ""),
			en:   "asking kimi-coding/k3 again: kimi-coding/k3 MOON_PHASE",
			zh:   "再问 kimi-coding/k3：kimi-coding/k3 MOON_PHASE",
		},
		{
			name: "a probe of everything",
			a:    record.Attempt{Kind: sdk.KindProbe, Route: kimi, Reason: "everything is out"},
			en:   "testing whether kimi-coding/k3 has recovered: early, since everything else is paused",
			zh:   "试探 kimi-coding/k3 是否已恢复：提前试探，因为其余都已暂停",
		},
		{
			name: "a resumption",
			a:    record.Attempt{Kind: sdk.KindResume, Route: deepseek},
			en:   "deepseek/deepseek-flash goes on where the answer broke off",
			zh:   "由 deepseek/deepseek-flash 从中断处续写",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Notice(tt.a, tt.prev, Options{}); got != tt.en {
				t.Errorf("got  %q\nwant %q", got, tt.en)
			}
			if got := Notice(tt.a, tt.prev, Options{Language: Chinese}); got != tt.zh {
				t.Errorf("got  %q\nwant %q", got, tt.zh)
			}
			got := Notice(tt.a, tt.prev, Options{Colour: true})
			if sgr.ReplaceAllString(got, "") != tt.en {
				t.Errorf("with colours: %q, want the text %q", got, tt.en)
			}
			if strings.Contains(got, "\n") {
				t.Errorf("%q has more than one line", got)
			}
		})
	}
}

func TestBack(t *testing.T) {
	kimi := sdk.Route{Provider: "kimi-coding", Model: "k3"}
	for _, tt := range []struct {
		o    Options
		want string
	}{
		{Options{}, "back to kimi-coding/k3"},
		{Options{Language: Chinese}, "已回到 kimi-coding/k3"},
		{Options{Colour: true}, "\x1b[33mback to kimi-coding/k3\x1b[0m"},
	} {
		if got := Back(kimi, tt.o); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}
