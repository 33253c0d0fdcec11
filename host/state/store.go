package state

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"spillway/sdk"
)

// Options of a store. The zero value is the good default.
type Options struct {
	Log *slog.Logger // nil: none

	// Redis is where the namespaces of all machines are; nil: they are in the
	// file, or in memory, like the records and statuses of this one.
	Redis *Redis

	// Limit of one operation of a plugin; default 100 ms. Reading and writing
	// records has ten times as much.
	Limit time.Duration

	MaxBytes int64         // of the file; default 1 GiB. A full file is an outage, reading goes on
	Keep     int           // records kept; default 10 000
	KeepFor  time.Duration // age of records kept; default 30 days
}

func (o Options) withDefaults() Options {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Limit <= 0 {
		o.Limit = 100 * time.Millisecond
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = 1 << 30
	}
	if o.Keep <= 0 {
		o.Keep = 10_000
	}
	if o.KeepFor <= 0 {
		o.KeepFor = 30 * 24 * time.Hour
	}
	return o
}

// Store is a profile's state. It is safe for concurrent use.
type Store struct {
	local    *part // what stays on this machine
	shared   *part // the namespaces
	records  *Records
	statuses *statuses
	writer   *writer
	closeDB  func() // ends the backends

	life context.Context // ends when Close begins
	end  context.CancelFunc

	insisting chan struct{} // holds one for each lease that is being given back behind the calls

	mu     sync.Mutex
	closed bool           // nothing may start
	behind sync.WaitGroup // watchers, and what insists; Add only under mu
}

// Open opens the store in a folder, which is made if its parent exists. The
// error is ErrNewer, or a fault of dir itself. A store that is out of reach is
// no error: it is reported to the log, and its operations return
// sdk.ErrUnavailable until it is back. Open does not wait for a Redis.
func Open(dir string, o Options) (*Store, error) {
	o = o.withDefaults()
	f, err := openFile(dir, o)
	if err != nil {
		return nil, err
	}
	return newStore(f, f, f.close, o), nil
}

// NewMemory returns an empty store that nobody else sees and nothing survives,
// what is in a Redis excepted.
func NewMemory(o Options) *Store {
	m := newMemory()
	return newStore(m, m, func() {}, o.withDefaults())
}

func newStore(items backend, j journal, closeDB func(), o Options) *Store {
	g := &guard{log: o.Log, limit: o.Limit, bulk: 10 * o.Limit}
	s := &Store{local: &part{guard: g, items: items}, closeDB: closeDB}
	s.shared = s.local
	if o.Redis != nil {
		r := openRemote(*o.Redis, o.Limit)
		s.shared = &part{
			guard: &guard{log: o.Log.With("store", o.Redis.String()), limit: o.Limit},
			items: r,
		}
		s.closeDB = func() { r.close(); closeDB() }
	}
	s.life, s.end = context.WithCancel(context.Background())
	s.insisting = make(chan struct{}, maxInsisting)
	s.records = &Records{
		journal: j, guard: g, log: o.Log, keep: o.Keep, keepFor: o.KeepFor,
	}
	s.statuses = &statuses{part: s.local, latest: make(map[string]PluginStatus), pending: make(map[string]PluginStatus)}
	s.writer = startWriter(g.bulk, s.flush)
	s.records.poke, s.statuses.poke = s.writer.poke, s.writer.poke
	return s
}

// Records returns the store's records.
func (s *Store) Records() *Records { return s.records }

// flush stores everything that is queued.
func (s *Store) flush(ctx context.Context) error {
	return errors.Join(s.records.flush(ctx), s.statuses.flush(ctx))
}

// spawn starts run, whose context ends with ctx or when the store is closed.
func (s *Store) spawn(ctx context.Context, run func(context.Context)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return sdk.ErrUnavailable
	}
	s.behind.Go(func() {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(s.life, cancel)()
		run(ctx)
	})
	return nil
}

// Close ends what runs behind the calls, stores what is queued, within the limit of records,
// and closes the file and the connections. Later operations return
// sdk.ErrUnavailable. Leases stay until they expire. Closing again does nothing.
func (s *Store) Close() {
	s.mu.Lock()
	again := s.closed
	s.closed = true
	s.mu.Unlock()
	if again {
		return
	}
	s.end()
	s.behind.Wait()
	s.writer.close()
	s.closeDB()
}
