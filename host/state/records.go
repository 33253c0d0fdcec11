package state

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"spillway/host/state/record"
	"spillway/sdk"
)

const (
	// MaxRecord bounds one record as JSON, in bytes. Twelve attempts that each
	// carry the longest message need half of it.
	MaxRecord   = 64 << 10
	usualRecord = 1 << 10
	// MaxList bounds what one List returns.
	MaxList = 1000

	maxQueue   = 8 << 20 // bytes of records that wait to be stored
	writeBatch = 256     // records in one transaction: some milliseconds, then plugins' writes get in between
	trimBatch  = 256
	trimEvery  = time.Minute
)

// Records are the stories of requests. They are safe for concurrent use.
type Records struct {
	journal journal
	guard   *guard
	log     *slog.Logger
	keep    int
	keepFor time.Duration
	poke    func() // wakes the writer

	mu      sync.Mutex
	queue   []entry // oldest first; the head's number is first
	first   uint64
	bytes   int // in queue
	dropped uint64

	writing sync.Mutex // held by whoever flushes
	written int        // records since the last trim
	trimmed time.Time
}

// Put queues a record to be stored, in the place of an earlier one with the
// same id. It does not block and keeps nothing of r. When too much is queued
// the oldest records are dropped; so is a record above MaxRecord.
func (r *Records) Put(rec record.Request) {
	data, err := record.Append(make([]byte, 0, usualRecord), &rec)
	if err == nil && len(data) > MaxRecord {
		err = fmt.Errorf("record has %d bytes, at most %d are allowed", len(data), MaxRecord)
	}
	if err != nil {
		r.log.Warn("record dropped", "request", rec.ID, "err", err)
		r.mu.Lock()
		r.dropped++
		r.mu.Unlock()
		return
	}
	r.enqueue(entry{
		id: rec.ID, started: rec.Started, outcome: rec.Outcome,
		head: rec.Head.String(), conversation: rec.Conversation, data: data,
	})
	r.poke()
}

func (r *Records) enqueue(e entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.queue = append(r.queue, e)
	r.bytes += len(e.data)
	for r.bytes > maxQueue {
		r.shift(1)
		r.dropped++
	}
}

// shift takes n entries off the head of the queue. r.mu is held.
func (r *Records) shift(n int) {
	for _, e := range r.queue[:n] {
		r.bytes -= len(e.data)
	}
	clear(r.queue[:n])
	r.queue = r.queue[n:]
	r.first += uint64(n)
}

// Dropped returns how many records were lost before they were stored.
func (r *Records) Dropped() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.dropped
}

// flush stores what is queued. Entries leave the queue once they are stored;
// those that the queue drops meanwhile are counted although they were.
func (r *Records) flush(ctx context.Context) error {
	r.writing.Lock()
	defer r.writing.Unlock()
	for {
		r.mu.Lock()
		from := r.first
		batch := append([]entry(nil), r.queue[:min(writeBatch, len(r.queue))]...)
		r.mu.Unlock()
		if len(batch) == 0 {
			return r.trim(ctx)
		}
		err := r.guard.write(ctx, r.guard.bulk, func(ctx context.Context) error {
			return r.journal.putRecords(ctx, batch)
		})
		if err != nil {
			return err
		}
		r.written += len(batch)
		r.mu.Lock()
		if end := from + uint64(len(batch)); end > r.first {
			r.shift(int(end - r.first))
		}
		r.mu.Unlock()
	}
}

// trim removes what is beyond the bounds, now and then. r.writing is held.
func (r *Records) trim(ctx context.Context) error {
	now := time.Now()
	if r.written == 0 || r.written <= r.keep/16 && now.Sub(r.trimmed) < trimEvery {
		return nil
	}
	for {
		var n int
		err := r.guard.write(ctx, r.guard.bulk, func(ctx context.Context) (err error) {
			n, err = r.journal.trimRecords(ctx, r.keep, now.Add(-r.keepFor), trimBatch)
			return err
		})
		if err != nil {
			return err
		}
		if n < trimBatch {
			r.written, r.trimmed = 0, now
			return nil
		}
	}
}

// Get returns the record of a request, or sdk.ErrNotFound.
func (r *Records) Get(ctx context.Context, id string) (record.Request, error) {
	var data []byte
	err := r.read(ctx, func(ctx context.Context) (err error) {
		data, err = r.journal.record(ctx, id)
		return err
	})
	if err != nil {
		return record.Request{}, err
	}
	return decode(data)
}

// Last returns the record of the request that began last, or sdk.ErrNotFound.
func (r *Records) Last(ctx context.Context) (record.Request, error) {
	list, err := r.List(ctx, Filter{}, 1)
	if err != nil {
		return record.Request{}, err
	}
	if len(list) == 0 {
		return record.Request{}, sdk.ErrNotFound
	}
	return list[0], nil
}

// Filter selects records. A zero field selects all.
type Filter struct {
	Outcome      record.Outcome
	Head         sdk.Route
	Conversation string
	Since        time.Time // began at or after
	Before       time.Time // began before
}

func (f Filter) selects(e entry) bool {
	return (f.Outcome == "" || f.Outcome == e.outcome) &&
		(f.Head == sdk.Route{} || f.Head.String() == e.head) &&
		(f.Conversation == "" || f.Conversation == e.conversation) &&
		(f.Since.IsZero() || !e.started.Before(f.Since)) &&
		(f.Before.IsZero() || e.started.Before(f.Before))
}

// List returns at most limit of the records that f selects, newest first. A
// limit that is not within 1 and MaxList means MaxList.
func (r *Records) List(ctx context.Context, f Filter, limit int) ([]record.Request, error) {
	if limit < 1 || limit > MaxList {
		limit = MaxList
	}
	var rows [][]byte
	err := r.read(ctx, func(ctx context.Context) (err error) {
		rows, err = r.journal.records(ctx, f, limit)
		return err
	})
	if err != nil {
		return nil, err
	}
	list := make([]record.Request, len(rows))
	for i, data := range rows {
		if list[i], err = decode(data); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// read reads from the journal, after it has stored what was put before if that
// can be done: a full file can still be read.
func (r *Records) read(ctx context.Context, op func(context.Context) error) error {
	_ = r.flush(ctx)
	return r.guard.read(ctx, r.guard.bulk, op)
}

func decode(data []byte) (rec record.Request, err error) {
	if err := json.Unmarshal(data, &rec); err != nil {
		return record.Request{}, fmt.Errorf("state: stored record: %w", err)
	}
	return rec, nil
}
