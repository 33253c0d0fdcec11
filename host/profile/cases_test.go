package profile

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// compose does what "config dump --base --patch" does.
func compose(base string, patches ...string) (*Composed, error) {
	list, err := ParseEntries(Layer{Name: "base", File: "cordis.yml", Data: []byte(base)})
	if err != nil {
		return nil, err
	}
	var lists []*List
	for i, p := range patches {
		l, err := ParsePatch(Layer{Name: "patch", File: fmt.Sprintf("p%d.yml", i), Data: []byte(p)})
		if err != nil {
			return nil, err
		}
		lists = append(lists, l)
	}
	return Compose(list, lists...)
}

func warningTexts(c *Composed) []string {
	texts := []string{}
	for _, w := range c.Warnings {
		texts = append(texts, w.Text)
	}
	return texts
}

// decode reads JSON for comparison.
func decode(t *testing.T, data []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	return v
}

func TestOriginalLoader(t *testing.T) {
	data, err := os.ReadFile("testdata/patch-cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []struct {
			Name    string
			Base    string
			Patches []string
			Expect  struct {
				Entries  json.RawMessage
				Warnings []string
				Error    json.RawMessage
			}
		}
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Cases) == 0 {
		t.Fatal("no cases")
	}
	for _, c := range file.Cases {
		t.Run(c.Name, func(t *testing.T) {
			composed, err := compose(c.Base, c.Patches...)
			if c.Expect.Error != nil {
				if _, ok := errors.AsType[*Error](err); !ok {
					t.Fatalf("got error %v, want an *Error", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got, err := json.Marshal(composed)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(decode(t, c.Expect.Entries), decode(t, got)); diff != "" {
				t.Errorf("entries (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.Expect.Warnings, warningTexts(composed)); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}
