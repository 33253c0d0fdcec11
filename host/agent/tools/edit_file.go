package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"spillway/host/agent/tool"
)

type editFile struct{ *writer }

var _ tool.Confirmer = (*editFile)(nil)

func (*editFile) Spec() tool.Spec {
	return tool.Spec{
		Name: "edit_file", Effect: tool.Write,
		Description: "Replaces a text in a file of the working folder. old_text must stand there exactly as given, white space included, and once only unless replace_all is set.",
		Schema: json.RawMessage(`{"type": "object", "additionalProperties": false, "required": ["path", "old_text", "new_text"], "properties": {
			"path": {"type": "string", "description": "path of the file, relative to the working folder or absolute"},
			"old_text": {"type": "string", "description": "what to replace, without the line numbers of read_file; with enough around it to be the only one"},
			"new_text": {"type": "string", "description": "what to put there"},
			"replace_all": {"type": "boolean", "description": "whether to replace old_text wherever it stands; default false"}}}`),
	}
}

type editInput struct {
	Path string `json:"path"`
	Old  string `json:"old_text"`
	New  string `json:"new_text"`
	All  bool   `json:"replace_all"`
}

// Confirm implements tool.Confirmer.
func (t *editFile) Confirm(input json.RawMessage) (string, bool) {
	var in editInput
	if read(input, &in) != nil {
		return "edit a file", false // Run refuses it
	}
	return fmt.Sprintf("edit %s: “%s” becomes “%s”", oneLine(in.Path), oneLine(in.Old), oneLine(in.New)), t.ask
}

func (t *editFile) Run(ctx context.Context, c tool.Call) (tool.Result, error) {
	var in editInput
	if err := read(c.Input, &in); err != nil {
		return failure(err)
	}
	root, name, err := t.open(in.Path)
	if err != nil {
		return failure(err)
	}
	defer root.Close()
	t.mu.Lock()
	defer t.mu.Unlock()
	if ctx.Err() != nil {
		return tool.Result{}, notRun(context.Cause(ctx))
	}
	if name, err = t.target(name); err != nil {
		return failure(err)
	}
	data, was, err := t.content(root, name)
	if err != nil {
		return failure(err)
	}
	if !isText(data) {
		return tool.Failed("%s is no text", name), nil
	}
	after, lines, err := edit(string(data), in.Old, in.New, in.All, t.maxBytes)
	if err != nil {
		return tool.Failed("%s: %v", name, err), nil
	}
	if err := t.replace(root, name, was, []byte(after)); err != nil {
		return failure(err)
	}
	return tool.Text(fmt.Sprintf("edited %s in %s", name, lineList(lines))), nil
}

// edit replaces old by new in text, once or everywhere, and tells the lines where.
// Where lines end with \r\n, old and new may be written without the \r. What would be
// longer than most is not made: many small texts can become large ones.
func edit(text, old, new string, all bool, most int64) (after string, lines []int, err error) {
	switch {
	case old == "":
		return "", nil, errors.New("old_text is empty; write_file writes a whole file")
	case old == new:
		return "", nil, errors.New("old_text and new_text are the same")
	}
	if !strings.Contains(text, old) && strings.Contains(text, "\r\n") && !strings.Contains(old, "\r") {
		old, new = strings.ReplaceAll(old, "\n", "\r\n"), strings.ReplaceAll(new, "\n", "\r\n")
	}
	lines = where(text, old)
	switch {
	case len(lines) == 0:
		return "", nil, fmt.Errorf("old_text does not stand there%s", almost(text, old))
	case len(lines) > 1 && !all:
		return "", nil, fmt.Errorf("old_text stands there %d times, in %s; give more of what is around it, or set replace_all", len(lines), lineList(lines))
	}
	if size := int64(len(text)) + int64(len(lines))*int64(len(new)-len(old)); size > most {
		return "", nil, fmt.Errorf("it would have %d bytes, more than the %d that may be written to a file", size, most)
	}
	return strings.ReplaceAll(text, old, new), lines, nil
}

// where are the lines in which old begins.
func where(text, old string) (lines []int) {
	line := 1
	for {
		before, after, ok := strings.Cut(text, old)
		if !ok {
			return lines
		}
		line += strings.Count(before, "\n")
		lines = append(lines, line)
		line += strings.Count(old, "\n")
		text = after
	}
}

// almost says where the first line of old stands but for white space, if it does.
func almost(text, old string) string {
	first := ""
	for l := range strings.Lines(old) {
		if first = strings.TrimSpace(l); first != "" {
			break
		}
	}
	n := 0
	for l := range strings.Lines(text) {
		n++
		if first != "" && strings.Contains(l, first) {
			return fmt.Sprintf(" exactly so, but its first line is in line %d; mind white space and what follows: read_file shows it", n)
		}
	}
	return "; read_file shows what does"
}

const maxListed = 20 // lines that are named

func lineList(lines []int) string {
	if len(lines) == 1 {
		return fmt.Sprintf("line %d", lines[0])
	}
	var b strings.Builder
	b.WriteString("lines ")
	for i, n := range lines[:min(len(lines), maxListed)] {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprint(&b, n)
	}
	if len(lines) > maxListed {
		b.WriteString(", …")
	}
	return b.String()
}
