package state

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"spillway/host/sqlite"
)

// tend keeps the file usable until ctx ends.
func (f *file) tend(ctx context.Context) {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-f.broken:
		}
		db, err := f.use()
		if err == nil && sqlite.Moved(f.path, db.id) {
			f.log.Warn("state file was moved or removed, beginning a new one", "path", f.path)
			f.retire(db, errMoved)
			err = errMoved
		}
		if err != nil {
			f.mend(ctx, err)
			continue
		}
		f.poll(ctx, db)
	}
}

// mend replaces a file that was let go of because of why.
func (f *file) mend(ctx context.Context, why error) {
	if db := f.bury(); db != nil && fateOf(why) == fateCorrupt {
		f.spoiled = &spoiled{id: db.id, why: why}
	}
	f.reopen(ctx)
}

// reopen publishes a newly opened file, or the reason why there is none.
func (f *file) reopen(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, openLimit)
	defer cancel()
	db, err := f.open(ctx)
	if f.spoiled != nil && fateOf(err) == fateCorrupt {
		db, err = f.open(ctx)
	}
	f.mu.Lock()
	f.db, f.why = db, err
	f.mu.Unlock()
	if err == nil {
		f.signal.fire()
	}
}

// open sets a spoiled file aside and opens the one that is there then. If that
// one turns out to be corrupt, it is the spoiled one.
func (f *file) open(ctx context.Context) (*database, error) {
	if err := f.setAside(); err != nil {
		return nil, err
	}
	// The mode of a folder that exists is its owner's affair.
	if err := os.Mkdir(filepath.Dir(f.path), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	id, err := sqlite.Touch(f.path)
	if err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		db, err := openDatabase(ctx, f.path, id, f.limit, f.maxBytes)
		if fateOf(err) == fateCorrupt {
			f.spoiled = &spoiled{id: id, why: err}
		}
		if !sqlite.Busy(err) || try == openTries {
			return db, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(openRetry):
		}
	}
}

// setAside moves a spoiled file out of the way.
func (f *file) setAside() error {
	if f.spoiled == nil {
		return nil
	}
	aside, err := setAside(f.path, f.spoiled.id, time.Now())
	if err != nil {
		return fmt.Errorf("corrupt state file: %w", err)
	}
	if aside != "" {
		f.log.Error("state file was corrupt, it was set aside and a new one is begun",
			"path", f.path, "aside", aside, "err", f.spoiled.why)
	}
	f.spoiled = nil
	return nil
}

// poll looks for other processes' changes and, now and then, for expired
// items. Errors are left to the operations that somebody waits for.
func (f *file) poll(ctx context.Context, db *database) {
	ctx, cancel := context.WithTimeout(ctx, f.limit)
	defer cancel()
	rev, err := f.revision(ctx)
	if err != nil {
		return
	}
	if rev != f.seen {
		f.seen = rev
		f.signal.fire()
	}
	if now := time.Now(); now.Sub(f.swept) >= sweepEvery {
		if n, err := db.sweep(ctx, now); err != nil || n < sweepBatch {
			f.swept = now
		}
	}
}
