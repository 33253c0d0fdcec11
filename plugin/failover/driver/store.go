package driver

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"time"

	"spillway/plugin/failover/brain"
	"spillway/sdk"
)

const (
	// circuits is the prefix of stored circuits.
	circuits = "circuit/"
	// keepCircuit outlives every cooldown and the longest hint of 8 days.
	keepCircuit = 9 * 24 * time.Hour
	// restoreTimeout is how long a start waits for what was learned before.
	restoreTimeout = time.Second
	writeTimeout   = 2 * time.Second
	retryPause     = time.Second
)

// restore reads what others have learned, and hears of what they learn from now
// on. It reports whether it could.
func (p *Plugin) restore(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, restoreTimeout)
	defer cancel()
	for _, kind := range []struct {
		prefix string
		load   func(sdk.Item)
	}{{circuits, p.load}, {orders, p.loadOrder}, {sdk.MeasurementPrefix, p.loadMeasurement}} {
		// First watch, then list: in between nothing is missed.
		hear := func(i sdk.Item) {
			kind.load(i)
			p.report()
		}
		err := patiently(ctx, func() error { return p.host.State().Watch(p.life, kind.prefix, hear) })
		var items []sdk.Item
		if err == nil {
			err = patiently(ctx, func() (err error) {
				items, err = p.host.State().List(ctx, kind.prefix)
				return err
			})
		}
		if err != nil {
			if p.unread.CompareAndSwap(false, true) { // said once
				p.host.Log().Warn("state not read: going on from memory", "err", err.Error())
			}
			return false
		}
		for _, i := range items {
			kind.load(i)
		}
	}
	p.unread.Store(false)
	return true
}

// follow tries again to read the store until that works.
func (p *Plugin) follow() {
	for {
		select {
		case <-time.After(retryPause):
		case <-p.life.Done():
			return
		}
		if p.restore(p.life) {
			p.report()
			return
		}
	}
}

// load takes in one stored circuit.
func (p *Plugin) load(i sdk.Item) {
	if i.Deleted {
		return
	}
	var changes []sdk.Change
	t, err := brain.ParseTarget(strings.TrimPrefix(i.Key, circuits))
	if err == nil {
		p.think(func(now brain.Instant) { changes, err = p.brain.Load(now, t, i.Data) })
	}
	if err != nil {
		p.host.Log().Warn("stored circuit ignored", "key", i.Key, "err", err.Error())
	}
	p.moveOn(changes)
	p.replan(false)
}

// loadMeasurement takes in what a route was measured to do.
func (p *Plugin) loadMeasurement(i sdk.Item) {
	if i.Deleted {
		return
	}
	var m sdk.Measurement
	if err := json.Unmarshal(i.Data, &m); err != nil || m.Key() != i.Key {
		p.host.Log().Warn("stored measurement ignored", "key", i.Key)
		return
	}
	p.think(func(brain.Instant) { p.brain.Measured(m) })
}

// changed queues circuits for the store. It reports whether there were any.
func (p *Plugin) changed() bool {
	var items []sdk.Item
	p.think(func(brain.Instant) {
		for _, t := range p.brain.TakeChanged() {
			if data := p.brain.Export(t); data != nil { // it may have made room since
				items = append(items, sdk.Item{Key: circuits + t.String(), Data: data})
			}
		}
	})
	p.store.put(items)
	return len(items) > 0
}

// writer writes circuits behind the calls: the newest of each, once.
type writer struct {
	state sdk.State
	wake  chan struct{} // capacity 1

	mu      sync.Mutex
	pending map[string][]byte

	writing sync.Mutex // held while a batch is written
}

func (w *writer) init(s sdk.State) {
	w.state, w.wake, w.pending = s, make(chan struct{}, 1), map[string][]byte{}
}

func (w *writer) put(items []sdk.Item) {
	if len(items) == 0 {
		return
	}
	w.mu.Lock()
	for _, i := range items {
		w.pending[i.Key] = i.Data
	}
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// run writes until life ends. A store that is gone is said once.
func (w *writer) run(life context.Context, log *slog.Logger) {
	said := false
	for {
		select {
		case <-w.wake:
		case <-life.Done():
			return
		}
		for !w.flush(life) {
			if !said {
				log.Warn("state store unavailable: going on from memory")
				said = true
			}
			select {
			case <-time.After(retryPause):
			case <-life.Done():
				return
			}
		}
		said = false
	}
}

// flush writes everything that is pending and reports whether it could.
func (w *writer) flush(ctx context.Context) bool {
	w.writing.Lock()
	defer w.writing.Unlock()
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	for {
		w.mu.Lock()
		var key string
		var data []byte
		for key, data = range w.pending {
			break
		}
		delete(w.pending, key)
		w.mu.Unlock()
		if key == "" {
			return true
		}
		if _, err := w.state.Put(ctx, key, data, keepCircuit); err != nil {
			w.mu.Lock()
			if _, newer := w.pending[key]; !newer {
				w.pending[key] = data
			}
			w.mu.Unlock()
			return false
		}
	}
}
