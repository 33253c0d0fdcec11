package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"spillway/host/sqlite"
)

const (
	fileName      = "tools.db"
	runningFolder = "tools.running"

	// patience is what a step of the ledger may take. Tools wait for it, so it is
	// long: a disk may be slow, and other processes have to commit, too.
	patience = 10 * time.Second
	// freeRetry is when a locked file is tried again.
	freeRetry = 20 * time.Millisecond
)

// Ledger is the open ledger of a profile. It is safe for concurrent use, and
// several processes may have it open.
type Ledger struct {
	path    string
	running string // the folder of holds
	id      os.FileInfo
	db      *sql.DB
	limits  limits
	runs    atomic.Uint64 // since it was opened
}

// Open opens the ledger in the state folder dir, and makes it if there is none.
// The error is ErrUnusable if a file is there that cannot be relied on. Nothing
// but read-only tools may run without a ledger.
func Open(dir string) (*Ledger, error) {
	return open(dir, limits{age: 90 * 24 * time.Hour, calls: 100_000, bytes: 1 << 30})
}

func open(dir string, lim limits) (_ *Ledger, err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	l := &Ledger{path: filepath.Join(dir, fileName), running: filepath.Join(dir, runningFolder), limits: lim}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	if l.emptied() {
		return nil, l.unusable(errEmptied)
	}
	if l.id, err = sqlite.Touch(l.path); err != nil {
		return nil, l.unusable(err)
	}
	l.db, err = sql.Open(sqlite.Driver, sqlite.Immediate(l.path, []string{
		fmt.Sprintf("busy_timeout(%d)", patience.Milliseconds()),
		"journal_mode(WAL)",
		"synchronous(FULL)", // what is committed is on the disk
		"fullfsync(1)",      // on the plates, where the system makes a difference
		"cache_size(-1024)",
	}))
	if err != nil {
		return nil, l.unusable(err)
	}
	l.db.SetMaxOpenConns(1) // SQLite has one writer at a time anyway
	ctx, end := context.WithTimeout(context.Background(), patience)
	defer end()
	if err := whenFree(ctx, func() error { return l.ready(ctx) }); err != nil {
		l.db.Close()
		return nil, l.unusable(err)
	}
	return l, nil
}

// ready brings the file up to date.
func (l *Ledger) ready(ctx context.Context) error {
	if err := sqlite.Migrate(ctx, l.db, schema1); err != nil {
		return err
	}
	if err := os.MkdirAll(l.running, 0o700); err != nil {
		return err
	}
	if err := l.sweep(); err != nil {
		return err
	}
	if err := l.reap(ctx); err != nil {
		return err
	}
	return l.trim(ctx)
}

var errEmptied = errors.New("the file has been emptied; remove it to begin anew: then nothing is known of earlier calls")

// emptied reports whether the file was in use and has lost all that it held, which
// SQLite takes for a new one. The folder of holds is made after the first contents.
func (l *Ledger) emptied() bool {
	file, err := os.Stat(l.path)
	if err != nil || file.Size() > 0 {
		return false
	}
	_, err = os.Stat(l.running)
	return err == nil
}

// Close closes the ledger. Calls that are being run end as unknown: wait for them
// first.
func (l *Ledger) Close() error { return l.db.Close() }

// unusable says what is wrong with the file, and what a person may do.
func (l *Ledger) unusable(err error) error {
	if errors.Is(err, ErrUnusable) {
		return err
	}
	hint := ""
	if sqlite.Corrupt(err) {
		hint = "; mend it, or move it away to begin anew: then nothing is known of earlier calls"
	}
	return fmt.Errorf("%w: %s: %w%s", ErrUnusable, l.path, err, hint)
}

// Plan records calls that are about to run, all of them or none: those of an
// accepted answer, before the first runs. What is recorded already stays as it is;
// read-only tools are passed over.
func (l *Ledger) Plan(ctx context.Context, actions ...Action) error {
	now := time.Now()
	return l.change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		for _, a := range actions {
			if !a.recorded() {
				continue
			}
			if err := a.check(); err != nil {
				return err
			}
			if err := write(ctx, tx, putNew, Entry{Key: a.Key(), Action: a, State: Planned, Planned: now}); err != nil {
				return err
			}
		}
		return nil
	})
}

var errMoved = errors.New("the file was moved or removed while it was in use")

// change runs f in one transaction, which is on the disk when the error is nil. It
// is not cut short by ctx: it would not be known what became of it.
func (l *Ledger) change(ctx context.Context, f func(context.Context, *sql.Tx) error) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if sqlite.Moved(l.path, l.id) {
		return l.unusable(errMoved)
	}
	ctx, end := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer end()
	var tx *sql.Tx
	err := whenFree(ctx, func() (err error) {
		tx, err = l.db.BeginTx(ctx, nil)
		return err
	})
	if err != nil {
		return l.unusable(err)
	}
	defer tx.Rollback()
	if err := f(ctx, tx); err != nil {
		if sqlite.Code(err) != 0 {
			return l.unusable(err)
		}
		return err
	}
	if err := tx.Commit(); err != nil {
		return l.unusable(err)
	}
	return nil
}

// whenFree tries f until the file is not locked, or ctx has ended.
func whenFree(ctx context.Context, f func() error) error {
	for {
		err := f()
		if !sqlite.Busy(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(freeRetry):
		}
	}
}

// Filter says which calls to list; its zero value lists the newest of all.
type Filter struct {
	Session string
	States  []State
	Prefix  string // of the key
	Limit   int    // 0: 100
}

// MaxList is how many calls List returns at most, whatever its limit.
const MaxList = 10_000

const defaultList = 100

// List returns calls, first those that need a person, and newest first.
func (l *Ledger) List(ctx context.Context, f Filter) ([]Entry, error) {
	if err := l.reap(ctx); err != nil {
		return nil, err
	}
	where, args := []string{"true"}, []any{}
	if f.Session != "" {
		where, args = append(where, "session = ?"), append(args, f.Session)
	}
	if f.Prefix != "" {
		where, args = append(where, "substr(key, 1, length(?)) = ?"), append(args, f.Prefix, f.Prefix)
	}
	if len(f.States) > 0 {
		where = append(where, "state IN (?"+strings.Repeat(", ?", len(f.States)-1)+")")
		for _, s := range f.States {
			args = append(args, string(s))
		}
	}
	if f.Limit == 0 {
		f.Limit = defaultList
	}
	args = append(args, min(f.Limit, MaxList))
	return read(ctx, l.db, "WHERE "+strings.Join(where, " AND ")+
		" ORDER BY state = 'unknown' AND effect = 'write' AND verdict <> 'unknown' DESC, planned DESC, rowid DESC LIMIT ?", args...)
}

// Get returns the call of a key. The error is ErrNotFound if there is none.
func (l *Ledger) Get(ctx context.Context, key string) (Entry, error) {
	if err := l.reap(ctx); err != nil {
		return Entry{}, err
	}
	return readOne(ctx, l.db, key)
}
