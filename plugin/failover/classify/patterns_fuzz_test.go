package classify

import (
	"strings"
	"testing"
	"time"

	"spillway/sdk"
)

// FuzzPatterns: a person's pattern, however it is written, is refused or takes a
// bounded time on any message, and decides nothing but what it says it decided.
func FuzzPatterns(f *testing.F) {
	f.Add(`quota\s+left`, "no quota  left")
	f.Add(`^(a+)+$`, strings.Repeat("a", 60)+"!")
	f.Add(`(x+x+)+y`, strings.Repeat("x", sdk.MaxMessage))
	f.Add(`((((a{1,500}){1,500}){1,500}){1,500})`, "a")
	f.Add(`(?<n>余额)\k<n>|[^]`, "余额余额")
	f.Add(`(?=.*a)(?!b)\u{1F600}\cA[\b]`, "\x00\xffa")
	f.Add(`(`, "")
	// A match may take its time as often as it is tried, and the first one of all
	// starts the engine's clock.
	const limit = clockTries*matchTimeout + time.Second
	f.Fuzz(func(t *testing.T, pattern, message string) {
		begun := time.Now()
		c, faults := New([]string{pattern})
		in := sdk.NewFailure(sdk.CodeServer, "status:500", message)
		in.Generic = true
		got := c.Refine("acme", *in)
		if took := time.Since(begun); took > limit {
			t.Errorf("%q on %d bytes took %v", pattern, len(message), took)
		}
		if !got.Code.Known() || got.Message != in.Message {
			t.Errorf("got %+v", got)
		}
		byPattern := strings.HasPrefix(got.Rule, "pattern:")
		switch {
		case byPattern && len(faults) > 0:
			t.Errorf("a refused pattern decided: %v", faults)
		case byPattern && got.Code != sdk.CodeQuota:
			t.Errorf("a pattern made %s of it", got.Code)
		case len(got.Matched) > 4*sdk.MaxMessage:
			t.Errorf("%d bytes are told as what matched", len(got.Matched))
		}
	})
}
