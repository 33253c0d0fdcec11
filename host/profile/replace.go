package profile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"spillway/host/filelock"
)

// resolveLink is the file itself that is to be replaced.
func resolveLink(path string) (string, error) {
	file, err := filepath.EvalSymlinks(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return file, err
	}
	if _, err := os.Lstat(path); err == nil {
		return "", &Error{Pos: Pos{File: path}, Message: "a symbolic link to nothing", Allowed: "a file, or none"}
	}
	return path, nil
}

// ReplaceFile writes a file whole or not at all, readable by its owner only.
func ReplaceFile(path string, data []byte) error {
	dir := filepath.Dir(path)
	tmp, err := os.CreateTemp(dir, ".new-*") // 0600
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(data)
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	if err := os.Rename(tmp.Name(), path); err != nil {
		return err
	}
	// The name is durable once the folder is; not every system can do that.
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		d.Close()
	}
	return nil
}

// lockFile is held by whoever saves settings of a profile.
const lockFile = "settings.lock"

// lockPause is how often a lock that another has is asked for.
const lockPause = 10 * time.Millisecond

// lock makes the caller the only one to save settings of the profile in dir,
// among all processes, until it unlocks.
func lock(ctx context.Context, dir string) (unlock func(), err error) {
	state := filepath.Join(dir, StateDir)
	if err := os.MkdirAll(state, 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(state, lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		taken, err := filelock.Take(f)
		switch {
		case err != nil:
			f.Close()
			return nil, fmt.Errorf("lock %s: %w", f.Name(), err)
		case !taken:
			return func() { f.Close() }, nil
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, fmt.Errorf("another save goes on: %w", context.Cause(ctx))
		case <-time.After(lockPause):
		}
	}
}
