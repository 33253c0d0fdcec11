package browser

import (
	"fmt"
	"testing"
)

// TestAboutTimes: files have milliseconds; a time that is shown has its unit beside it.
func TestAboutTimes(t *testing.T) {
	s, _ := serve(t, nil)
	p := open(t, s, "#settings", look{})
	for _, tt := range []struct{ key, says, want string }{
		{"cooldownMs", "First cooldown of a deterministic failure, in milliseconds. Doubles.", "First cooldown of a deterministic failure. Doubles."},
		{"timeoutMs", "How long a page may take, in milliseconds.", "How long a page may take."},
		{"tick", "The length of a tick in milliseconds.", "The length of a tick in milliseconds."},
	} {
		got := eval[string](p, fmt.Sprintf(`import('/ui/settings-words.js').then(({about}) => about({steps: [%q], schema: {description: %q}}))`, tt.key, tt.says))
		if got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.key, got, tt.want)
		}
	}
}
