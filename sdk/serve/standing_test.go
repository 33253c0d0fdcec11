package serve

import (
	"testing"
	"time"
)

// TestPlanStandsOnBothClocks: a laptop that slept has no plan, nor has one whose
// clock was set.
func TestPlanStandsOnBothClocks(t *testing.T) {
	const ttl = 30 * time.Second
	tests := []struct {
		name       string
		mono, wall time.Duration
		want       bool
	}{
		{"at once", 0, 0, true},
		{"before its end", ttl - 1, ttl - 1, true},
		{"at its end", ttl, ttl, false},
		{"clocks drift", 10 * time.Second, 10*time.Second + 900*time.Millisecond, true},
		{"slept for a moment", 10 * time.Second, 12 * time.Second, false},
		{"slept for a day", 10 * time.Second, 24 * time.Hour, false},
		{"the clock was set back", 10 * time.Second, -time.Hour, false},
		{"the clock that stands still", ttl, 10 * time.Second, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := stands(ttl, tt.mono, tt.wall); got != tt.want {
				t.Errorf("stands: %t", got)
			}
		})
	}
}
