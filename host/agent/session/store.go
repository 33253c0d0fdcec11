package session

import (
	"bufio"
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Dir is the folder of the sessions within a profile's state.
const Dir = "sessions"

const (
	// maxKept bounds how many sessions are kept; the oldest make room.
	maxKept = 1000
	suffix  = ".jsonl"
	// maxHead is how much of a session is read to list it.
	maxHead = 64 << 10
)

// Store is the sessions of a profile.
type Store struct{ dir string }

// NewStore is the sessions in a folder, which is made when one is begun.
func NewStore(dir string) *Store { return &Store{dir: dir} }

// NewID names a new session.
func NewID() string { return "s-" + strings.ToLower(rand.Text()[:10]) }

// Begin makes a new session about a folder. The oldest ones are deleted where
// there are too many.
func (st *Store) Begin(folder string) (*Session, error) {
	if err := st.prune(); err != nil {
		return nil, err
	}
	return st.create(NewID(), folder)
}

func (st *Store) create(id, folder string) (*Session, error) {
	if err := os.MkdirAll(st.dir, 0o700); err != nil {
		return nil, err
	}
	s, err := open(id, st.path(id), os.O_CREATE)
	if err != nil {
		return nil, err
	}
	if len(s.entries) > 0 {
		return s, nil
	}
	err = s.Append(begun(folder))
	if err == nil {
		err = syncDir(st.dir)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// syncDir makes a new file's name durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Child is the session of a nested agent. It is begun if it is not there.
func (st *Store) Child(parent *Session, name string) (*Session, error) {
	return st.create(parent.ID()+"."+name, parent.Entries()[0].Folder)
}

// Open goes on with a session.
func (st *Store) Open(id string) (*Session, error) {
	if !named(id) {
		return nil, fmt.Errorf("session %q: %w", id, ErrNotFound)
	}
	s, err := open(id, st.path(id), 0)
	if err == nil && len(s.entries) == 0 { // it died while it was begun
		return nil, errors.Join(fmt.Errorf("session %q: %w", id, ErrNotFound), s.Close())
	}
	return s, err
}

// Read is the entries of a session, which may be in use.
func (st *Store) Read(id string) ([]Entry, error) {
	if !named(id) {
		return nil, fmt.Errorf("session %q: %w", id, ErrNotFound)
	}
	f, err := os.Open(st.path(id))
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("session %q: %w", id, ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := readAll(f)
	if err != nil {
		return nil, err
	}
	entries, _, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("session %q: %w", id, err)
	}
	return entries, nil
}

func readAll(f *os.File) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	if err == nil && len(data) > maxSize {
		err = fmt.Errorf("larger than %d MB", maxSize>>20)
	}
	return data, err
}

// named reports whether id may be a session's: it becomes the name of a file.
func named(id string) bool {
	return strings.HasPrefix(id, "s-") && len(id) < 200 && !strings.ContainsFunc(id, func(r rune) bool {
		return r != '-' && r != '.' && (r < '0' || r > '9') && (r < 'a' || r > 'z')
	})
}

func (st *Store) path(id string) string { return filepath.Join(st.dir, id+suffix) }

// Info is a session in a list.
type Info struct {
	ID      string    `json:"id"`
	Folder  string    `json:"folder"`
	Title   string    `json:"title"` // the beginning of the user's first message
	Begun   time.Time `json:"begun"`
	Changed time.Time `json:"changed"`
	Size    int64     `json:"size"`
}

// List is the sessions, the one that was changed last first. Those of nested
// agents are part of their parents'.
func (st *Store) List() ([]Info, error) {
	files, err := os.ReadDir(st.dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []Info
	for _, f := range files {
		id, ok := strings.CutSuffix(f.Name(), suffix)
		if !ok || !named(id) || strings.Contains(id, ".") {
			continue
		}
		if info, err := st.info(id); err == nil { // else it was deleted, or is none
			all = append(all, info)
		}
	}
	slices.SortFunc(all, func(a, b Info) int { return cmp.Or(b.Changed.Compare(a.Changed), cmp.Compare(a.ID, b.ID)) })
	return all, nil
}

func (st *Store) info(id string) (Info, error) {
	f, err := os.Open(st.path(id))
	if err != nil {
		return Info{}, err
	}
	defer f.Close()
	stat, err := f.Stat()
	if err != nil {
		return Info{}, err
	}
	info := Info{ID: id, Changed: stat.ModTime(), Size: stat.Size()}
	lines := bufio.NewScanner(io.LimitReader(f, maxHead))
	lines.Buffer(nil, maxHead)
	for lines.Scan() && info.Title == "" {
		var e Entry
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			break // longer than is read
		}
		if e.Kind == KindSession {
			info.Folder, info.Begun = e.Folder, e.At
		}
		info.Title = Title([]Entry{e})
	}
	if info.Begun.IsZero() {
		return info, ErrNotFound
	}
	return info, nil
}

// Last is the id of the session of a folder that was changed last.
func (st *Store) Last(folder string) (string, error) {
	all, err := st.List()
	if err != nil {
		return "", err
	}
	for _, info := range all {
		if info.Folder == folder {
			return info.ID, nil
		}
	}
	return "", fmt.Errorf("folder %q: %w", folder, ErrNotFound)
}

// Delete deletes a session that nobody uses.
func (st *Store) Delete(id string) error {
	s, err := st.Open(id)
	if err != nil {
		return err
	}
	defer s.Close()
	files, err := os.ReadDir(st.dir)
	if err != nil {
		return err
	}
	for _, f := range files {
		if f.Name() != id+suffix && !strings.HasPrefix(f.Name(), id+".") {
			continue
		}
		if err := os.Remove(filepath.Join(st.dir, f.Name())); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// prune makes room for one more.
func (st *Store) prune() error {
	all, err := st.List()
	if err != nil || len(all) < maxKept {
		return err
	}
	for _, info := range all[maxKept-1:] {
		if err := st.Delete(info.ID); err != nil && !errors.Is(err, ErrBusy) && !errors.Is(err, ErrNotFound) {
			return err
		}
	}
	return nil
}
