package stats

import "testing"

func TestMedian(t *testing.T) {
	for _, tt := range []struct {
		name   string
		values []float64
		want   float64
	}{
		{"none", nil, 0},
		{"one", []float64{3}, 3},
		{"odd", []float64{9, 1, 2}, 2},
		{"even", []float64{4, 1, 3, 2}, 2.5},
	} {
		if got := Median(tt.values); got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
	values := []float64{3, 1, 2}
	if Median(values); values[0] != 3 {
		t.Error("the caller's values were sorted")
	}
}

func TestQuantile(t *testing.T) {
	hundred := make([]int, 100)
	for i := range hundred {
		hundred[i] = i + 1
	}
	for _, tt := range []struct {
		values []int
		q      float64
		want   int
	}{
		{nil, .5, 0}, {[]int{7}, .99, 7}, {hundred, 0, 1}, {hundred, .5, 51}, {hundred, .99, 100}, {hundred, 1, 100},
	} {
		if got := Quantile(tt.values, tt.q); got != tt.want {
			t.Errorf("quantile %v of %d: got %v, want %v", tt.q, len(tt.values), got, tt.want)
		}
	}
}
