package state

import (
	"context"
	"slices"
	"time"

	"spillway/sdk"
)

func (m *memory) putRecords(_ context.Context, entries []entry) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range entries {
		m.entries = slices.DeleteFunc(m.entries, func(old entry) bool { return old.id == e.id })
		i, _ := slices.BinarySearchFunc(m.entries, e, func(a, b entry) int { return b.started.Compare(a.started) })
		m.entries = slices.Insert(m.entries, i, e)
	}
	return nil
}

func (m *memory) record(_ context.Context, id string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.entries {
		if e.id == id {
			return e.data, nil
		}
	}
	return nil, sdk.ErrNotFound
}

func (m *memory) records(_ context.Context, f Filter, limit int) ([][]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var found [][]byte
	for _, e := range m.entries {
		if len(found) == limit {
			break
		}
		if f.selects(e) {
			found = append(found, e.data)
		}
	}
	return found, nil
}

func (m *memory) trimRecords(_ context.Context, keep int, oldest time.Time, limit int) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	fit := min(keep, len(m.entries))
	for fit > 0 && m.entries[fit-1].started.Before(oldest) {
		fit--
	}
	n := min(len(m.entries)-fit, limit)
	m.entries = slices.Delete(m.entries, len(m.entries)-n, len(m.entries))
	return n, nil
}
