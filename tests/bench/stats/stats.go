// Package stats has the two statistics of the benchmark. Medians, because one
// busy moment of the machine must not be in a figure; quantiles for what the
// unlucky ones see.
package stats

import (
	"cmp"
	"slices"
)

// Median is the middle of values, the mean of the two in the middle if their
// number is even, and 0 without any.
func Median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 0 {
		return (sorted[middle-1] + sorted[middle]) / 2
	}
	return sorted[middle]
}

// Quantile is the smallest of the sorted values that a share q of them does not
// exceed; the zero value without any.
func Quantile[T cmp.Ordered](sorted []T, q float64) (v T) {
	if len(sorted) == 0 {
		return v
	}
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}
