package state_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spillway/host/state"
	"spillway/host/state/record"
	"spillway/sdk"
)

// journals runs a test over the stores that keep records.
func journals(t *testing.T, o state.Options, test func(*testing.T, *state.Store)) {
	o.Limit = unhurried.Limit
	t.Run("memory", func(t *testing.T) {
		s := state.NewMemory(o)
		t.Cleanup(s.Close)
		test(t, s)
	})
	t.Run("file", func(t *testing.T) { test(t, openStore(t, t.TempDir(), o)) })
}

func ids(list []record.Request) []string {
	var got []string
	for _, r := range list {
		got = append(got, r.ID)
	}
	return got
}

func TestRecords(t *testing.T) {
	journals(t, state.Options{}, func(t *testing.T, s *state.Store) {
		ctx, records := t.Context(), s.Records()
		if _, err := records.Last(ctx); !errors.Is(err, sdk.ErrNotFound) {
			t.Errorf("last of none: got error %v, want %v", err, sdk.ErrNotFound)
		}
		if _, err := records.Get(ctx, "r1"); !errors.Is(err, sdk.ErrNotFound) {
			t.Errorf("get of none: got error %v, want %v", err, sdk.ErrNotFound)
		}

		at := time.Now().Add(-time.Hour).UTC().Truncate(time.Microsecond)
		first := record.Request{ID: "r1", Started: at, Dialect: "openai", Head: sdk.Route{Provider: "p", Model: "m"}}
		second := record.Request{ID: "r2", Started: at.Add(time.Second), Outcome: record.OK}
		records.Put(second)
		records.Put(first)
		first.Outcome, first.Took = record.OKAfterRetry, record.Duration(time.Second)
		first.Attempts = []record.Attempt{{N: 1, Kind: sdk.KindPrimary}, {N: 2, Kind: sdk.KindRetry}}
		records.Put(first)

		got, err := records.Get(ctx, "r1")
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(first, got); d != "" {
			t.Errorf("record put twice (-want +got):\n%s", d)
		}
		if got, err := records.Last(ctx); err != nil || got.ID != "r2" {
			t.Errorf("last: got %q, %v, want the one that began last", got.ID, err)
		}
		if n := records.Dropped(); n != 0 {
			t.Errorf("%d records dropped", n)
		}
	})
}

func TestRecordsList(t *testing.T) {
	at := time.Now().Add(-time.Hour)
	claude, kimi := sdk.Route{Provider: "anthropic", Model: "claude"}, sdk.Route{Provider: "kimi-coding"}
	journals(t, state.Options{}, func(t *testing.T, s *state.Store) {
		for i, r := range []record.Request{
			{Head: claude, Outcome: record.OK, Conversation: "c1"},
			{Head: claude, Outcome: record.FailedClean},
			{Head: kimi, Outcome: record.OK},
			{Head: kimi, Outcome: record.OK, Conversation: "c1"},
		} {
			r.ID, r.Started = fmt.Sprint("r", i), at.Add(time.Duration(i)*time.Minute)
			s.Records().Put(r)
		}
		for _, tt := range []struct {
			name   string
			filter state.Filter
			limit  int
			want   []string
		}{
			{"all", state.Filter{}, 0, []string{"r3", "r2", "r1", "r0"}},
			{"some", state.Filter{}, 2, []string{"r3", "r2"}},
			{"outcome", state.Filter{Outcome: record.FailedClean}, 9, []string{"r1"}},
			{"head", state.Filter{Head: claude}, 9, []string{"r1", "r0"}},
			{"head without model", state.Filter{Head: kimi}, 9, []string{"r3", "r2"}},
			{"conversation", state.Filter{Conversation: "c1"}, 9, []string{"r3", "r0"}},
			{"since", state.Filter{Since: at.Add(2 * time.Minute)}, 9, []string{"r3", "r2"}},
			{"before", state.Filter{Before: at.Add(2 * time.Minute)}, 9, []string{"r1", "r0"}},
			{"several", state.Filter{Head: kimi, Outcome: record.OK, Before: at.Add(3 * time.Minute)}, 9, []string{"r2"}},
			{"none", state.Filter{Outcome: record.Cancelled}, 9, nil},
		} {
			list, err := s.Records().List(t.Context(), tt.filter, tt.limit)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, ids(list)); d != "" {
				t.Errorf("%s (-want +got):\n%s", tt.name, d)
			}
		}
	})
}

