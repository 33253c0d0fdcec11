package supervisor

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

const (
	// maxBinary bounds a plugin's file.
	maxBinary = 512 << 20
	hashSize  = sha256.Size // in bytes; a name has two digits for each
)

// Binary is a plugin's file as it will run: a private copy named by its hash,
// so that what was checked is what runs whatever happens to the original.
type Binary struct {
	Source string // where the user put it
	Path   string // the copy
	SHA256 string // hex
}

// Install checks that the file at source may be trusted and copies it into dir,
// which is made, and must be the host's own: nobody else may change what is in
// it. A copy stays as long as a Plugin of any process runs from it, and some
// minutes besides, within which Start is to be called; later calls of Install
// remove it.
func Install(source, dir string) (Binary, error) {
	b, err := install(source, dir)
	if err != nil {
		return Binary{}, fmt.Errorf("plugin %q: %w", source, err)
	}
	prune(dir, time.Now())
	return b, nil
}

func install(source, dir string) (Binary, error) {
	f, err := open(source)
	if err != nil {
		return Binary{}, err
	}
	defer f.Close()
	if dir, err = filepath.Abs(dir); err != nil { // plugins run elsewhere
		return Binary{}, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return Binary{}, err
	}
	if err := private(dir); err != nil {
		return Binary{}, err
	}
	// Most often there is a copy already: both are read at the same time.
	earlier := make(chan string, 1)
	go func() { earlier <- likeliest(dir, f) }()
	sum, err := hash(f, io.Discard)
	whole := <-earlier
	if err != nil {
		return Binary{}, err
	}
	b := Binary{Source: source, SHA256: sum, Path: filepath.Join(dir, sum)}
	if whole == sum || kept(b.Path) != "" {
		return b, nil
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return Binary{}, err
	}
	b.SHA256, err = copyInto(dir, f) // it may have changed by now
	b.Path = filepath.Join(dir, b.SHA256)
	return b, err
}

// copyInto makes the copy of f in dir and returns its hash.
func copyInto(dir string, f io.Reader) (string, error) {
	// A process that another goroutine forks while the copy is open for writing
	// would hold it open until its exec, and ours would fail with "text file
	// busy". So nothing is forked until it is closed.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	tmp, err := os.CreateTemp(dir, incoming+"*")
	if err != nil {
		return "", err
	}
	defer os.Remove(tmp.Name())
	sum, err := hash(f, tmp)
	if err = errors.Join(err, tmp.Chmod(copyMode), tmp.Close()); err != nil {
		return "", err
	}
	return sum, os.Rename(tmp.Name(), filepath.Join(dir, sum))
}

// hash reads a plugin's file to its end, copies it to w and returns its SHA-256
// in hex.
func hash(f io.Reader, w io.Writer) (string, error) {
	h := sha256.New()
	n, err := io.Copy(io.MultiWriter(h, w), io.LimitReader(f, maxBinary+1))
	if err == nil && n > maxBinary {
		err = fmt.Errorf("larger than %d bytes", maxBinary)
	}
	return hex.EncodeToString(h.Sum(nil)), err
}

// Inspect hashes a plugin's file and says whether it may be trusted, without
// copying it.
func Inspect(source string) (Binary, error) {
	f, err := open(source)
	if err != nil {
		return Binary{}, fmt.Errorf("plugin %q: %w", source, err)
	}
	defer f.Close()
	sum, err := hash(f, io.Discard)
	if err != nil {
		return Binary{}, fmt.Errorf("plugin %q: %w", source, err)
	}
	return Binary{Source: source, SHA256: sum}, nil
}

// open opens a plugin's file if it may be trusted. It does not wait for the
// other end of a named pipe.
func open(source string) (*os.File, error) {
	f, err := os.OpenFile(source, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = trusted(source, info)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
