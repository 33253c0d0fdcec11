package state

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"spillway/sdk"
)

const itemColumns = "key, rev, expires, deleted, data"

// live is the condition that an item has not expired at the time in its
// parameter.
const live = "(expires = 0 OR expires > ?)"

func (f *file) get(ctx context.Context, key string) (sdk.Item, error) {
	db, err := f.use()
	if err != nil {
		return sdk.Item{}, err
	}
	it, err := present(ctx, db.read, key)
	if err == nil && it.Revision == 0 {
		return it, sdk.ErrNotFound
	}
	return it, f.judge(db, err)
}

// present returns the item at key, the zero item if there is none.
func present(ctx context.Context, q querier, key string) (sdk.Item, error) {
	it, err := scanItem(q.QueryRowContext(ctx,
		"SELECT "+itemColumns+" FROM items WHERE key = ? AND deleted = 0 AND "+live,
		key, time.Now().UnixMilli()))
	if errors.Is(err, sql.ErrNoRows) {
		return sdk.Item{}, nil
	}
	return it, err
}

func scanItem(row interface{ Scan(...any) error }) (sdk.Item, error) {
	var it sdk.Item
	var expires int64
	if err := row.Scan(&it.Key, &it.Revision, &expires, &it.Deleted, &it.Data); err != nil {
		return sdk.Item{}, err
	}
	if expires != 0 {
		it.Expires = time.UnixMilli(expires)
	}
	return it, nil
}

func (f *file) list(ctx context.Context, prefix string) ([]sdk.Item, error) {
	return f.find(ctx, prefix, "deleted = 0 AND "+live+" ORDER BY key", time.Now().UnixMilli())
}

func (f *file) since(ctx context.Context, prefix string, after uint64) ([]sdk.Item, uint64, error) {
	latest, err := f.revision(ctx)
	if err != nil || latest == after {
		return nil, latest, err
	}
	items, err := f.find(ctx, prefix, "rev > ? AND "+live+" ORDER BY rev", int64(after), time.Now().UnixMilli())
	return items, newest(items, latest), err
}

// find returns the items under prefix of which the condition holds.
func (f *file) find(ctx context.Context, prefix, condition string, args ...any) ([]sdk.Item, error) {
	db, err := f.use()
	if err != nil {
		return nil, err
	}
	items, err := db.find(ctx, prefix, condition, args)
	return items, f.judge(db, err)
}

func (db *database) find(ctx context.Context, prefix, condition string, args []any) ([]sdk.Item, error) {
	rows, err := db.read.QueryContext(ctx,
		"SELECT "+itemColumns+" FROM items WHERE key >= ? AND key < ? AND "+condition,
		append([]any{prefix, beyond(prefix)}, args...)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var items []sdk.Item
	for rows.Next() {
		it, err := scanItem(rows)
		if err != nil {
			return nil, err
		}
		items = append(items, it)
	}
	return items, rows.Err()
}

// beyond returns the least string that is greater than everything that begins
// with prefix, which is not empty and, being UTF-8, does not end in 0xff.
func beyond(prefix string) string {
	end := len(prefix) - 1
	return prefix[:end] + string([]byte{prefix[end] + 1})
}

func (f *file) update(ctx context.Context, key string, c change) (uint64, error) {
	db, err := f.use()
	if err != nil {
		return 0, err
	}
	rev, err := db.update(ctx, key, c)
	if err != nil {
		return 0, f.judge(db, err)
	}
	if c.verb != extend {
		f.signal.fire()
	}
	return rev, nil
}

func (db *database) update(ctx context.Context, key string, c change) (uint64, error) {
	tx, err := db.write.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	old, err := present(ctx, tx, key)
	if err != nil {
		return 0, err
	}
	var rev uint64
	if err := tx.QueryRowContext(ctx, "SELECT n FROM revision").Scan(&rev); err != nil {
		return 0, err
	}
	next, err := c.apply(old, rev+1)
	if err != nil {
		return 0, err
	}
	if next.Revision > rev {
		if _, err := tx.ExecContext(ctx, "UPDATE revision SET n = ?", int64(next.Revision)); err != nil {
			return 0, err
		}
	}
	var expires int64
	if !next.Expires.IsZero() {
		expires = next.Expires.UnixMilli()
	}
	_, err = tx.ExecContext(ctx,
		"INSERT INTO items ("+itemColumns+") VALUES (?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET "+
			"rev = excluded.rev, expires = excluded.expires, deleted = excluded.deleted, data = excluded.data",
		key, int64(next.Revision), expires, next.Deleted, append([]byte{}, next.Data...)) // nil would be NULL
	if err != nil {
		return 0, err
	}
	return next.Revision, tx.Commit()
}

func (f *file) revision(ctx context.Context) (rev uint64, err error) {
	db, err := f.use()
	if err != nil {
		return 0, err
	}
	err = db.read.QueryRowContext(ctx, "SELECT n FROM revision").Scan(&rev)
	return rev, f.judge(db, err)
}

// sweep removes a batch of expired items and returns how many. It takes no
// lock if there are none.
func (db *database) sweep(ctx context.Context, now time.Time) (int, error) {
	const due = " FROM items WHERE expires > 0 AND expires <= ?"
	var some bool
	err := db.read.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1"+due+")", now.UnixMilli()).Scan(&some)
	if err != nil || !some {
		return 0, err
	}
	return deleted(db.write.ExecContext(ctx,
		"DELETE FROM items WHERE rowid IN (SELECT rowid"+due+" LIMIT ?)", now.UnixMilli(), sweepBatch))
}

// deleted returns the number of rows that a statement removed.
func deleted(r sql.Result, err error) (int, error) {
	if err != nil {
		return 0, err
	}
	n, err := r.RowsAffected()
	return int(n), err
}
