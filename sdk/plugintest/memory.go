package plugintest

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"spillway/sdk"
)

// Memory is an sdk.State in memory, for one plugin.
type Memory struct {
	mu      sync.Mutex
	rev     uint64
	items   map[string]sdk.Item
	leases  map[string]sdk.Lease
	watches map[*memoryWatch]struct{}
}

// memoryWatch keeps the last change of each key for a watcher that is slow.
type memoryWatch struct {
	prefix  string
	changes []sdk.Item
	wake    chan struct{} // capacity 1
}

var _ sdk.State = (*Memory)(nil)

// NewMemory returns an empty store.
func NewMemory() *Memory {
	return &Memory{items: map[string]sdk.Item{}, leases: map[string]sdk.Lease{}, watches: map[*memoryWatch]struct{}{}}
}

func live(expires time.Time) bool { return expires.IsZero() || time.Now().Before(expires) }

// get returns a copy of a live item.
func (m *Memory) get(key string) (sdk.Item, bool) {
	i, ok := m.items[key]
	if !ok || !live(i.Expires) {
		return sdk.Item{}, false
	}
	i.Data = slices.Clone(i.Data)
	return i, true
}

// Get implements sdk.State.
func (m *Memory) Get(_ context.Context, key string) (sdk.Item, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if i, ok := m.get(key); ok {
		return i, nil
	}
	return sdk.Item{}, sdk.ErrNotFound
}

func (m *Memory) put(key string, data []byte, ttl time.Duration) (uint64, error) {
	if len(data) > sdk.MaxStateValue {
		return 0, sdk.ErrTooLarge
	}
	m.rev++
	i := sdk.Item{Key: key, Data: slices.Clone(data), Revision: m.rev}
	if ttl > 0 {
		i.Expires = time.Now().Add(ttl)
	}
	m.items[key] = i
	m.changed(i)
	return m.rev, nil
}

func (m *Memory) changed(i sdk.Item) {
	for w := range m.watches {
		if !strings.HasPrefix(i.Key, w.prefix) {
			continue
		}
		own := i
		own.Data = slices.Clone(i.Data)
		w.changes = slices.DeleteFunc(w.changes, func(older sdk.Item) bool { return older.Key == i.Key })
		w.changes = append(w.changes, own)
		select {
		case w.wake <- struct{}{}:
		default:
		}
	}
}

// Put implements sdk.State.
func (m *Memory) Put(_ context.Context, key string, data []byte, ttl time.Duration) (uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.put(key, data, ttl)
}

// CompareAndSwap implements sdk.State.
func (m *Memory) CompareAndSwap(_ context.Context, key string, rev uint64, data []byte, ttl time.Duration) (uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if i, _ := m.get(key); i.Revision != rev {
		return 0, sdk.ErrConflict
	}
	return m.put(key, data, ttl)
}

// Delete implements sdk.State.
func (m *Memory) Delete(_ context.Context, key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.items[key]; ok {
		delete(m.items, key)
		m.rev++
		m.changed(sdk.Item{Key: key, Revision: m.rev, Deleted: true})
	}
	return nil
}

// List implements sdk.State.
func (m *Memory) List(_ context.Context, prefix string) ([]sdk.Item, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var items []sdk.Item
	for _, k := range slices.Sorted(maps.Keys(m.items)) {
		if i, ok := m.get(k); ok && strings.HasPrefix(k, prefix) {
			items = append(items, i)
		}
	}
	return items, nil
}

// Watch implements sdk.State.
func (m *Memory) Watch(ctx context.Context, prefix string, f func(sdk.Item)) error {
	w := &memoryWatch{prefix: prefix, wake: make(chan struct{}, 1)}
	m.mu.Lock()
	m.watches[w] = struct{}{}
	m.mu.Unlock()
	go func() {
		defer func() {
			m.mu.Lock()
			delete(m.watches, w)
			m.mu.Unlock()
		}()
		for {
			select {
			case <-w.wake:
			case <-ctx.Done():
				return
			}
			m.mu.Lock()
			changes := w.changes
			w.changes = nil
			m.mu.Unlock()
			for _, i := range changes {
				f(i)
			}
		}
	}()
	return nil
}

// Acquire implements sdk.State.
func (m *Memory) Acquire(_ context.Context, name string, ttl time.Duration) (sdk.Lease, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.leases[name]
	if l.Generation > 0 && live(l.Expires) {
		return sdk.Lease{}, sdk.ErrHeld
	}
	l = sdk.Lease{Name: name, Generation: l.Generation + 1, Expires: time.Now().Add(ttl)}
	m.leases[name] = l
	return l, nil
}

// Renew implements sdk.State.
func (m *Memory) Renew(_ context.Context, l sdk.Lease, ttl time.Duration) error {
	return m.lease(l, time.Now().Add(ttl), sdk.ErrConflict)
}

// Release implements sdk.State.
func (m *Memory) Release(_ context.Context, l sdk.Lease) error {
	return m.lease(l, time.Unix(1, 0), nil)
}

// lease moves the end of a lease that l still holds.
func (m *Memory) lease(l sdk.Lease, end time.Time, lost error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	have := m.leases[l.Name]
	if have.Generation != l.Generation || !live(have.Expires) {
		return lost
	}
	have.Expires = end
	m.leases[l.Name] = have
	return nil
}
