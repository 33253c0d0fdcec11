package ledger

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

const (
	holdFirst = 5 * time.Millisecond // until it is tried again to hold a key
	holdMost  = 200 * time.Millisecond
)

// hold is the right to run a call, which one process at a time has, once. It ends
// with release, or with the process.
type hold struct{ file *os.File }

// hold waits until nobody else runs the call. Its error is ErrInProgress once ctx
// has ended.
func (l *Ledger) hold(ctx context.Context, key string) (*hold, error) {
	for wait := holdFirst; ; wait = min(2*wait, holdMost) {
		if h, err := l.tryHold(key); h != nil || err != nil {
			return h, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%s: %w: %w", key, ErrInProgress, context.Cause(ctx))
		case <-time.After(wait):
		}
	}
}

// tryHold is nil without an error if somebody else runs the call.
func (l *Ledger) tryHold(key string) (*hold, error) {
	path := filepath.Join(l.running, key)
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		taken, err := filelock.Take(f)
		if taken || err != nil {
			f.Close()
			return nil, err
		}
		// The one who held it last may have removed it after it was opened here;
		// the lock on a file without a name keeps nobody away.
		if named, err := isNamed(f, path); named || err != nil {
			if err != nil {
				f.Close()
				return nil, err
			}
			return &hold{file: f}, nil
		}
		f.Close()
	}
}

// sweep removes the files of those who were killed.
func (l *Ledger) sweep() error {
	files, err := os.ReadDir(l.running)
	if err != nil {
		return err
	}
	for _, f := range files {
		h, err := l.tryHold(f.Name())
		if err != nil {
			return err
		}
		if h != nil {
			h.release()
		}
	}
	return nil
}

func isNamed(f *os.File, path string) (bool, error) {
	mine, err := f.Stat()
	if err != nil {
		return false, err
	}
	at, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(mine, at), err
}

func (h *hold) release() {
	// While it is locked: afterwards it may be another's.
	os.Remove(h.file.Name())
	h.file.Close()
}
