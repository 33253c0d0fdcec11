package chaos

import (
	"math/rand/v2"
	"testing"
)

// TestGrowth: what rises for as long as a run lasts is found, what fills at its begin
// or jumps about is not.
func TestGrowth(t *testing.T) {
	const n = 300
	tests := []struct {
		name  string
		at    func(i int) float64
		grown bool
	}{
		{"flat", func(int) float64 { return 40_000 }, false},
		{"noise", noise(40_000, 3000), false},
		{"bursts", func(i int) float64 { return 40_000 + float64(i%10/9)*60_000 }, false},
		{"filled at the begin", func(i int) float64 { return 40_000 + 300*float64(min(i, n/3)) }, false},
		{"a connection more", func(i int) float64 { return 12 + float64(4*i/(n-1)) }, false},
		{"shrinks", func(i int) float64 { return 40_000 - 50*float64(i) }, false},
		{"a leak", func(i int) float64 { return 40_000 + 12*float64(i) }, true},
		{"a leak of few", func(i int) float64 { return 12 + float64(i)/10 }, true},
		{"a leak in noise", func() func(int) float64 {
			base := noise(40_000, 2000)
			return func(i int) float64 { return base(i) + 40*float64(i) }
		}(), true},
		{"grows late", func(i int) float64 { return 40_000 + 10_000*float64(i/(2*n/3)) }, true},
	}
	for _, tt := range tests {
		var samples []sample
		for i := range n {
			samples = append(samples, sample{"host memory_kb": tt.at(i), "steady": 7})
		}
		line, grown := growth(samples)
		if (len(grown) > 0) != tt.grown || len(grown) > 1 {
			t.Errorf("%s: %s: %q", tt.name, line, grown)
		}
	}
	if line, grown := growth(make([]sample, 2)); len(grown) != 1 {
		t.Errorf("two samples: %s, %q", line, grown)
	}
}

// noise is something between base and base+width.
func noise(base, width float64) func(int) float64 {
	r := rand.New(rand.NewPCG(1, 2))
	return func(int) float64 { return base + width*r.Float64() }
}
