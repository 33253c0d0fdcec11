package tools

import (
	"bufio"
	"context"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

const (
	maxVisited = 200_000   // entries that a walk looks at
	maxIgnore  = 256 << 10 // bytes of .gitignore
	maxIgnores = 2000      // patterns of it, each of which is tried with each entry
)

// ignores are the patterns of the folder's own .gitignore; those of folders below it
// are not read.
type ignores []struct {
	glob    *glob
	folders bool // matches folders only
	not     bool
}

func readIgnores(root *os.Root) (all ignores) {
	f, _, err := openFile(root, ".gitignore")
	if err != nil {
		return nil
	}
	defer f.Close()
	lines := bufio.NewScanner(io.LimitReader(f, maxIgnore))
	for len(all) < maxIgnores && lines.Scan() {
		pattern := strings.TrimRight(lines.Text(), " \r")
		if pattern == "" || pattern[0] == '#' {
			continue
		}
		pattern, not := strings.CutPrefix(pattern, "!")
		pattern, folders := strings.CutSuffix(pattern, "/")
		pattern, anchored := strings.CutPrefix(pattern, "/")
		g, err := newGlob(pattern)
		if err != nil || pattern == "" {
			continue
		}
		g.base = g.base && !anchored
		all = append(all, struct {
			glob    *glob
			folders bool
			not     bool
		}{g, folders, not})
	}
	return all
}

// match reports whether a path is left out: of the patterns that match the last
// decides.
func (i ignores) match(name string, folder bool) bool {
	for _, p := range slices.Backward(i) {
		if (folder || !p.folders) && p.glob.match(name) {
			return !p.not
		}
	}
	return false
}

// walk calls visit for what is below a folder, the nearer first, until it returns
// false. Folders called .git are left out, and unless everything is wanted what
// .gitignore names. Links are not followed. It reports whether it saw all.
func walk(ctx context.Context, root *os.Root, from string, everything bool, visit func(name string, d fs.DirEntry) bool) (complete bool, err error) {
	var left ignores
	if !everything {
		left = readIgnores(root)
	}
	tree := root.FS()
	visited := 0
	for folders := []string{from}; len(folders) > 0; folders = folders[1:] {
		entries, err := fs.ReadDir(tree, folders[0])
		if err != nil && folders[0] == from {
			return false, err
		}
		for _, d := range entries { // of a folder that cannot be read there are none
			if visited++; visited > maxVisited || ctx.Err() != nil {
				return false, context.Cause(ctx)
			}
			name := path.Join(folders[0], d.Name())
			if d.Name() == ".git" || left.match(name, d.IsDir()) {
				continue
			}
			if !visit(name, d) {
				return false, nil
			}
			if d.IsDir() {
				folders = append(folders, name)
			}
		}
	}
	return true, nil
}
