package profile

import (
	"fmt"
	"io"
	"os"
)

// Layer is one profile file.
type Layer struct {
	Name string // of the layer, for messages: "base", "profile patch", …
	File string // as messages name it
	Data []byte
}

// List is a parsed layer: rows or patches.
type List struct {
	pos  Pos
	rows []*Value
}

// ParseEntries reads a list of entry rows. As in the original an item may be
// anything; one that is not a mapping fails when it is to be started. The error
// is an [*Error].
func ParseEntries(l Layer) (*List, error) { return parseList(l, "entries") }

// ParsePatch reads a list of patches, each a mapping. The error is an [*Error].
func ParsePatch(l Layer) (*List, error) {
	list, err := parseList(l, "patches")
	if err != nil {
		return nil, err
	}
	for i, row := range list.rows {
		if row.kind != kindMap {
			return nil, &Error{Pos: row.pos, Message: fmt.Sprintf("patch %d is %s", i+1, row.kind), Allowed: "a mapping with keys such as id, config, disabled, insert"}
		}
	}
	return list, nil
}

func parseList(l Layer, what string) (*List, error) {
	file := Pos{Layer: l.Name, File: l.File}
	root, err := parseYAML(l)
	switch {
	case err != nil:
		return nil, err
	case root == nil:
		return nil, &Error{Pos: file, Message: "the file holds nothing", Allowed: "write [] for no " + what}
	case root.kind == kindNull:
		return nil, &Error{Pos: root.pos, Message: "the file holds null", Allowed: "write [] for no " + what}
	case root.kind != kindList:
		return nil, &Error{Pos: root.pos, Message: "the file holds " + root.kind.String(), Allowed: "a list of " + what + ", each beginning with \"- \""}
	}
	return &List{pos: file, rows: root.items}, nil
}

// ReadLayer reads a layer's file. The error is an [*Error], which wraps
// fs.ErrNotExist if there is no file.
func ReadLayer(name, file string) (Layer, error) {
	at := Pos{Layer: name, File: file}
	// Before it is opened: opening a pipe waits for whoever writes to it.
	switch info, err := os.Stat(file); {
	case err != nil:
		return Layer{}, unreadable(at, err)
	case info.IsDir():
		return Layer{}, &Error{Pos: at, Message: "a folder, not a file"}
	case !info.Mode().IsRegular():
		return Layer{}, &Error{Pos: at, Message: "not a regular file"}
	}
	f, err := os.Open(file)
	if err != nil {
		return Layer{}, unreadable(at, err)
	}
	defer f.Close()
	// One byte more than is allowed, so that parsing refuses it by its size.
	data, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err != nil {
		return Layer{}, unreadable(at, err)
	}
	return Layer{Name: name, File: file, Data: data}, nil
}
