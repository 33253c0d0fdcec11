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
)

// maxBinary bounds a plugin's file.
const maxBinary = 512 << 20

// Binary is a plugin's file as it will run: a private copy named by its hash,
// so that what was checked is what runs whatever happens to the original.
type Binary struct {
	Source string // where the user put it
	Path   string // the copy
	SHA256 string // hex
}

// Install checks that the file at source may be trusted and copies it into dir,
// which is made, and must be the host's own: nobody else may change what is in
// it. Copies stay, since another host on the same profile may run one.
func Install(source, dir string) (Binary, error) {
	f, err := os.Open(source)
	if err != nil {
		return Binary{}, fmt.Errorf("plugin %q: %w", source, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return Binary{}, fmt.Errorf("plugin %q: %w", source, err)
	}
	if err := trusted(info); err != nil {
		return Binary{}, fmt.Errorf("plugin %q: %w", source, err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return Binary{}, err
	}
	if err := private(dir); err != nil {
		return Binary{}, fmt.Errorf("plugin %q: %w", source, err)
	}
	// A process that another goroutine forks while the copy is open for writing
	// would hold it open until its exec, and ours would fail with "text file
	// busy". So nothing is forked until it is closed.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	tmp, err := os.CreateTemp(dir, ".incoming-*")
	if err != nil {
		return Binary{}, err
	}
	defer os.Remove(tmp.Name())
	h := sha256.New()
	n, err := io.Copy(io.MultiWriter(h, tmp), io.LimitReader(f, maxBinary+1))
	if err == nil && n > maxBinary {
		err = fmt.Errorf("larger than %d bytes", maxBinary)
	}
	if err = errors.Join(err, tmp.Chmod(0o500), tmp.Close()); err != nil {
		return Binary{}, fmt.Errorf("plugin %q: %w", source, err)
	}
	b := Binary{Source: source, SHA256: hex.EncodeToString(h.Sum(nil))}
	b.Path = filepath.Join(dir, b.SHA256)
	if err := os.Rename(tmp.Name(), b.Path); err != nil {
		return Binary{}, fmt.Errorf("plugin %q: %w", source, err)
	}
	return b, nil
}

// Inspect hashes a plugin's file and says whether it may be trusted, without
// copying it.
func Inspect(source string) (Binary, error) {
	f, err := os.Open(source)
	if err != nil {
		return Binary{}, fmt.Errorf("plugin %q: %w", source, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil {
		err = trusted(info)
	}
	h := sha256.New()
	if err == nil {
		_, err = io.Copy(h, io.LimitReader(f, maxBinary))
	}
	if err != nil {
		return Binary{}, fmt.Errorf("plugin %q: %w", source, err)
	}
	return Binary{Source: source, SHA256: hex.EncodeToString(h.Sum(nil))}, nil
}

// private refuses a folder in which somebody else could swap a file.
func private(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() || info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("folder %s of its copy can be changed by others (mode %s; chmod go-w it)", dir, info.Mode())
	}
	if err := ownedByUs(info); err != nil {
		return fmt.Errorf("folder %s of its copy %w", dir, err)
	}
	return nil
}

// trusted refuses a file that somebody else could have put there or changed.
func trusted(info os.FileInfo) error {
	switch {
	case !info.Mode().IsRegular():
		return errors.New("is no regular file")
	case info.Mode().Perm()&0o111 == 0:
		return errors.New("is not executable (chmod +x it)")
	case info.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("can be written by others (mode %04o; chmod go-w it)", info.Mode().Perm())
	}
	return ownedByUs(info)
}
