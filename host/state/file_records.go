package state

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"spillway/sdk"
)

func (f *file) putRecords(ctx context.Context, entries []entry) error {
	db, err := f.use()
	if err != nil {
		return err
	}
	return f.judge(db, db.putRecords(ctx, entries))
}

// putAtOnce is how many records one statement stores. With one each, up to a third
// of the time goes into what surrounds the storing.
const putAtOnce = 16

// putStatement stores n records.
func putStatement(n int) string {
	return "INSERT INTO records (id, started, outcome, head, conversation, data) VALUES (?, ?, ?, ?, ?, ?)" +
		strings.Repeat(", (?, ?, ?, ?, ?, ?)", n-1) +
		" ON CONFLICT (id) DO UPDATE SET started = excluded.started, outcome = excluded.outcome, " +
		"head = excluded.head, conversation = excluded.conversation, data = excluded.data"
}

func (db *database) putRecords(ctx context.Context, entries []entry) error {
	tx, err := db.write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	one, many := tx.StmtContext(ctx, db.putOne), tx.StmtContext(ctx, db.putMany)
	defer one.Close()
	defer many.Close()
	var args []any
	for len(entries) > 0 {
		stmt, n := one, 1
		if len(entries) >= putAtOnce {
			stmt, n = many, putAtOnce
		}
		args = args[:0]
		for _, e := range entries[:n] {
			args = append(args, e.id, e.started.UnixMicro(), string(e.outcome), e.head, e.conversation, e.data)
		}
		if _, err := stmt.ExecContext(ctx, args...); err != nil {
			return err
		}
		entries = entries[n:]
	}
	return tx.Commit()
}

func (f *file) record(ctx context.Context, id string) (data []byte, err error) {
	db, err := f.use()
	if err != nil {
		return nil, err
	}
	err = db.read.QueryRowContext(ctx, "SELECT data FROM records WHERE id = ?", id).Scan(&data)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, sdk.ErrNotFound
	}
	return data, f.judge(db, err)
}

func (f *file) records(ctx context.Context, filter Filter, limit int) ([][]byte, error) {
	db, err := f.use()
	if err != nil {
		return nil, err
	}
	list, err := db.records(ctx, filter, limit)
	return list, f.judge(db, err)
}

func (db *database) records(ctx context.Context, filter Filter, limit int) ([][]byte, error) {
	where, args := filter.where()
	rows, err := db.read.QueryContext(ctx,
		"SELECT data FROM records"+where+" ORDER BY started DESC, rowid DESC LIMIT ?", append(args, limit)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list [][]byte
	for rows.Next() {
		var data []byte
		if err := rows.Scan(&data); err != nil {
			return nil, err
		}
		list = append(list, data)
	}
	return list, rows.Err()
}

// where is selects as a WHERE clause and its arguments.
func (f Filter) where() (string, []any) {
	var terms []string
	var args []any
	add := func(term string, arg any) {
		terms, args = append(terms, term), append(args, arg)
	}
	if f.Outcome != "" {
		add("outcome = ?", string(f.Outcome))
	}
	if f.Head != (sdk.Route{}) {
		add("head = ?", f.Head.String())
	}
	if f.Conversation != "" {
		add("conversation = ?", f.Conversation)
	}
	if !f.Since.IsZero() {
		add("started >= ?", f.Since.UnixMicro())
	}
	if !f.Before.IsZero() {
		add("started < ?", f.Before.UnixMicro())
	}
	if len(terms) == 0 {
		return "", nil
	}
	return " WHERE " + strings.Join(terms, " AND "), args
}

func (f *file) trimRecords(ctx context.Context, keep int, oldest time.Time, limit int) (int, error) {
	db, err := f.use()
	if err != nil {
		return 0, err
	}
	n, err := deleted(db.write.ExecContext(ctx,
		"DELETE FROM records WHERE rowid IN (SELECT rowid FROM records WHERE started < ? LIMIT ?)",
		oldest.UnixMicro(), limit))
	if err == nil && n < limit {
		var more int
		more, err = db.trimOldest(ctx, keep, limit-n)
		n += more
	}
	return n, f.judge(db, err)
}

// trimOldest removes at most limit of the records that are not among the newest
// keep. Counting them costs the pages of an index, where the newest themselves
// would be thousands of its entries, each time.
func (db *database) trimOldest(ctx context.Context, keep, limit int) (int, error) {
	var have int
	if err := db.write.QueryRowContext(ctx, "SELECT count(*) FROM records").Scan(&have); err != nil || have <= keep {
		return 0, err
	}
	return deleted(db.write.ExecContext(ctx,
		"DELETE FROM records WHERE rowid IN (SELECT rowid FROM records ORDER BY started, rowid LIMIT ?)", min(have-keep, limit)))
}
