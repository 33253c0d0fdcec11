package ledger

import (
	"context"
	"database/sql"
	"time"
)

// limits are how much is kept of calls that need nobody any more.
type limits struct {
	age   time.Duration // since they were last touched
	calls int           // of all kinds
	bytes int64         // of the file
}

const (
	trimEvery = 1000 // runs
	trimBatch = 1000
)

// over selects what may go: unknown and started calls never do, unless a person
// has said that an unknown one stays so.
const over = "(state IN ('succeeded', 'failed', 'planned') OR state = 'unknown' AND verdict = 'unknown')"

// trim removes calls that are over and too old, and the oldest if they are too
// many.
func (l *Ledger) trim(ctx context.Context) error {
	oldest := time.Now().Add(-l.limits.age).UnixMicro()
	return l.change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, "DELETE FROM calls WHERE "+over+" AND max(planned, ended, settled) < ?", oldest); err != nil {
			return err
		}
		for {
			var calls int
			var used int64
			err := tx.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM calls), (p.page_count - f.freelist_count) * s.page_size
				FROM pragma_page_count p, pragma_freelist_count f, pragma_page_size s`).Scan(&calls, &used)
			if err != nil {
				return err
			}
			surplus := min(calls-l.limits.calls, trimBatch)
			if used > l.limits.bytes {
				surplus = trimBatch
			}
			if surplus <= 0 {
				return nil
			}
			gone, err := tx.ExecContext(ctx, "DELETE FROM calls WHERE rowid IN (SELECT rowid FROM calls WHERE "+over+" ORDER BY planned LIMIT ?)", surplus)
			if err != nil {
				return err
			}
			if n, err := gone.RowsAffected(); err != nil || n == 0 {
				return err
			}
		}
	})
}
