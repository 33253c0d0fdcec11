package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"spillway/host/agent/tool"
)

const maxEntries = 1000 // that are listed

type listFiles struct{ *place }

func (*listFiles) Spec() tool.Spec {
	return tool.Spec{
		Name: "list_files", Effect: tool.ReadOnly,
		Description: "Lists what is in a folder and below it, nearest first; folders end with a slash. .git and what .gitignore names are left out.",
		Schema: json.RawMessage(`{"type": "object", "additionalProperties": false, "properties": {
			"path": {"type": "string", "description": "the folder; default the working folder"},
			"pattern": {"type": "string", "description": "list only files that match, such as *.go or src/**/*.{ts,tsx}; without a slash it is matched with the last name"},
			"ignored": {"type": "boolean", "description": "whether to list what .gitignore names, too; default false"}}}`),
	}
}

func (t *listFiles) Run(ctx context.Context, c tool.Call) (tool.Result, error) {
	var in struct {
		Path    string `json:"path"`
		Pattern string `json:"pattern"`
		Ignored bool   `json:"ignored"`
	}
	if err := read(c.Input, &in); err != nil {
		return failure(err)
	}
	root, name, err := t.open(cmp.Or(in.Path, "."))
	if err != nil {
		return failure(err)
	}
	defer root.Close()
	var only *glob
	if in.Pattern != "" {
		if only, err = newGlob(in.Pattern); err != nil {
			return failure(err)
		}
	}
	var found []string
	complete, err := walk(ctx, root, filepath.ToSlash(name), in.Ignored, func(name string, d fs.DirEntry) bool {
		if only != nil && (d.IsDir() || !only.match(name)) {
			return true
		}
		if len(found) == maxEntries {
			return false
		}
		if d.IsDir() {
			name += "/"
		}
		found = append(found, name)
		return true
	})
	switch {
	case ctx.Err() != nil:
		return tool.Result{}, context.Cause(ctx)
	case err != nil:
		return failure(explain(root, name, err))
	case len(found) == 0 && only != nil:
		return tool.Text(fmt.Sprintf("nothing below %s matches %s", name, in.Pattern)), nil
	case len(found) == 0:
		return tool.Text(name + " is empty"), nil
	}
	slices.Sort(found)
	if !complete {
		found = append(found, "[there is more: name a folder or a pattern]")
	}
	return tool.Text(strings.ToValidUTF8(strings.Join(found, "\n"), "\uFFFD") + "\n"), nil
}
