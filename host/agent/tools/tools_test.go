package tools

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"spillway/host/agent/tool"
)

// named returns the tool of a name.
func named(t *testing.T, all []tool.Tool, err error, name string) tool.Tool {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range all {
		if one.Spec().Name == name {
			return one
		}
	}
	t.Fatalf("no tool %s", name)
	return nil
}

// files returns a tool of a tools-files row for the folder.
func files(t *testing.T, folder, name, config string) tool.Tool {
	t.Helper()
	all, err := Files(json.RawMessage(config), folder)
	return named(t, all, err, name)
}

// call runs a tool that must know what became of it, and returns what it says.
func call(t *testing.T, one tool.Tool, input any) (text string, failed bool) {
	t.Helper()
	return callWith(t.Context(), t, one, input)
}

func callWith(ctx context.Context, t *testing.T, one tool.Tool, input any) (text string, failed bool) {
	t.Helper()
	raw, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	r, err := one.Run(ctx, tool.Call{Key: "k", Input: raw})
	if err != nil {
		t.Fatalf("%s %s: %v", one.Spec().Name, raw, err)
	}
	for _, p := range r.Parts {
		text += p.Text
	}
	return text, r.Error
}

type in map[string]any

// put makes files below folder, by path and content.
func put(t *testing.T, folder string, content map[string]string) {
	t.Helper()
	for name, data := range content {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func get(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestSpecs: vendors take the names and the schemas, and a model hears of a member
// that there is not.
func TestSpecs(t *testing.T) {
	folder := t.TempDir()
	all, err := Files(nil, folder)
	if err != nil {
		t.Fatal(err)
	}
	sh, err := Shell(nil, folder, os.LookupEnv)
	if err != nil {
		t.Fatal(err)
	}
	all = append(all, sh...)
	effects := map[string]tool.Effect{
		"read_file": tool.ReadOnly, "list_files": tool.ReadOnly, "search_files": tool.ReadOnly,
		"write_file": tool.Idempotent, "edit_file": tool.Write, "shell": tool.Write,
	}
	for _, one := range all {
		s := one.Spec()
		if want, ok := effects[s.Name]; !ok || s.Effect != want {
			t.Errorf("%s: effect %v", s.Name, s.Effect)
		}
		delete(effects, s.Name)
		var schema struct {
			Type       string                     `json:"type"`
			Required   []string                   `json:"required"`
			Properties map[string]json.RawMessage `json:"properties"`
		}
		if err := json.Unmarshal(s.Schema, &schema); err != nil || schema.Type != "object" {
			t.Errorf("%s: schema: %v", s.Name, err)
		}
		for _, r := range schema.Required {
			if schema.Properties[r] == nil {
				t.Errorf("%s: %s is required, and not described", s.Name, r)
			}
		}
		if text, failed := call(t, one, in{"bogus": 1}); !failed || !strings.Contains(text, `unknown field "bogus"`) {
			t.Errorf("%s: got %q", s.Name, text)
		}
		if text, failed := call(t, one, "no object"); !failed {
			t.Errorf("%s: got %q", s.Name, text)
		}
	}
	if len(effects) > 0 {
		t.Errorf("missing: %v", effects)
	}
}

func TestReadOnly(t *testing.T) {
	all, err := Files(json.RawMessage(`{"readOnly": true}`), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range all {
		if one.Spec().Effect != tool.ReadOnly {
			t.Errorf("there is %s", one.Spec().Name)
		}
	}
}
