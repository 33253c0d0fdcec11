package story

import (
	"testing"
	"time"
)

func TestSpan(t *testing.T) {
	for _, tt := range []struct {
		d      time.Duration
		en, zh string
	}{
		{-time.Second, "0ms", "0 毫秒"},
		{340 * time.Microsecond, "0.3ms", "0.3 毫秒"},
		{999_600 * time.Microsecond, "1s", "1 秒"},
		{1340 * time.Millisecond, "1.34s", "1.34 秒"},
		{9996 * time.Millisecond, "10s", "10 秒"},
		{59960 * time.Millisecond, "1m", "1 分"},
		{4*time.Minute + 58*time.Second, "4m 58s", "4 分 58 秒"},
		{time.Hour - 400*time.Millisecond, "1h", "1 小时"},
		{3*time.Hour + 12*time.Minute + 20*time.Second, "3h 12m", "3 小时 12 分"},
		{7 * 24 * time.Hour, "7d", "7 天"},
		{27 * time.Hour, "1d 3h", "1 天 3 小时"},
	} {
		if got := (clock{words: &english}).span(tt.d); got != tt.en {
			t.Errorf("%v: got %q, want %q", tt.d, got, tt.en)
		}
		if got := (clock{words: &chinese}).span(tt.d); got != tt.zh {
			t.Errorf("%v: got %q, want %q", tt.d, got, tt.zh)
		}
	}
}

func TestMomentIsOfNowsZone(t *testing.T) {
	zone := time.FixedZone("", 8*60*60)
	c := clock{now: now.In(zone), words: &english}
	for _, tt := range []struct {
		t    time.Time
		want string
	}{
		{now, "20:02:00"},
		{now.Add(5 * time.Hour), "2026-03-02 01:02"},
		{now.Add(-24 * time.Hour), "2026-02-28 20:02"},
	} {
		if got := c.moment(tt.t); got != tt.want {
			t.Errorf("%v: got %q, want %q", tt.t, got, tt.want)
		}
	}
}
