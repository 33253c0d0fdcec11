package state

import (
	"context"
	"strings"
	"time"

	"spillway/sdk"
)

// part is a backend behind its guard. A store has one for what machines share
// and one for what stays on this one; without a Redis they are the same.
type part struct {
	guard *guard
	items backend
}

func (p *part) get(ctx context.Context, key string) (it sdk.Item, err error) {
	err = p.guard.read(ctx, p.guard.limit, func(ctx context.Context) (err error) {
		it, err = p.items.get(ctx, key)
		return err
	})
	return it, err
}

func (p *part) update(ctx context.Context, key string, c change) (rev uint64, err error) {
	err = p.guard.write(ctx, p.guard.limit, func(ctx context.Context) (err error) {
		rev, err = p.items.update(ctx, key, c)
		return err
	})
	if err != nil {
		return 0, err
	}
	return rev, nil
}

// list returns the items whose key begins with root and prefix, keys without
// root.
func (p *part) list(ctx context.Context, limit time.Duration, root, prefix string) (items []sdk.Item, err error) {
	err = p.guard.read(ctx, limit, func(ctx context.Context) (err error) {
		items, err = p.items.list(ctx, root+prefix)
		return err
	})
	if err != nil {
		return nil, err
	}
	for i := range items {
		items[i].Key = strings.TrimPrefix(items[i].Key, root)
	}
	return items, nil
}

// revision returns the latest revision.
func (p *part) revision(ctx context.Context) (rev uint64, err error) {
	err = p.guard.read(ctx, p.guard.limit, func(ctx context.Context) (err error) {
		rev, err = p.items.revision(ctx)
		return err
	})
	return rev, err
}

// since returns the items under prefix that were changed after a revision, in
// order of revisions, and the revision up to which these are all.
func (p *part) since(ctx context.Context, prefix string, after uint64) (items []sdk.Item, latest uint64, err error) {
	err = p.guard.read(ctx, p.guard.limit, func(ctx context.Context) (err error) {
		items, latest, err = p.items.since(ctx, prefix, after)
		return err
	})
	return items, latest, err
}
