package state

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
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
	// maxPlugins bounds how many statuses may wait to be stored.
	maxPlugins = 256
)

// PluginStatus is the last status of a plugin.
type PluginStatus struct {
	Plugin string    `json:"plugin"`
	At     time.Time `json:"at"` // when it was reported
	sdk.Status
}

// statuses are the reports that wait to be stored, one a plugin.
type statuses struct {
	part *part
	poke func()

	mu      sync.Mutex
	pending map[string]PluginStatus

	writing sync.Mutex // held by whoever flushes, so that an older report never lands last
}

// PutStatus replaces the stored status of a plugin, soon. It does not block;
// st must not be changed afterwards.
func (s *Store) PutStatus(plugin string, st sdk.Status) {
	s.statuses.put(PluginStatus{Plugin: plugin, At: time.Now().Round(0), Status: st})
}

// Statuses returns the last status of each plugin, of any process, in order of
// plugins.
func (s *Store) Statuses(ctx context.Context) ([]PluginStatus, error) {
	_ = s.statuses.flush(ctx) // a full file can still be read
	items, err := s.local.list(ctx, statusRoot, "")
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
	_, known := b.pending[st.Plugin]
	if known || len(b.pending) < maxPlugins {
		b.pending[st.Plugin] = st
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