func TestRecordsRetention(t *testing.T) {
	const keep = 20
	journals(t, state.Options{Keep: keep, KeepFor: time.Hour}, func(t *testing.T, s *state.Store) {
		now := time.Now()
		s.Records().Put(record.Request{ID: "old", Started: now.Add(-2 * time.Hour)})
		for i := range 700 {
			s.Records().Put(record.Request{ID: fmt.Sprint("r", i), Started: now.Add(time.Duration(i-700) * time.Second)})
		}
		list, err := s.Records().List(t.Context(), state.Filter{}, 0)
		if err != nil {
			t.Fatal(err)
		}
		if len(list) != keep || list[0].ID != "r699" || list[keep-1].ID != "r680" {
			t.Errorf("got %d records, want the newest %d: %v", len(list), keep, ids(list))
		}

		s.Records().Put(record.Request{ID: "too old", Started: now.Add(-2 * time.Hour)})
		for i := range 2 { // enough to make it look
			s.Records().Put(record.Request{ID: fmt.Sprint("new", i), Started: now})
		}
		if _, err := s.Records().Get(t.Context(), "too old"); !errors.Is(err, sdk.ErrNotFound) {
			t.Errorf("a record older than allowed: got error %v, want %v", err, sdk.ErrNotFound)
		}
	})
}

func TestRecordSize(t *testing.T) {
	journals(t, state.Options{}, func(t *testing.T, s *state.Store) {
		at := time.Now().UTC().Truncate(time.Second)
		short, err := json.Marshal(record.Request{ID: "a", Started: at, Reason: "x"})
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Repeat("x", state.MaxRecord-len(short)+1)
		s.Records().Put(record.Request{ID: "a", Started: at, Reason: text})
		s.Records().Put(record.Request{ID: "b", Started: at, Reason: text + "y"})
		if _, err := s.Records().Get(t.Context(), "a"); err != nil {
			t.Errorf("the largest record: %v", err)
		}
		if _, err := s.Records().Get(t.Context(), "b"); !errors.Is(err, sdk.ErrNotFound) {
			t.Errorf("a larger record: got error %v, want %v", err, sdk.ErrNotFound)
		}
		if n := s.Records().Dropped(); n != 1 {
			t.Errorf("%d records dropped, want 1", n)
		}
	})
}

func TestRecordsSurvive(t *testing.T) {
	dir := t.TempDir()
	s, err := state.Open(dir, unhurried)
	if err != nil {
		t.Fatal(err)
	}
	s.Records().Put(record.Request{ID: "r1", Started: time.Now()})
	s.PutStatus("failover", sdk.Status{})
	s.Close()
	s.Close()
	if _, err := s.Records().Get(t.Context(), "r1"); !errors.Is(err, sdk.ErrUnavailable) {
		t.Errorf("after close: got error %v, want %v", err, sdk.ErrUnavailable)
	}
	again := openStore(t, dir, unhurried)
	if _, err := again.Records().Get(t.Context(), "r1"); err != nil {
		t.Errorf("record put just before close: %v", err)
	}
	if list, err := again.Statuses(t.Context()); err != nil || len(list) != 1 {
		t.Errorf("status put just before close: got %v, %v", list, err)
	}
}

func TestStatuses(t *testing.T) {
	journals(t, state.Options{}, func(t *testing.T, s *state.Store) {
		before := time.Now()
		status := sdk.Status{Targets: []sdk.TargetStatus{{
			Scope: sdk.ScopeRoute, Target: "anthropic/claude", State: sdk.CircuitOpen,
			Until: before.Add(time.Hour).UTC().Round(0), Code: sdk.CodeQuota,
		}}}
		s.PutStatus("zebra/1", sdk.Status{})
		s.PutStatus("failover", sdk.Status{})
		s.PutStatus("failover", status)
		list, err := s.Statuses(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(list) != 2 || list[0].Plugin != "failover" || list[1].Plugin != "zebra/1" {
			t.Fatalf("got %+v, want both plugins, in order", list)
		}
		if d := cmp.Diff(status, list[0].Status); d != "" {
			t.Errorf("status (-want +got):\n%s", d)
		}
		if got := list[0].At.Sub(before); got < 0 || got > patience {
			t.Errorf("reported %v after the test began", got)
		}
	})
}

// TestStatusesWithoutStore: what was reported here is known although the store
// cannot be read.
func TestStatusesWithoutStore(t *testing.T) {
	s, err := state.Open(t.TempDir(), state.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.PutStatus("failover", sdk.Status{})
	s.Close()
	list, err := s.Statuses(t.Context())
	if !errors.Is(err, sdk.ErrUnavailable) {
		t.Errorf("got error %v, want %v", err, sdk.ErrUnavailable)
	}
	if len(list) != 1 || list[0].Plugin != "failover" {
		t.Errorf("got %+v, want the status of failover", list)
	}
}
