package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"spillway/host/agent/tool"
)

const (
	maxMatches = 200
	maxAround  = 10
	maxFound   = 500 // bytes of a line that was found
)

type searchFiles struct{ *place }

func (*searchFiles) Spec() tool.Spec {
	return tool.Spec{
		Name: "search_files", Effect: tool.ReadOnly,
		Description: "Searches the lines of text files for a regular expression (RE2). Matches are shown as path:line: text, lines around them as path-line- text. .git and what .gitignore names are left out.",
		Schema: json.RawMessage(`{"type": "object", "additionalProperties": false, "required": ["pattern"], "properties": {
			"pattern": {"type": "string", "description": "regular expression, for one line"},
			"path": {"type": "string", "description": "folder or file to search; default the working folder"},
			"files": {"type": "string", "description": "search only files that match, such as *.go"},
			"ignore_case": {"type": "boolean", "description": "default false"},
			"context": {"type": "integer", "minimum": 0, "maximum": 10, "description": "lines to show before and after each match; default 0"},
			"ignored": {"type": "boolean", "description": "whether to search what .gitignore names, too; default false"}}}`),
	}
}

func (t *searchFiles) Run(ctx context.Context, c tool.Call) (tool.Result, error) {
	var in struct {
		Pattern    string `json:"pattern"`
		Path       string `json:"path"`
		Files      string `json:"files"`
		IgnoreCase bool   `json:"ignore_case"`
		Context    int    `json:"context"`
		Ignored    bool   `json:"ignored"`
	}
	if err := read(c.Input, &in); err != nil {
		return failure(err)
	}
	if in.Pattern == "" || len(in.Pattern) > maxPattern {
		return tool.Failed("pattern has %d bytes (allowed: 1 to %d)", len(in.Pattern), maxPattern), nil
	}
	flags := ""
	if in.IgnoreCase {
		flags = "(?i)"
	}
	re, err := regexp.Compile(flags + in.Pattern)
	if err != nil {
		return tool.Failed("pattern: %v; to search for the text itself put \\ before special characters", err), nil
	}
	only, err := newGlob(cmp.Or(in.Files, "**"))
	if err != nil {
		return failure(err)
	}
	root, name, err := t.open(cmp.Or(in.Path, "."))
	if err != nil {
		return failure(err)
	}
	defer root.Close()
	s := &search{place: t.place, root: root, re: re, around: min(max(in.Context, 0), maxAround)}
	info, err := root.Stat(name)
	switch {
	case err != nil:
		return failure(explain(root, name, err))
	case info.IsDir():
		s.complete, err = walk(ctx, root, filepath.ToSlash(name), in.Ignored, func(name string, d fs.DirEntry) bool {
			if d.Type().IsRegular() && only.match(name) {
				s.file(name)
			}
			return !s.full
		})
	default:
		s.file(name)
		s.complete = true
	}
	if ctx.Err() != nil {
		return tool.Result{}, context.Cause(ctx)
	}
	if err != nil {
		return failure(explain(root, name, err))
	}
	return tool.Text(s.report()), nil
}

// search is one search on its way.
type search struct {
	*place
	root    *os.Root
	re      *regexp.Regexp
	around  int
	b       strings.Builder
	matches int
	large   int // files that are too large to be read

	full     bool // there are more matches than are shown
	complete bool // all files were looked at
}

// file searches a file. One that cannot be read, or is no text, is passed over.
func (s *search) file(name string) {
	if info, err := s.root.Stat(name); err == nil && info.Size() > s.maxBytes {
		s.large++
		return
	}
	data, _, err := s.content(s.root, name)
	if err != nil || !isText(data) {
		return
	}
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	shown := 0 // lines of the file up to here are shown, or were passed
	for i, l := range lines {
		if !s.re.MatchString(strings.TrimSuffix(l, "\r")) {
			continue
		}
		if s.matches == maxMatches || s.b.Len() > maxShown {
			s.full = true
			return
		}
		s.matches++
		if first := max(i-s.around, shown); s.around > 0 && first > shown && s.b.Len() > 0 {
			s.b.WriteString("--\n")
		}
		for j := max(i-s.around, shown); j < min(i+s.around+1, len(lines)); j++ {
			mark := "-"
			if s.re.MatchString(strings.TrimSuffix(lines[j], "\r")) {
				mark = ":"
			}
			if j > i && mark == ":" {
				break // the loop comes to it
			}
			fmt.Fprintf(&s.b, "%s%s%d%s %s\n", name, mark, j+1, mark, shorten(strings.TrimRight(lines[j], "\r"), maxFound))
			shown = j + 1
		}
	}
}

func (s *search) report() string {
	if s.matches == 0 {
		s.b.WriteString("no match\n")
	}
	if s.full {
		fmt.Fprintf(&s.b, "[there are more than these %d matches: search a folder, or for something narrower]\n", s.matches)
	}
	if !s.full && !s.complete {
		fmt.Fprintf(&s.b, "[only the first %d files and folders were searched]\n", maxVisited)
	}
	if s.large > 0 {
		fmt.Fprintf(&s.b, "[%d files of more than %d bytes were not searched]\n", s.large, s.maxBytes)
	}
	return strings.ToValidUTF8(s.b.String(), "\uFFFD")
}
