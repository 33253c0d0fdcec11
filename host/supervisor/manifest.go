package supervisor

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"

	"spillway/sdk"
)

// Limits of a manifest, which a stranger writes. A manifest that does not fit
// into a frame is refused before it is read; a schema has its own limit where it
// is used.
const (
	maxName   = 200 // bytes of a name, a version, a glob
	maxGlobs  = 100
	maxDepth  = 1000 // re-entry ends far below it
	maxWait   = time.Minute
	maxDecide = time.Minute
)

// checkManifest refuses one that this host could not keep to.
func checkManifest(m sdk.Manifest) error {
	fault := func(field string, got any, allowed string) error {
		return fmt.Errorf("says nonsense in its manifest: %s: got %.80q (allowed: %s)", field, fmt.Sprint(got), allowed)
	}
	words := fmt.Sprintf("printable characters, at most %d bytes", maxName)
	down := []string{string(sdk.OnDownBypass), string(sdk.OnDownWait), string(sdk.OnDownFail)}
	h := m.Hook
	switch {
	case m.Name == "" || !printable(m.Name):
		return fault("name", m.Name, words)
	case !printable(m.Version):
		return fault("version", m.Version, words)
	case !slices.Contains(down, cmp.Or(string(h.OnDown), down[0])):
		return fault("hook.onDown", h.OnDown, strings.Join(down, ", "))
	case h.Wait < 0 || h.Wait > maxWait:
		return fault("hook.wait", h.Wait, "0 to "+maxWait.String())
	case h.Decide < 0 || h.Decide > maxDecide:
		return fault("hook.decide", h.Decide, "0 to "+maxDecide.String())
	case h.MaxDepth < 0 || h.MaxDepth > maxDepth:
		return fault("hook.maxDepth", h.MaxDepth, fmt.Sprintf("0 to %d", maxDepth))
	case len(h.Models) > maxGlobs:
		return fault("hook.models", fmt.Sprintf("%d globs", len(h.Models)), fmt.Sprintf("at most %d", maxGlobs))
	}
	for _, glob := range h.Models {
		if _, err := path.Match(glob, ""); err != nil || !printable(glob) {
			return fault("hook.models", glob, "globs as path.Match has them, "+words)
		}
	}
	return nil
}

func printable(s string) bool {
	return len(s) <= maxName && strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
}
