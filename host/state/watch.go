package state

import (
	"context"
	"strings"
	"time"

	"spillway/sdk"
)

// watchRetry is how soon a watcher asks again when its store was out of reach.
const watchRetry = 250 * time.Millisecond

// Watch implements sdk.State. It returns at once; f is called in order of
// revisions until ctx ends or the store is closed, and must not close it. An
// expiry is no change: the item said when.
//
// A watch that begins while the store is out of reach hears of every item
// there is once the store is back. Deletions are lost on a watcher whose store
// was out of reach for longer than ten minutes.
func (n *Namespace) Watch(ctx context.Context, prefix string, f func(sdk.Item)) error {
	if err := checkKey(prefix); err != nil {
		return err
	}
	// Taken before the revision is read, so that no change falls in between.
	changed := n.part.items.changed()
	seen, err := n.part.revision(ctx)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	w := &watcher{part: n.part, root: n.itemPrefix(), prefix: prefix, seen: seen, f: f}
	return n.store.spawn(ctx, func(ctx context.Context) { w.run(ctx, changed, err != nil) })
}

type watcher struct {
	part   *part
	root   string
	prefix string
	seen   uint64 // every change up to here was given to f
	f      func(sdk.Item)
}

// run gives changes to f until ctx ends. Behind says that there may be some
// already.
func (w *watcher) run(ctx context.Context, changed <-chan struct{}, behind bool) {
	for {
		var again <-chan time.Time
		if behind {
			again = time.After(watchRetry)
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
		case <-again:
		}
		changed = w.part.items.changed()
		behind = w.catchUp(ctx) != nil
	}
}

func (w *watcher) catchUp(ctx context.Context) error {
	items, latest, err := w.part.since(ctx, w.root+w.prefix, w.seen)
	if err != nil {
		return err
	}
	for _, it := range items {
		if ctx.Err() != nil {
			return nil
		}
		it.Key = strings.TrimPrefix(it.Key, w.root)
		w.f(it)
	}
	w.seen = latest
	return nil
}
