package tools

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

const maxPath = 4096

// local is the name of a path below the folder. Absolute paths are taken if they
// lie in it. Symbolic links are not looked at: os.Root refuses those that leave it.
func (p *place) local(path string) (string, error) {
	switch {
	case path == "":
		return "", errors.New("path is empty")
	case len(path) > maxPath:
		return "", fmt.Errorf("path has %d bytes (allowed: %d)", len(path), maxPath)
	case strings.ContainsRune(path, 0):
		return "", fmt.Errorf("path %q has a zero byte", path)
	}
	name := filepath.Clean(path)
	if filepath.IsAbs(name) {
		name = ""
		for _, base := range []string{p.path, p.real} {
			if rel, err := filepath.Rel(base, path); err == nil && filepath.IsLocal(rel) {
				name = rel
			}
		}
	}
	if !filepath.IsLocal(name) {
		return "", fmt.Errorf("path %q is outside of the working folder %s; only files in it can be reached", path, p.path)
	}
	return name, nil
}

// open opens the folder and finds path in it. The root is to be closed.
func (p *place) open(path string) (root *os.Root, name string, err error) {
	if name, err = p.local(path); err != nil {
		return nil, "", err
	}
	if root, err = os.OpenRoot(p.real); err != nil {
		return nil, "", fmt.Errorf("working folder: %w", err)
	}
	return root, name, nil
}

// admits refuses what is closed. It takes a path without symbolic links. Some systems
// do not tell upper from lower case.
func (p *place) admits(real string) error {
	for _, c := range p.closed {
		if rel, err := filepath.Rel(strings.ToLower(c), strings.ToLower(real)); err == nil && filepath.IsLocal(rel) {
			return errors.New("belongs to the profile that this agent runs with, which it neither reads nor writes")
		}
	}
	return nil
}

// openFile opens a regular file to read. It does not wait for the other end of a
// pipe, which it refuses.
func openFile(root *os.Root, name string) (*os.File, fs.FileInfo, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, explain(root, name, err)
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case info.IsDir():
		err = fmt.Errorf("%s is a folder: list_files shows what is in it", name)
	case !info.Mode().IsRegular():
		err = fmt.Errorf("%s is no regular file", name)
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// explain says of an error at name what a model can do about it.
func explain(root *os.Root, name string, err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", name, bare(err))
	}
	near := nearest(root, name)
	if len(near) == 0 {
		return fmt.Errorf("%s does not exist, nor does anything like it; list_files shows what does", name)
	}
	return fmt.Errorf("%s does not exist; there is: %s", name, strings.Join(near, ", "))
}

// bare is an error of a file without the path, which may be one that the model does
// not know.
func bare(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return e.Err
	}
	return err
}

const (
	maxNear   = 5
	maxLooked = 10_000 // entries of a folder that a name is compared with
)

// nearest are names that may have been meant: of the same name but for case and
// ending, or holding it, in the deepest folder of the path that exists.
func nearest(root *os.Root, name string) []string {
	folder := filepath.Dir(name)
	for folder != "." {
		if info, err := root.Stat(folder); err == nil && info.IsDir() {
			break
		}
		name, folder = folder, filepath.Dir(folder)
	}
	dir, err := root.Open(folder)
	if err != nil {
		return nil
	}
	defer dir.Close()
	entries, _ := dir.ReadDir(maxLooked) // what was read before an error will do
	wanted := stem(filepath.Base(name))
	var near []string
	for _, e := range entries {
		if have := stem(e.Name()); strings.Contains(have, wanted) || strings.Contains(wanted, have) {
			near = append(near, filepath.Join(folder, e.Name()))
		}
	}
	slices.SortFunc(near, func(a, b string) int {
		return strings.Compare(fmt.Sprintf("%05d%s", len(a), a), fmt.Sprintf("%05d%s", len(b), b))
	})
	if len(near) == 0 && folder != "." {
		return []string{folder + string(filepath.Separator)}
	}
	return near[:min(len(near), maxNear)]
}

// stem is a file's name in lower case and without its ending.
func stem(name string) string {
	name = strings.ToLower(name)
	if s := strings.TrimSuffix(name, filepath.Ext(name)); s != "" {
		return s
	}
	return name
}
