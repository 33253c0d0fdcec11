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

// kept is the hash of the copy at path if it is there and whole, as its name has it,
// else "". A whole copy stays for a while, and is never replaced, since whoever holds
// it has locked this very file.
func kept(path string) string {
	f, err := hold(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return ""
	}
	now := time.Now()
	if err := os.Chtimes(path, now, now); err != nil {
		return ""
	}
	there, err := os.Stat(path) // it may have been removed before it was locked
	if err != nil || !os.SameFile(info, there) || info.Mode().Perm() != copyMode {
		return ""
	}
	sum, err := hash(f, io.Discard)
	if err != nil || sum != filepath.Base(path) {
		return ""
	}
	return sum
}

// likeliest is the hash of the copy in dir that is as long as f, if there is one
// and it is whole, else "".
func likeliest(dir string, f *os.File) string {
	source, err := f.Stat()
	if err != nil {
		return ""
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return ""
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && len(e.Name()) == 2*hashSize && info.Mode().IsRegular() && info.Size() == source.Size() {
			return kept(filepath.Join(dir, e.Name()))
		}
	}
	return ""
}
