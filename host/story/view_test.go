package story

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

func TestStatusViewHasNoNullLists(t *testing.T) {
	got, err := json.Marshal(StatusView{Plugins: []PluginView{{Entry: "failover"}}})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"plugins":[{"entry":"failover","up":false,"restarts":0,"bypassed":0,"targets":[],"orders":[],"output":[]}],"entries":[],"providers":[]}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestStatusViewJSON holds the keys that scripts read.
func TestStatusViewJSON(t *testing.T) {
	a, err := txtar.ParseFile("testdata/status/full.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var s StatusView
	if err := json.Unmarshal(a.Files[0].Data, &s); err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var got, want any
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(a.Files[0].Data, &want); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestOutputInJSON: what a plugin wrote is printed by other programs too.
func TestOutputInJSON(t *testing.T) {
	p := PluginView{Output: []string{attack, "key sk-abcdefghijklmnop", strings.Repeat("x", 2*maxSentence)}}
	b, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var got PluginView
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	want := []string{"x]0;owned \ufffdy", "key [redacted]", strings.Repeat("x", maxSentence-1) + "…"}
	if d := cmp.Diff(want, got.Output); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	for _, line := range got.Output {
		checkHarmless(t, line, Options{})
	}
}
