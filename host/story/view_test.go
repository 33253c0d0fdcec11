package story

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

func TestStatusViewHasNoNullLists(t *testing.T) {
	got, err := json.Marshal(StatusView{Plugins: []PluginView{{Entry: "failover"}}})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"plugins":[{"entry":"failover","up":false,"restarts":0,"bypassed":0,"targets":[]}],"entries":[],"providers":[]}`
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
