package state

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"spillway/sdk"
)

// memory is a backend and a journal for one process.
type memory struct {
	signal signal

	mu      sync.Mutex
	rev     uint64
	items   map[string]sdk.Item // Key unset
	sweepAt int                 // number of items at which expired ones are looked for
	entries []entry             // newest first
}

var (
	_ backend = (*memory)(nil)
	_ journal = (*memory)(nil)
)

const minSweep = 1024

func newMemory() *memory {
	return &memory{
		rev:     uint64(time.Now().UnixMicro()),
		items:   make(map[string]sdk.Item),
		sweepAt: minSweep,
	}
}

func expired(it sdk.Item, now time.Time) bool {
	return !it.Expires.IsZero() && !now.Before(it.Expires)
}

// at returns the item at key, the zero item if there is none.
func (m *memory) at(key string) sdk.Item {
	it := m.items[key]
	if it.Deleted || expired(it, time.Now()) {
		return sdk.Item{}
	}
	return it
}

func (m *memory) get(_ context.Context, key string) (sdk.Item, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	it := m.at(key)
	if it.Revision == 0 {
		return sdk.Item{}, sdk.ErrNotFound
	}
	it.Data = slices.Clone(it.Data)
	return it, nil
}

func (m *memory) list(_ context.Context, prefix string) ([]sdk.Item, error) {
	found := m.find(prefix, func(it sdk.Item) bool { return !it.Deleted })
	slices.SortFunc(found, func(a, b sdk.Item) int { return strings.Compare(a.Key, b.Key) })
	return found, nil
}

func (m *memory) since(ctx context.Context, prefix string, after uint64) ([]sdk.Item, uint64, error) {
	latest, err := m.revision(ctx)
	if err != nil || latest == after {
		return nil, latest, err
	}
	found := m.find(prefix, func(it sdk.Item) bool { return it.Revision > after })
	slices.SortFunc(found, func(a, b sdk.Item) int { return cmp.Compare(a.Revision, b.Revision) })
	return found, newest(found, latest), nil
}

// find returns the items under prefix that have not expired and are wanted.
func (m *memory) find(prefix string, wanted func(sdk.Item) bool) []sdk.Item {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	var found []sdk.Item
	for key, it := range m.items {
		if strings.HasPrefix(key, prefix) && !expired(it, now) && wanted(it) {
			it.Key, it.Data = key, slices.Clone(it.Data)
			found = append(found, it)
		}
	}
	return found
}

func (m *memory) update(_ context.Context, key string, c change) (uint64, error) {
	rev, err := m.replace(key, c)
	if err == nil && c.verb != extend {
		m.signal.fire()
	}
	return rev, err
}

func (m *memory) replace(key string, c change) (uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	next, err := c.apply(m.at(key), m.rev+1)
	if err != nil {
		return 0, err
	}
	m.rev = max(m.rev, next.Revision)
	next.Data = slices.Clone(next.Data)
	m.items[key] = next
	m.sweep()
	return next.Revision, nil
}

// sweep removes expired items, whenever their number may have doubled.
func (m *memory) sweep() {
	if len(m.items) < m.sweepAt {
		return
	}
	now := time.Now()
	for key, it := range m.items {
		if expired(it, now) {
			delete(m.items, key)
		}
	}
	m.sweepAt = max(minSweep, 2*len(m.items))
}

func (m *memory) revision(context.Context) (uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.rev, nil
}

func (m *memory) changed() <-chan struct{} { return m.signal.next() }
