package state

import (
	"context"
	"database/sql"

	"spillway/host/sqlite"
)

// ErrNewer means that the file was written by a newer spillway.
var ErrNewer = sqlite.ErrNewer

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

// querier is a *sql.DB or a *sql.Tx.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}
