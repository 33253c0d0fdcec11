package story

import (
	"fmt"
	"strings"

	"spillway/sdk"
)

// target names in words what a circuit speaks for. Its text is "provider",
// "provider/model", "provider#key" or "provider#key/model".
func (w *lexicon) target(s string) string {
	owner, model, hasModel := strings.Cut(s, "/")
	provider, key, hasKey := strings.Cut(owner, "#")
	switch {
	case hasKey && hasModel:
		return fmt.Sprintf(w.rangeOf.keyOf, key, provider, model)
	case hasKey:
		return fmt.Sprintf(w.rangeOf.key, key, provider)
	case hasModel:
		return fmt.Sprintf(w.rangeOf.model, s)
	}
	return fmt.Sprintf(w.rangeOf.vendor, s)
}

// state names a circuit's state.
func (w *lexicon) state(s sdk.CircuitState) (string, style) {
	switch s {
	case sdk.CircuitOpen:
		return w.status.states.open, red
	case sdk.CircuitHalfOpen:
		return w.status.states.halfOpen, yellow
	case sdk.CircuitClosed:
		return w.status.states.closed, green
	}
	return string(s), plain
}

func (w *lexicon) scope(s sdk.Scope) string {
	switch s {
	case sdk.ScopeRoute:
		return w.status.scopes.route
	case sdk.ScopeVendor:
		return w.status.scopes.vendor
	case sdk.ScopeKey:
		return w.status.scopes.key
	case sdk.ScopeNone:
		return ""
	}
	return string(s)
}

// verb is what a person ordered, in words.
func (w *lexicon) verb(v sdk.Verb) string {
	switch v {
	case sdk.VerbDisable:
		return w.status.verbs.disable
	case sdk.VerbPin:
		return w.status.verbs.pin
	case sdk.VerbDrain:
		return w.status.verbs.drain
	case sdk.VerbClear, sdk.VerbEnable: // done at once, never in force
	}
	return string(v)
}
