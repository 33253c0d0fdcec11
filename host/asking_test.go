package host

import (
	"log/slog"
	"testing"
)

// TestPlanVariable: plans stand unless they are switched off, and what is neither
// on nor off stops the start before anything runs.
func TestPlanVariable(t *testing.T) {
	const never = `SPILLWAY_PLAN: got "OFF" (allowed: on, off)`
	tests := []struct {
		value, err string
		want       bool
	}{{value: ""}, {value: "on"}, {value: "off", want: true}, {value: "OFF", err: never}}
	for _, tt := range tests {
		t.Run(tt.value, func(t *testing.T) {
			t.Setenv(planVariable, tt.value)
			got, err := askAlways()
			text := ""
			if err != nil {
				text = err.Error()
			}
			if got != tt.want || text != tt.err {
				t.Errorf("got %t, %q, want %t, %q", got, text, tt.want, tt.err)
			}
		})
	}
	t.Setenv(planVariable, "OFF")
	if r, err := Open(t.Context(), Options{Dir: t.TempDir(), Log: slog.New(slog.DiscardHandler)}); err == nil || err.Error() != never {
		t.Errorf("opened: %t, %v", r != nil, err)
	}
}
