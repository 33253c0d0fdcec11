package tools

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"spillway/host/agent/tool"
	"spillway/sdk"
)

const (
	defaultLines = 2000
	maxLine      = 2000     // bytes of a line that are shown
	maxShown     = 96 << 10 // bytes of an answer: about 30 000 tokens

	// maxImage is what vendors take: 5 MB in base64.
	maxImage = 5_000_000 / 4 * 3
	// sniffed bytes decide whether a file is text.
	sniffed = 8000
)

type readFile struct{ *place }

func (*readFile) Spec() tool.Spec {
	return tool.Spec{
		Name: "read_file", Effect: tool.ReadOnly,
		Description: "Reads a file of the working folder. Text comes with line numbers, which are no part of the file; images are shown. Long files are read in parts, by offset and limit.",
		Schema: json.RawMessage(`{"type": "object", "additionalProperties": false, "required": ["path"], "properties": {
			"path": {"type": "string", "description": "path of the file, relative to the working folder or absolute"},
			"offset": {"type": "integer", "minimum": 1, "description": "first line to read; default 1"},
			"limit": {"type": "integer", "minimum": 1, "description": "how many lines to read; default 2000"}}}`),
	}
}

func (t *readFile) Run(ctx context.Context, c tool.Call) (tool.Result, error) {
	in := struct {
		Path   string `json:"path"`
		Offset int    `json:"offset"`
		Limit  int    `json:"limit"`
	}{Offset: 1, Limit: defaultLines}
	if err := read(c.Input, &in); err != nil {
		return failure(err)
	}
	if in.Offset < 1 || in.Limit < 1 {
		return tool.Failed("offset %d, limit %d: both must be 1 or more", in.Offset, in.Limit), nil
	}
	root, name, err := t.open(in.Path)
	if err != nil {
		return failure(err)
	}
	defer root.Close()
	data, _, err := t.content(root, name)
	if err != nil {
		return failure(err)
	}
	if kind := http.DetectContentType(data); slices.Contains(imageTypes, kind) {
		return picture(name, kind, data), nil
	}
	if !isText(data) {
		return tool.Failed("%s is no text: it has %d bytes and looks like %s", name, len(data), http.DetectContentType(data)), nil
	}
	return numbered(name, string(data), in.Offset, in.Limit), nil
}

// content reads a whole file, which must not be larger than is allowed.
func (p *place) content(root *os.Root, name string) ([]byte, os.FileInfo, error) {
	if real, err := filepath.EvalSymlinks(filepath.Join(p.real, name)); err == nil { // else opening it says why
		if err := p.admits(real); err != nil {
			return nil, nil, fmt.Errorf("%s %w", name, err)
		}
	}
	f, info, err := openFile(root, name)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, p.maxBytes+1))
	if err != nil {
		return nil, nil, explain(root, name, err)
	}
	if int64(len(data)) > p.maxBytes {
		return nil, nil, fmt.Errorf("%s has %d bytes, more than the %d that are read of a file; look at parts of it with search_files or a command", name, max(info.Size(), int64(len(data))), p.maxBytes)
	}
	return data, info, nil
}

// imageTypes are the images that models take.
var imageTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

func picture(name, kind string, data []byte) tool.Result {
	if len(data) > maxImage {
		return tool.Failed("%s is an image of %d bytes, more than the %d that can be shown", name, len(data), maxImage)
	}
	return tool.Result{Parts: []sdk.Part{
		sdk.TextPart(fmt.Sprintf("%s (%s, %d bytes):", name, kind, len(data))),
		{Kind: sdk.PartImage, MediaType: kind, Data: base64.StdEncoding.EncodeToString(data)},
	}}
}

// isText reports whether data is text as far as one can see.
func isText(data []byte) bool {
	head := data[:min(len(data), sniffed)]
	if bytes.IndexByte(head, 0) >= 0 {
		return false
	}
	for len(head) > 0 {
		r, n := utf8.DecodeRune(head)
		if r == utf8.RuneError && n == 1 && (len(head) >= utf8.UTFMax || len(data) <= sniffed) {
			return false
		}
		head = head[n:]
	}
	return true
}

// numbered shows lines of a text, and where to go on.
func numbered(name, data string, offset, limit int) tool.Result {
	var b strings.Builder
	line, shown, cut := 0, 0, false
	for l := range strings.Lines(data) {
		line++
		if line < offset || cut {
			continue
		}
		l = shorten(strings.TrimRight(l, "\r\n"), maxLine)
		if shown == limit || b.Len()+len(l) > maxShown {
			cut = true
			continue
		}
		fmt.Fprintf(&b, "%6d\t%s\n", line, l)
		shown++
	}
	switch {
	case line == 0:
		return tool.Text(name + " is empty")
	case line < offset:
		return tool.Failed("%s has %d lines, none from %d on", name, line, offset)
	case cut:
		fmt.Fprintf(&b, "[lines %d to %d of %d; go on with offset %d]\n", offset, offset+shown-1, line, offset+shown)
	}
	return tool.Text(strings.ToValidUTF8(b.String(), "\uFFFD"))
}

// shorten cuts a line to n bytes, and says so.
func shorten(l string, n int) string {
	if len(l) <= n {
		return l
	}
	return fmt.Sprintf("%s […%d more bytes]", strings.ToValidUTF8(l[:n], ""), len(l)-n)
}
