package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// pack writes the files, below a folder of the given name, into base.tar.gz, or
// base.zip for windows, and returns which.
func pack(base, folder, goos string, files []entry, at time.Time) (archive string, err error) {
	slices.SortFunc(files, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	archive, write := base+".tar.gz", writeTar
	if goos == "windows" {
		archive, write = base+".zip", writeZip
	}
	f, err := os.Create(archive)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return archive, write(f, folder, files, at)
}

func writeTar(w io.Writer, folder string, files []entry, at time.Time) error {
	gz := gzip.NewWriter(w)
	t := tar.NewWriter(gz)
	for _, f := range files {
		data, err := os.ReadFile(f.path)
		if err != nil {
			return err
		}
		h := &tar.Header{
			Typeflag: tar.TypeReg, Name: folder + "/" + f.name, Size: int64(len(data)), Mode: int64(f.mode),
			ModTime: at, Uname: "root", Gname: "root",
		}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		if _, err := t.Write(data); err != nil {
			return err
		}
	}
	return errors.Join(t.Close(), gz.Close())
}

func writeZip(w io.Writer, folder string, files []entry, at time.Time) error {
	z := zip.NewWriter(w)
	for _, f := range files {
		data, err := os.ReadFile(f.path)
		if err != nil {
			return err
		}
		h := &zip.FileHeader{Name: folder + "/" + f.name, Method: zip.Deflate, Modified: at}
		h.SetMode(f.mode)
		to, err := z.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := to.Write(data); err != nil {
			return err
		}
	}
	return z.Close()
}

// writeSums writes the archives' checksums as sha256sum reads them.
func writeSums(file string, archives []string) error {
	var b strings.Builder
	for _, a := range archives {
		data, err := os.ReadFile(a)
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(data), filepath.Base(a))
	}
	return os.WriteFile(file, []byte(b.String()), 0o644)
}
