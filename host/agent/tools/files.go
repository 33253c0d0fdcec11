package tools

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"sync"

	"spillway/host/agent/tool"
)

// Files are the tools of a tools-files row: read_file, list_files and search_files,
// and unless it is read-only write_file and edit_file. What is closed, a file or a
// folder, they neither read nor write, although it may lie in the working folder: the
// profile holds keys, and says what runs and who is asked.
func Files(config json.RawMessage, folder string, closed ...string) ([]tool.Tool, error) {
	c := struct {
		ReadOnly bool  `json:"readOnly"`
		Confirm  bool  `json:"confirm"`
		MaxBytes int64 `json:"maxBytes"`
	}{MaxBytes: 4 << 20}
	if err := configure(config, &c); err != nil {
		return nil, err
	}
	p, err := openPlace(folder, c.MaxBytes)
	if err != nil {
		return nil, err
	}
	for _, c := range closed {
		if c, err = filepath.Abs(c); err != nil {
			return nil, err
		}
		if real, err := filepath.EvalSymlinks(c); err == nil {
			c = real
		} else if folder, err := filepath.EvalSymlinks(filepath.Dir(c)); err == nil { // it may be made later
			c = filepath.Join(folder, filepath.Base(c))
		}
		p.closed = append(p.closed, c)
	}
	all := []tool.Tool{&readFile{p}, &listFiles{p}, &searchFiles{p}}
	if !c.ReadOnly {
		w := &writer{place: p, ask: c.Confirm}
		all = append(all, &writeFile{w}, &editFile{w})
	}
	return all, nil
}

// place is the working folder of the tools.
type place struct {
	path     string   // absolute, as the user knows it
	real     string   // without symbolic links
	maxBytes int64    // of a file
	closed   []string // without symbolic links
}

func openPlace(folder string, maxBytes int64) (*place, error) {
	path, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, fmt.Errorf("working folder: %w", err)
	}
	return &place{path: path, real: real, maxBytes: maxBytes}, nil
}

// writer is what the tools that change files share.
type writer struct {
	*place
	ask bool

	// mu is held while a file is read and replaced: two edits of one answer run at
	// the same time, and the later must not undo the earlier.
	mu sync.Mutex
}
