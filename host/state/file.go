package state

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"
)

const (
	fileName = "spillway.db"

	// pollEvery is how often another process's changes are looked for; they
	// have to be seen within a second.
	pollEvery  = 250 * time.Millisecond
	sweepEvery = 10 * time.Second
	sweepBatch = 256

	openLimit = 10 * time.Second // a slow disk takes long to make a file
	openWait  = 5                // limits that Open waits for it

	// Two processes that make the file at the same time lock each other out
	// for a moment.
	openTries = 10
	openRetry = 20 * time.Millisecond
)

// file is the backend and journal in a SQLite file. What it does to mend the
// file is described in the package comment.
type file struct {
	path     string
	limit    time.Duration // of looking for changes, and of waiting for locks
	maxBytes int64
	log      *slog.Logger
	signal   signal

	mu      sync.Mutex
	db      *database // nil while there is no usable file
	why     error     // why there is none
	retired *database // to be closed before the file is opened anew

	// Of the goroutine that tends the file.
	spoiled *spoiled
	seen    uint64 // the latest revision that was signalled
	swept   time.Time

	broken chan struct{} // wakes that goroutine; holds at most one
	end    context.CancelFunc
	wg     sync.WaitGroup
}

var (
	_ backend = (*file)(nil)
	_ journal = (*file)(nil)
)

// spoiled is a corrupt file that is still in its place.
type spoiled struct {
	id  os.FileInfo
	why error
}

var (
	errClosed = errors.New("store is closed")
	errMoved  = errors.New("state file was moved or removed")
)

// openFile starts the backend. The error is ErrNewer, or a fault of dir.
func openFile(dir string, o Options) (*file, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("state: %w", err)
	}
	f := &file{
		path:     filepath.Join(dir, fileName),
		limit:    o.Limit,
		maxBytes: o.MaxBytes,
		log:      o.Log,
		why:      fmt.Errorf("%s: not opened yet: another process has locked it, or the disk is slow", filepath.Join(dir, fileName)),
		broken:   make(chan struct{}, 1),
	}
	life, end := context.WithCancel(context.Background())
	f.end = end
	opened := make(chan struct{})
	f.wg.Go(func() {
		f.reopen(life)
		close(opened)
		f.tend(life)
	})
	select {
	case <-opened:
	case <-time.After(openWait * o.Limit):
	}
	if _, err := f.use(); errors.Is(err, ErrNewer) {
		f.close()
		return nil, fmt.Errorf("state: %s: %w", f.path, err)
	}
	return f, nil
}

// close ends the backend. Operations fail from then on.
func (f *file) close() {
	f.end()
	f.wg.Wait()
	f.mu.Lock()
	if f.db != nil {
		f.retired = f.db
	}
	f.db, f.why = nil, errClosed
	f.mu.Unlock()
	f.bury()
}

// use returns the open file, or why there is none.
func (f *file) use() (*database, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.db == nil {
		return nil, f.why
	}
	return f.db, nil
}

// judge looks at what an operation on db ended with, and lets go of db if it
// is of no further use. It returns err.
func (f *file) judge(db *database, err error) error {
	if fateOf(err) != fateKeep {
		f.retire(db, err)
	}
	return err
}

// retire lets go of db and wakes the goroutine that opens the file anew.
func (f *file) retire(db *database, why error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.db != db {
		return
	}
	f.db, f.why = nil, why
	f.retired = db
	select {
	case f.broken <- struct{}{}:
	default:
	}
}

// bury closes and returns what was retired, if anything was.
func (f *file) bury() *database {
	f.mu.Lock()
	db := f.retired
	f.retired = nil
	f.mu.Unlock()
	if db != nil {
		db.close()
	}
	return db
}

func (f *file) changed() <-chan struct{} { return f.signal.next() }
