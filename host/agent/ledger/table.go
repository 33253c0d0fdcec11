package ledger

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"spillway/host/agent/tool"
)

// Times are Unix microseconds, 0 for none. The long columns stand last.
const schema1 = `
CREATE TABLE calls (
	key     TEXT PRIMARY KEY,
	session TEXT NOT NULL,
	message TEXT NOT NULL,
	tool    TEXT NOT NULL,
	ordinal INTEGER NOT NULL,
	effect  TEXT NOT NULL,
	state   TEXT NOT NULL,
	planned INTEGER NOT NULL,
	started INTEGER NOT NULL,
	ended   INTEGER NOT NULL,
	runs    INTEGER NOT NULL,
	why     TEXT NOT NULL,
	verdict TEXT NOT NULL,
	settled INTEGER NOT NULL,
	note    TEXT NOT NULL,
	input   BLOB NOT NULL,
	result  BLOB
) STRICT;
CREATE INDEX calls_state ON calls (state, planned);
CREATE INDEX calls_session ON calls (session, planned);
`

const (
	columns = "key, session, message, tool, ordinal, effect, state, planned, started, ended, runs, why, verdict, settled, note, input, result"

	insert = "INSERT INTO calls (" + columns + ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO "
	put    = insert + `UPDATE SET effect = excluded.effect, state = excluded.state, started = excluded.started, ended = excluded.ended,
		runs = excluded.runs, why = excluded.why, verdict = excluded.verdict, settled = excluded.settled, note = excluded.note, result = excluded.result`
	putNew = insert + "NOTHING"
)

// handle is a *sql.DB or a *sql.Tx.
type handle interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// write stores e by the statement put or putNew.
func write(ctx context.Context, h handle, statement string, e Entry) error {
	effect, err := e.Effect.MarshalText()
	if err != nil {
		return err
	}
	var result []byte
	if e.Result != nil {
		if result, err = json.Marshal(kept(*e.Result)); err != nil {
			return err
		}
	}
	var s Settlement
	if e.Settled != nil {
		s = *e.Settled
	}
	_, err = h.ExecContext(ctx, statement, e.Key, e.Session, e.Message, e.Tool, e.Ordinal, string(effect), string(e.State),
		micros(e.Planned), micros(e.Started), micros(e.Ended), e.Runs, clip(e.Note, maxNote),
		string(s.Verdict), micros(s.At), clip(s.Note, maxNote), []byte(keptInput(e.Input)), result)
	return err
}

// read returns the entries that a condition, which stands after FROM, selects.
func read(ctx context.Context, h handle, condition string, args ...any) ([]Entry, error) {
	rows, err := h.QueryContext(ctx, "SELECT "+columns+" FROM calls "+condition, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []Entry
	for rows.Next() {
		e, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, rows.Err()
}

func readOne(ctx context.Context, h handle, key string) (Entry, error) {
	all, err := read(ctx, h, "WHERE key = ?", key)
	if err != nil {
		return Entry{}, err
	}
	if len(all) == 0 {
		return Entry{}, fmt.Errorf("%w: %q", ErrNotFound, key)
	}
	return all[0], nil
}

func scan(rows *sql.Rows) (Entry, error) {
	var e Entry
	var s Settlement
	var effect, input, result []byte
	var planned, started, ended, settled int64
	err := rows.Scan(&e.Key, &e.Session, &e.Message, &e.Tool, &e.Ordinal, &effect, &e.State,
		&planned, &started, &ended, &e.Runs, &e.Note, &s.Verdict, &settled, &s.Note, &input, &result)
	if err != nil {
		return Entry{}, err
	}
	e.Planned, e.Started, e.Ended = fromMicros(planned), fromMicros(started), fromMicros(ended)
	e.Input = input
	if s.At = fromMicros(settled); s.Verdict != "" {
		e.Settled = &s
	}
	if result != nil {
		e.Result = new(tool.Result)
		err = json.Unmarshal(result, e.Result)
	}
	return e, errors.Join(err, e.Effect.UnmarshalText(effect))
}

func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func fromMicros(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.UnixMicro(n)
}
