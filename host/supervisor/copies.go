package supervisor

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// copyGrace is how long a copy that nobody holds stays: more than passes between
// Install and Start, and between the pieces of a copy that is being made.
const copyGrace = 10 * time.Minute

const (
	copyMode = 0o500
	incoming = ".incoming-" // begins the name of one that is being made
)

// hold keeps a copy from being removed until the file is closed, or until the
// process has ended, however it did.
func hold(copied string) (*os.File, error) {
	f, err := os.Open(copied)
	if err != nil {
		return nil, err
	}
	if err := share(f); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// prune removes the copies in dir that no process holds. What it cannot remove
// stays; the next one tries again.
func prune(dir string, now time.Time) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		ours := len(e.Name()) == 2*hashSize || strings.HasPrefix(e.Name(), incoming)
		if ours && e.Type().IsRegular() {
			remove(filepath.Join(dir, e.Name()), now)
		}
	}
}

// remove deletes a copy that nobody holds and nobody has just asked for.
func remove(path string, now time.Time) {
	f, err := os.Open(path)
	if err != nil {
		return
	}
	defer f.Close()
	if seize(f) != nil {
		return
	}
	if info, err := f.Stat(); err == nil && now.Sub(info.ModTime()) >= copyGrace {
		os.Remove(path)
	}
}

// kept reports whether the copy is there and whole; then it stays for a while. A
// whole copy is never replaced, since whoever holds it has locked this very file.
func kept(b Binary) bool {
	f, err := hold(b.Path)
	if err != nil {
		return false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return false
	}
	now := time.Now()
	if err := os.Chtimes(b.Path, now, now); err != nil {
		return false
	}
	there, err := os.Stat(b.Path) // it may have been removed before it was locked
	if err != nil || !os.SameFile(info, there) || info.Mode().Perm() != copyMode {
		return false
	}
	sum, err := hash(f, io.Discard)
	return err == nil && sum == b.SHA256
}
