package tools

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"spillway/host/agent/tool"
)

type writeFile struct{ *writer }

var _ tool.Confirmer = (*writeFile)(nil)

func (*writeFile) Spec() tool.Spec {
	return tool.Spec{
		Name: "write_file", Effect: tool.Idempotent,
		Description: "Writes a whole file of the working folder; what it held before is gone. Folders that are missing are made. To change a part of a file use edit_file.",
		Schema: json.RawMessage(`{"type": "object", "additionalProperties": false, "required": ["path", "content"], "properties": {
			"path": {"type": "string", "description": "path of the file, relative to the working folder or absolute"},
			"content": {"type": "string", "description": "all that the file shall hold"}}}`),
	}
}

type writeInput struct {
	Path    string  `json:"path"`
	Content *string `json:"content"`
}

// Confirm implements tool.Confirmer.
func (t *writeFile) Confirm(input json.RawMessage) (string, bool) {
	var in writeInput
	if read(input, &in) != nil || in.Content == nil {
		return "write a file", false // Run refuses it
	}
	return fmt.Sprintf("write %d bytes to %s: “%s”", len(*in.Content), oneLine(in.Path), oneLine(*in.Content)), t.ask
}

func (t *writeFile) Run(ctx context.Context, c tool.Call) (tool.Result, error) {
	var in writeInput
	if err := read(c.Input, &in); err != nil {
		return failure(err)
	}
	if in.Content == nil {
		return tool.Failed("content is missing"), nil
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
	was, err := root.Stat(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return failure(explain(root, name, err))
	}
	if err := t.replace(root, name, was, []byte(*in.Content)); err != nil {
		return failure(err)
	}
	verb := "created"
	if was != nil {
		verb = "replaced"
	}
	return tool.Text(fmt.Sprintf("%s %s, %d bytes", verb, name, len(*in.Content))), nil
}

// target is the name of the file that is to be written when name is: without links,
// so that a file is replaced and not the link to it, and none that git keeps for
// itself, through which a harmless command could be made to run another.
func (p *place) target(name string) (string, error) {
	full, rest := filepath.Join(p.real, name), ""
	for {
		real, err := filepath.EvalSymlinks(full)
		if err == nil {
			full = filepath.Join(real, rest)
			break
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("%s: %w", name, bare(err))
		}
		if _, err := os.Lstat(full); err == nil {
			return "", fmt.Errorf("%s goes through a symbolic link that leads nowhere", name)
		}
		full, rest = filepath.Dir(full), filepath.Join(filepath.Base(full), rest)
	}
	rel, err := filepath.Rel(p.real, full)
	if err != nil || !filepath.IsLocal(rel) {
		return "", fmt.Errorf("%s goes through a symbolic link that leads out of the working folder", name)
	}
	if err := p.admits(full); err != nil {
		return "", fmt.Errorf("%s %w", name, err)
	}
	for part := range strings.SplitSeq(filepath.ToSlash(rel), "/") {
		if strings.EqualFold(part, ".git") {
			return "", fmt.Errorf("%s is git's own; use the commands of git", name)
		}
	}
	return rel, nil
}

// replace makes name a file of the content, or leaves all as it is. Was is the file
// that is there, nil if there is none; it must still be the same.
func (p *place) replace(root *os.Root, name string, was fs.FileInfo, content []byte) (err error) {
	switch {
	case int64(len(content)) > p.maxBytes:
		return fmt.Errorf("%d bytes are more than the %d that may be written to a file", len(content), p.maxBytes)
	case was != nil && !was.Mode().IsRegular():
		return fmt.Errorf("%s is no regular file", name)
	case was != nil && was.Mode().Perm()&0o200 == 0:
		return fmt.Errorf("%s is write-protected (mode %v)", name, was.Mode().Perm())
	}
	folder := filepath.Dir(name)
	if err := root.MkdirAll(folder, 0o777); err != nil {
		return explain(root, folder, err)
	}
	temporary := filepath.Join(folder, ".spillway-"+rand.Text())
	if err := fill(root, temporary, was, content); err != nil {
		root.Remove(temporary)
		return explain(root, name, err)
	}
	now, err := root.Lstat(name)
	same := was == nil && errors.Is(err, fs.ErrNotExist) ||
		was != nil && err == nil && os.SameFile(was, now) && was.ModTime().Equal(now.ModTime()) && was.Size() == now.Size()
	if !same {
		root.Remove(temporary)
		return fmt.Errorf("%s was changed by somebody else in the meantime; nothing was written: read it again", name)
	}
	if err := root.Rename(temporary, name); err != nil {
		root.Remove(temporary)
		return explain(root, name, err)
	}
	return nil
}

// fill makes the file that takes the other's place, with its mode.
func fill(root *os.Root, name string, was fs.FileInfo, content []byte) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil && was != nil {
		err = f.Chmod(was.Mode().Perm())
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
