package failure

import (
	"net/http"
	"strconv"
	"testing"
	"time"
)

func TestHints(t *testing.T) {
	now := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	epoch := func(d time.Duration) string { return strconv.FormatInt(now.Add(d).Unix(), 10) }
	h := func(kv ...string) http.Header {
		h := http.Header{}
		for i := 0; i < len(kv); i += 2 {
			h.Set(kv[i], kv[i+1])
		}
		return h
	}
	tests := []struct {
		name   string
		vendor string
		header http.Header
		body   string
		want   time.Duration
		source string
	}{
		{"seconds", "", h("retry-after", "7"), "", 7 * time.Second, "retry-after"},
		{"fraction", "", h("retry-after", "0.5"), "", 500 * time.Millisecond, "retry-after"},
		{"milliseconds", "", h("retry-after-ms", "250", "retry-after", "1"), "", 250 * time.Millisecond, "retry-after-ms"},
		{"date by the server's clock", "", h("retry-after", "Wed, 01 Jan 2025 00:00:12 GMT", "date", "Wed, 01 Jan 2025 00:00:00 GMT"), "", 12 * time.Second, "retry-after"},
		{"date by ours", "", h("retry-after", now.Add(time.Minute).Format(http.TimeFormat)), "", time.Minute, "retry-after"},
		{"epoch", "", h("retry-after", epoch(90*time.Second)), "", 90 * time.Second, "retry-after"},
		{"epoch in milliseconds", "", h("x-ratelimit-reset", epoch(90*time.Second)+"000"), "", 90 * time.Second, "x-ratelimit-reset"},
		{"used up limit", "", h("x-ratelimit-remaining-tokens", "0", "x-ratelimit-reset-tokens", "6m0s", "x-ratelimit-remaining-requests", "5", "x-ratelimit-reset-requests", "9h"), "", 6 * time.Minute, "x-ratelimit-reset-tokens"},
		{"limit with something left", "", h("x-ratelimit-remaining-requests", "5", "x-ratelimit-reset-requests", "9h"), "", 0, ""},
		{"longest rejected window", "", h("anthropic-ratelimit-unified-status", "rejected",
			"anthropic-ratelimit-unified-5h-status", "rejected", "anthropic-ratelimit-unified-5h-reset", epoch(time.Hour),
			"anthropic-ratelimit-unified-7d-status", "allowed", "anthropic-ratelimit-unified-7d-reset", epoch(99*time.Hour)), "", time.Hour, "anthropic-ratelimit-unified-5h-reset"},
		{"zero", "", h("retry-after", "0"), "", 0, ""},
		{"negative", "", h("retry-after", "-3"), "", 0, ""},
		{"past", "", h("retry-after", epoch(-time.Minute)), "", 0, ""},
		{"words", "", h("retry-after", "soon"), "", 0, ""},
		{"not a number", "", h("retry-after", "NaN"), "", 0, ""},
		{"the limit", "", h("retry-after", "691200"), "", maxWait, "retry-after"},
		{"over the limit", "", h("retry-after", "691201"), "", maxWait, "retry-after"},
		{"absurd", "", h("retry-after", "99999999"), "", 0, ""},

		{"field in seconds", "", nil, `{"error":{"message":"m","type":"x","resets_in_seconds":60}}`, time.Minute, "body"},
		{"field in milliseconds", "", nil, `{"error":{"message":"m","type":"x","retry_after_ms":1500}}`, 1500 * time.Millisecond, "body"},
		{"Google's delay", "", nil, `{"error":{"code":429,"message":"m","details":[{"retryDelay":"9s"}]}}`, 9 * time.Second, "body"},
		{"loading time", "", nil, `{"error":"m","estimated_time":20.5}`, 20500 * time.Millisecond, "body"},
		{"relative beats moment", "", nil, `{"error":{"message":"m","type":"x","resets_at":` + epoch(time.Hour) + `,"resets_in_seconds":60}}`, time.Minute, "body"},
		{"wrapped headers", "", nil, `{"error":{"message":"m","code":429,"metadata":{"headers":{"X-RateLimit-Reset":"` + epoch(time.Hour) + `000"}}}}`, time.Hour, "x-ratelimit-reset"},

		{"try again in", "", nil, "Please try again in 18.642s. Thanks", 18642 * time.Millisecond, "message"},
		{"milliseconds in a text", "", nil, "try again in 6ms.", 6 * time.Millisecond, "message"},
		{"retry after", "", nil, "Please retry after 7 seconds.", 7 * time.Second, "message"},
		{"long form", "", nil, "Resets in 2 days, 3 hours and 4 minutes", 51*time.Hour + 4*time.Minute, "message"},
		{"short form", "", nil, "quota will reset after 1h43m56s.", 6236 * time.Second, "message"},
		{"no hint in a limit", "", nil, "at most 60 requests within 1 minute, resets often", 0, ""},
		{"Chinese", "", nil, "请在 30 秒后重试", 30 * time.Second, "message"},
		{"Chinese sum", "", nil, "请在 2 分 30 秒后重试", 150 * time.Second, "message"},
		{"Chinese hours", "", nil, "预计2小时后恢复", 2 * time.Hour, "message"},
		{"Chinese limit", "", nil, "1分钟内最多请求60次", 0, ""},
		{"a date is no number", "", nil, "retry after 2026-08-01T12:05:00Z", 5 * time.Minute, "message"},
		{"naive time, vendor's zone", "zhipu", nil, "您的限额将在 2026-08-01 21:00:00 重置", time.Hour, "message"},
		{"naive time, no zone known", "", nil, "will reset at 2026-08-01 13:00:00", time.Hour, "message"},
		{"time with an offset", "zhipu", nil, "It will reset at 2026-08-01 23:00:00 +0800 CST.", 3 * time.Hour, "message"},
		{"RFC 3339", "", nil, "resets at 2026-08-01T15:00:00Z (2056)", 3 * time.Hour, "message"},
		{"date at time", "", nil, "You will regain access on 2026-08-02 at 00:00 UTC.", 12 * time.Hour, "message"},
		{"a month ahead", "", nil, "You will regain access on 2026-09-01 at 00:00 UTC.", maxWait, "message"},
		{"epoch behind a bar", "", nil, "usage limit reached|" + epoch(time.Hour), time.Hour, "message"},
		{"hour of a zone", "", nil, "Your limit will reset at 5pm (Europe/Warsaw).", 3 * time.Hour, "message"},
		{"hour that passed today", "", nil, "Resets at 10:00 UTC.", 22 * time.Hour, "message"},
		{"day and hour", "", nil, "resets Aug 3, 11:30am (Asia/Calcutta)", 42 * time.Hour, "message"},
		{"unknown zone", "", nil, "resets at 5pm (Nowhere/Town)", 0, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := From(Evidence{Vendor: tt.vendor, Status: 429, Header: tt.header, Body: []byte(tt.body), Now: now})
			if f.RetryAfter != tt.want || f.HintSource != tt.source {
				t.Errorf("got %v from %q, want %v from %q", f.RetryAfter, f.HintSource, tt.want, tt.source)
			}
			if tt.want > 0 && !f.ResetAt.Equal(now.Add(tt.want)) {
				t.Errorf("reset at %v, want %v", f.ResetAt, now.Add(tt.want))
			}
		})
	}
}

func TestCallersFaultHasNoHint(t *testing.T) {
	f := From(Evidence{Status: 400, Header: http.Header{"Retry-After": {"5"}}})
	if f.RetryAfter != 0 || !f.ResetAt.IsZero() {
		t.Errorf("got %v", f.RetryAfter)
	}
}
