package state

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// ErrNewer means that the file was written by a newer spillway.
var ErrNewer = errors.New("written by a newer spillway")

// schemas returns the steps that make the schema, oldest first. A released one
// never changes; user_version counts those that were taken.
func schemas() []string {
	return []string{schema1}
}

// Times are Unix milliseconds, those of records microseconds; expires 0 means
// never. Data stands last so that a scan need not read it.
const schema1 = `
CREATE TABLE revision (n INTEGER NOT NULL) STRICT;
INSERT INTO revision VALUES (CAST(unixepoch('subsec') * 1000000 AS INTEGER));

CREATE TABLE items (
	key     TEXT PRIMARY KEY,
	rev     INTEGER NOT NULL,
	expires INTEGER NOT NULL,
	deleted INTEGER NOT NULL,
	data    BLOB NOT NULL
) STRICT;
CREATE INDEX items_expires ON items (expires) WHERE expires > 0;

CREATE TABLE records (
	id           TEXT PRIMARY KEY,
	started      INTEGER NOT NULL,
	outcome      TEXT NOT NULL,
	head         TEXT NOT NULL,
	conversation TEXT NOT NULL,
	data         BLOB NOT NULL
) STRICT;
CREATE INDEX records_started ON records (started);
`

// migrate brings the schema up to date. Of several processes that try at once
// one does it.
func migrate(ctx context.Context, db *sql.DB) error {
	steps := schemas()
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
