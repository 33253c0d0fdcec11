package story

import (
	"testing"
	"time"

	"spillway/sdk"
)

func TestOrdered(t *testing.T) {
	now := time.Date(2026, 7, 3, 14, 5, 6, 0, time.UTC)
	for _, tt := range []struct {
		order  sdk.Order
		en, zh string
	}{
		{sdk.Order{Verb: sdk.VerbClear, Target: "anthropic"}, "anthropic is cleared", "anthropic 的故障记录已清除"},
		{sdk.Order{Verb: sdk.VerbEnable, Target: "a/m"}, "a/m is enabled", "a/m 已启用"},
		{
			sdk.Order{Verb: sdk.VerbDisable, Target: "deepseek", Until: now.Add(time.Hour)},
			"deepseek is disabled until 15:05:06", "deepseek 已停用，到 15:05:06 为止",
		},
		{sdk.Order{Verb: sdk.VerbPin, Target: "a/m"}, "everything goes to a/m and nowhere else", "全部请求只发往 a/m"},
		{
			sdk.Order{Verb: sdk.VerbDrain, Target: "a\x1b[2J", Until: now.Add(24 * time.Hour)},
			"nothing new begins at a until 2026-07-04 14:05", "a 不再接新请求，到 2026-07-04 14:05 为止",
		},
		{sdk.Order{Verb: "new", Target: "a"}, "new: a", "new: a"},
	} {
		if got := Ordered(tt.order, Options{Now: now}); got != tt.en {
			t.Errorf("%s: got %q, want %q", tt.order.Verb, got, tt.en)
		}
		if got := Ordered(tt.order, Options{Now: now, Language: Chinese}); got != tt.zh {
			t.Errorf("%s: got %q, want %q", tt.order.Verb, got, tt.zh)
		}
	}
}
