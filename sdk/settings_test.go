package sdk_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spillway/sdk"
)

// settings are those of a plugin with a list and a nested object.
type settings struct {
	Limit  int      `json:"limit"`
	Greet  string   `json:"greet"`
	Routes []string `json:"routes"`
	Probe  struct {
		Every int `json:"every"`
	} `json:"probe"`
}

func TestDecode(t *testing.T) {
	defaults := func() settings {
		s := settings{Limit: 3, Greet: "hello"}
		s.Probe.Every = 60
		return s
	}
	tests := []struct {
		name string
		json string
		want func(*settings)
		err  string // of sdk.Faults
	}{
		{name: "nothing"},
		{name: "empty", json: `{}`},
		{name: "some", json: `{"limit": 5}`, want: func(s *settings) { s.Limit = 5 }},
		{name: "a zero replaces a default", json: `{"limit": 0}`, want: func(s *settings) { s.Limit = 0 }},
		{name: "nested", json: `{"probe": {"every": 5}}`, want: func(s *settings) { s.Probe.Every = 5 }},
		{name: "nested keeps its defaults", json: `{"probe": {}}`},
		{name: "space around", json: " {\n} \n"},
		{name: "unknown key", json: `{"limits": 5}`, err: `limits: unknown setting`},
		{name: "unknown nested key", json: `{"probe": {"evry": 5}}`, err: `evry: unknown setting`},
		{name: "wrong type", json: `{"limit": "5"}`, err: `limit: got string, want int`},
		{name: "wrong nested type", json: `{"probe": {"every": true}}`, err: `probe.every: got bool, want int`},
		{name: "not an object", json: `[]`, err: `got array, want sdk_test.settings`},
		{name: "not whole", json: `{"limit": 5`, err: `unexpected EOF`},
		{name: "two values", json: `{} {}`, err: `text after the configuration`},
		{name: "text after it", json: `{} x`, err: `text after the configuration`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := defaults()
			err := sdk.Config{JSON: []byte(tt.json)}.Decode(&got)
			if tt.err != "" {
				if faults, ok := errors.AsType[sdk.Faults](err); !ok || faults.Error() != tt.err {
					t.Errorf("error: got %v, want the fault %q", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := defaults()
			if tt.want != nil {
				tt.want(&want)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestFaults(t *testing.T) {
	tests := []struct {
		faults sdk.Faults
		want   string
	}{
		{nil, ""},
		{sdk.Faults{{Message: "is bad"}}, "is bad"},
		{sdk.Faults{{Path: "a", Message: "is bad"}}, "a: is bad"},
		{sdk.Faults{{Path: "a", Message: "is bad", Value: "3"}}, "a: is bad, got 3"},
		{sdk.Faults{{Message: "is bad", Allowed: "4 or more"}}, "is bad (allowed: 4 or more)"},
		{sdk.Faults{
			{Path: "priority[1].provider", Value: `"x"`, Message: "no such provider", Allowed: "a, b"},
			{Path: "limit", Message: "too small"},
		}, "priority[1].provider: no such provider, got \"x\" (allowed: a, b)\nlimit: too small"},
	}
	for _, tt := range tests {
		if got := tt.faults.Error(); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

// TestLive: readers see either settings whole, whatever the writer does.
func TestLive(t *testing.T) {
	var live sdk.Live[settings]
	if got := live.Load(); got != nil {
		t.Errorf("before the first Store: got %+v", got)
	}
	live.Store(&settings{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range 1000 {
			s := &settings{Limit: i}
			s.Probe.Every = i
			live.Store(s)
		}
	})
	for range 4 {
		wg.Go(func() {
			for range 1000 {
				if s := live.Load(); s.Limit != s.Probe.Every {
					t.Errorf("got half of one and half of another: %+v", s)
					return
				}
			}
		})
	}
	wg.Wait()
}
