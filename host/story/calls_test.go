package story

import (
	"encoding/json"
	"strings"
	"testing"

	"spillway/host/agent/ledger"
)

// call is what the golden files hold: an entry, or a list of them.
func renderCalls(t *testing.T, data []byte, o Options) string {
	t.Helper()
	var b strings.Builder
	if strings.HasPrefix(string(data), "[") {
		var all []ledger.Entry
		if err := json.Unmarshal(data, &all); err != nil {
			t.Fatal(err)
		}
		if err := Calls(&b, all, o); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	var e ledger.Entry
	if err := json.Unmarshal(data, &e); err != nil {
		t.Fatal(err)
	}
	if err := Call(&b, e, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestCalls(t *testing.T) { golden(t, "calls", renderCalls) }

// TestCallsHarmless: arguments and results are strangers' text.
func TestCallsHarmless(t *testing.T) {
	const evil = `"\u001b[2Jx\u202e\r\n sk-proj-abc_DEF-0123456789"`
	data := `{"key": ` + evil + `, "session": ` + evil + `, "message": ` + evil + `, "tool": ` + evil + `, "state": "unknown", "note": ` + evil + `,
		"input": {"a": ` + evil + `, "b": [` + evil + `]}, "settled": {"verdict": "happened", "note": ` + evil + `},
		"result": {"parts": [{"kind": "text", "text": ` + evil + `}, {"kind": "image", "media_type": ` + evil + `}]}}`
	everyOptions(func(o Options) {
		for _, d := range []string{data, "[" + data + "]"} {
			checkHarmless(t, renderCalls(t, []byte(d), o), o)
		}
	})
	if got := renderCalls(t, []byte(`{"input": {"a": "sk-proj-abc_DEF-0123456789"}}`), Options{}); strings.Contains(got, "DEF") {
		t.Errorf("shows a key:\n%s", got)
	}
}
