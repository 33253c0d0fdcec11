package cli

import (
	"runtime/debug"
	"testing"
)

// TestCollectLess: whoever has set up Go's collector by its environment is obeyed.
func TestCollectLess(t *testing.T) {
	const before = 123
	defer debug.SetGCPercent(debug.SetGCPercent(before))
	for name, want := range map[string]int{"": gcPercent, "GOGC": before, "GOMEMLIMIT": before} {
		debug.SetGCPercent(before)
		a := &app{env: func(key string) (string, bool) { return "", key == name }}
		a.collectLess()
		if got := debug.SetGCPercent(before); got != want {
			t.Errorf("with %q set: got %d, want %d", name, got, want)
		}
	}
}
