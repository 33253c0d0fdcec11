package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// ErrNewer means that the file was written by a newer spillway.
var ErrNewer = errors.New("written by a newer spillway")

// Migrate brings the schema up to date by the steps that were not taken yet,
// oldest first; user_version counts those that were. A released step never
// changes. Of several processes that try at once one does it.
func Migrate(ctx context.Context, db *sql.DB, steps ...string) error {
	version, err := schemaVersion(ctx, db)
	if err != nil || version == len(steps) {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if version, err = schemaVersion(ctx, tx); err != nil {
		return err
	}
	if version > len(steps) {
		return fmt.Errorf("%w: it has schema %d, this one knows up to %d; install that one, or move the file away to begin anew", ErrNewer, version, len(steps))
	}
	for ; version < len(steps); version++ {
		if _, err := tx.ExecContext(ctx, steps[version]); err != nil {
			return fmt.Errorf("schema %d: %w", version+1, err)
		}
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", version)); err != nil {
		return err
	}
	return tx.Commit()
}

func schemaVersion(ctx context.Context, q querier) (version int, err error) {
	err = q.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version)
	return version, err
}

// querier is a *sql.DB or a *sql.Tx.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}
