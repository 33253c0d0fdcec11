package provider

import (
	"testing"

	"spillway/host/dialect"
)

func TestSeals(t *testing.T) {
	var kept []string
	s := NewSeals(func(_ dialect.Seal, vendor string) { kept = append(kept, vendor) })
	s.answered(1, "claude", true)
	if s.others("claude") {
		t.Error("claude's own seal is taken for another's")
	}
	s.answered(2, "kimi", false)
	s.answered(2, "kimi", false)
	s.answered(1, "kimi", false) // known already
	s.answered(0, "kimi", false) // none
	if len(kept) != 1 || kept[0] != "kimi" {
		t.Errorf("kept %q, want what was not the caller's own vendor's, once", kept)
	}
	for _, tt := range []struct {
		seal      dialect.Seal
		vendor    string
		otherwise bool
		want      bool
	}{
		{1, "claude", false, true}, {1, "kimi", true, false}, {2, "claude", true, false}, {2, "kimi", false, true},
		{3, "claude", true, true}, {3, "claude", false, false},
	} {
		if got := s.madeBy(tt.seal, tt.vendor, tt.otherwise); got != tt.want {
			t.Errorf("seal %d by %s: got %v", tt.seal, tt.vendor, got)
		}
	}
	if !s.others("claude") || !s.others("kimi") || !s.others("deepseek") {
		t.Error("another's seal is known, and is not said to be")
	}

	var none *Seals
	none.answered(1, "kimi", false)
	if none.others("claude") || !none.madeBy(1, "claude", true) || none.madeBy(1, "claude", false) {
		t.Error("without a memory something is known")
	}
}

// The oldest seals make room, one by one.
func TestSealsAreBounded(t *testing.T) {
	s := NewSeals(nil)
	for n := range maxSeals {
		s.Learn(dialect.Seal(n+1), "kimi")
	}
	if !s.Learn(maxSeals+1, "claude") || s.Learn(2, "claude") || !s.Learn(1, "claude") {
		t.Error("one above the bound has not cost the oldest seal, or has cost more")
	}
	if s.madeBy(2, "kimi", false) { // made room for the last
		t.Error("more seals are known than may be")
	}
	if n := len(s.maker); n != maxSeals || s.made["kimi"] != maxSeals-2 || s.made["claude"] != 2 {
		t.Errorf("%d seals are known, %v", n, s.made)
	}
}
