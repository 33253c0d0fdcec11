// Package profiles holds the profiles and the vendor data that come with
// spillway, as files that users can read and copy.
package profiles

import (
	"embed"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Vendors is vendors.yml; package provider reads it.
//
//go:embed vendors.yml
var Vendors []byte

// Files are the built-in profiles, one folder each.
//
//go:embed default demo
var Files embed.FS

// Write writes a built-in profile into dir. Files that exist are left alone.
func Write(name, dir string) error {
	sub, err := fs.Sub(Files, name)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return fs.WalkDir(sub, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(sub, path)
		if err != nil {
			return err
		}
		f, err := os.OpenFile(filepath.Join(dir, path), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			return nil
		}
		if err != nil {
			return err
		}
		_, err = f.Write(data)
		return errors.Join(err, f.Close())
	})
}
