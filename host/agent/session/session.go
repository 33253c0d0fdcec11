package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"spillway/host/filelock"
)

// maxSize bounds a session's file: it is read whole. A day of hard work makes
// some 10 MB.
const maxSize = 64 << 20

var (
	// ErrBusy: another process has the session.
	ErrBusy = errors.New("in use by another process")
	// ErrNewer: the file's form is not known yet. The file stays as it is.
	ErrNewer = errors.New("written by a newer spillway")
	// ErrFull: the session has grown to its limit.
	ErrFull = errors.New("the session is full: begin another one")
	// ErrNotFound: there is no such session.
	ErrNotFound = errors.New("no such session")
)

// Session is a conversation that goes on. It is safe for concurrent use.
type Session struct {
	id   string
	torn int

	mu      sync.Mutex
	file    *os.File // nil: it is kept in memory only
	size    int64
	entries []Entry
	broken  error // of a write: what the file holds is not known any more
}

// NewMemory begins a session that nobody comes back to.
func NewMemory(id, folder string) *Session {
	return &Session{id: id, entries: []Entry{begun(folder)}}
}

func begun(folder string) Entry {
	return Entry{Kind: KindSession, At: time.Now(), Version: version, Folder: folder}
}

// open takes the lock of a session's file and reads it.
func open(id, path string, flag int) (*Session, error) {
	f, err := os.OpenFile(path, os.O_RDWR|flag, 0o600)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("session %q: %w", id, ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	s := &Session{id: id, file: f}
	if err := s.load(); err != nil {
		return nil, errors.Join(fmt.Errorf("session %q: %w", id, err), f.Close())
	}
	return s, nil
}

func (s *Session) load() error {
	taken, err := filelock.Take(s.file)
	if err != nil {
		return err
	}
	if taken {
		return ErrBusy
	}
	data, err := readAll(s.file)
	if err != nil {
		return err
	}
	entries, sound, err := parse(data)
	if err != nil {
		return err
	}
	s.entries, s.size, s.torn = entries, int64(sound), len(data)-sound
	if s.torn > 0 {
		if err := s.file.Truncate(s.size); err != nil {
			return err
		}
	}
	_, err = s.file.Seek(s.size, 0)
	return err
}

// parse reads the lines of a session. sound is where the last whole one ends:
// what follows was being written when the process died. A line before it that
// cannot be read is damage, and an error.
func parse(data []byte) (entries []Entry, sound int, err error) {
	for n := 1; sound < len(data); n++ {
		line, _, whole := bytes.Cut(data[sound:], []byte("\n"))
		if !whole {
			break
		}
		var e Entry
		if err := json.Unmarshal(line, &e); err != nil {
			if sound+len(line)+1 == len(data) {
				break
			}
			return nil, 0, fmt.Errorf("line %d: %w", n, err)
		}
		if e.Kind == KindSummary && (e.Covers < 1 || e.Covers >= n) {
			return nil, 0, fmt.Errorf("line %d: sums up %d entries, and %d stand before it", n, e.Covers, n-1)
		}
		switch {
		case n > 1:
		case e.Kind == KindSession && e.Version > version:
			return nil, 0, fmt.Errorf("%w: it has version %d, this one knows up to %d", ErrNewer, e.Version, version)
		case e.Kind != KindSession || e.Version != version:
			return nil, 0, fmt.Errorf("line 1: kind %q version %d, want a session of version %d", e.Kind, e.Version, version)
		}
		entries = append(entries, e)
		sound += len(line) + 1
	}
	return entries, sound, nil
}

// ID names the session.
func (s *Session) ID() string { return s.id }

// Kept reports whether the session outlives the process.
func (s *Session) Kept() bool { return s.file != nil }

// Torn is how many bytes of a line that was not finished were cut off when the
// session was opened.
func (s *Session) Torn() int { return s.torn }

// Entries are all entries so far. They are shared: do not modify them.
func (s *Session) Entries() []Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clip(s.entries)
}

// Append adds an entry, which is on the disk when it returns. After an error of
// the disk the session takes nothing any more.
func (s *Session) Append(e Entry) error {
	if e.At.IsZero() {
		e.At = time.Now()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		s.entries = append(s.entries, e)
		return nil
	}
	if s.broken != nil {
		return s.broken
	}
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("session %q: %w", s.id, err)
	}
	line = append(line, '\n')
	if s.size+int64(len(line)) > maxSize {
		return fmt.Errorf("session %q: %w", s.id, ErrFull)
	}
	if _, err = s.file.Write(line); err == nil {
		err = s.file.Sync()
	}
	if err != nil {
		s.broken = fmt.Errorf("session %q: %w", s.id, err)
		return s.broken
	}
	s.size += int64(len(line))
	s.entries = append(s.entries, e)
	return nil
}

// Close lets another process have the session. It may be called more than once.
func (s *Session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil || s.broken == os.ErrClosed {
		return nil
	}
	s.broken = os.ErrClosed
	return s.file.Close()
}
