package state

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"spillway/sdk"
)

const (
	// maxStatus bounds a plugin's status as JSON, in bytes: about a thousand
	// targets.
	maxStatus = 256 << 10
	// statusLife is how long the status of a plugin is kept that has not
	// reported again.
	statusLife = 30 * 24 * time.Hour
	// maxPlugins bounds how many plugins' statuses a process keeps.
	maxPlugins = 256
)

// PluginStatus is the last status of a plugin.
type PluginStatus struct {
	Plugin string    `json:"plugin"`
	At     time.Time `json:"at"` // when it was reported
	sdk.Status
}

// statuses are the reports of this process, one a plugin.
type statuses struct {
	part *part
	poke func()

	mu      sync.Mutex
	latest  map[string]PluginStatus // of those that the store may lack as well
	pending map[string]PluginStatus // not stored yet

	writing sync.Mutex // held by whoever flushes, so that an older report never lands last
}

// PutStatus replaces the stored status of a plugin, soon. It does not block;
// st must not be changed afterwards.
func (s *Store) PutStatus(plugin string, st sdk.Status) {
	s.statuses.put(PluginStatus{Plugin: plugin, At: time.Now().Round(0), Status: st})
}

// Statuses returns the last status of each plugin, of any process, in order of
// plugins. With an error they are those that were reported in this process.
func (s *Store) Statuses(ctx context.Context) ([]PluginStatus, error) {
	_ = s.statuses.flush(ctx) // a full file can still be read
	stored, err := s.statuses.stored(ctx)
	all := s.Reported()
	for _, st := range stored {
		if own, ok := all[st.Plugin]; !ok || own.At.Before(st.At) {
			all[st.Plugin] = st
		}
	}
	return slices.SortedFunc(maps.Values(all), func(a, b PluginStatus) int {
		return strings.Compare(a.Plugin, b.Plugin)
	}), err
}

// Reported returns the last status of each plugin that this process was given,
// by plugin, without asking the store.
func (s *Store) Reported() map[string]PluginStatus {
	s.statuses.mu.Lock()
	defer s.statuses.mu.Unlock()
	return maps.Clone(s.statuses.latest)
}

// stored reads what the store has. Only people and a scrape wait for it.
func (b *statuses) stored(ctx context.Context) ([]PluginStatus, error) {
	items, err := b.part.list(ctx, b.part.guard.bulk, statusRoot, "")
	if err != nil {
		return nil, err
	}
	list := make([]PluginStatus, len(items))
	for i, it := range items {
		if err := json.Unmarshal(it.Data, &list[i]); err != nil {
			return nil, fmt.Errorf("state: stored status %q: %w", it.Key, err)
		}
	}
	return list, nil
}

func (b *statuses) put(st PluginStatus) {
	b.mu.Lock()
	if _, known := b.latest[st.Plugin]; known || len(b.latest) < maxPlugins {
		b.latest[st.Plugin], b.pending[st.Plugin] = st, st
	}
	b.mu.Unlock()
	b.poke()
}

// take removes one pending report.
func (b *statuses) take() (PluginStatus, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for plugin, st := range b.pending {
		delete(b.pending, plugin)
		return st, true
	}
	return PluginStatus{}, false
}

// giveBack makes a report pending again unless there is a newer one.
func (b *statuses) giveBack(st PluginStatus) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, newer := b.pending[st.Plugin]; !newer {
		b.pending[st.Plugin] = st
	}
}

func (b *statuses) flush(ctx context.Context) error {
	b.writing.Lock()
	defer b.writing.Unlock()
	for {
		st, ok := b.take()
		if !ok {
			return nil
		}
		data, err := json.Marshal(st)
		if err != nil || len(data) > maxStatus {
			b.part.guard.log.Warn("status dropped", "plugin", st.Plugin, "bytes", len(data), "err", err)
			continue
		}
		key := statusRoot + url.PathEscape(st.Plugin)
		_, err = b.part.update(ctx, key, change{data: data, ttl: statusLife})
		if err != nil {
			b.giveBack(st)
			return err
		}
	}
}
