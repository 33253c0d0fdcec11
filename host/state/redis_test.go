package state_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"spillway/host/state"
)

func TestParseRedis(t *testing.T) {
	for _, tt := range []struct {
		url  string
		want string // printed
		err  string // is in the error
	}{
		{url: "redis://localhost", want: "redis://localhost:6379/0"},
		{url: "redis://user:canary@db.example:7000/3", want: "redis://db.example:7000/3"},
		{url: "redis://:canary@[::1]/", want: "redis://[::1]:6379/0"},
		{url: "redis://:can%2Fary@h", want: "redis://h:6379/0"},
		{url: "rediss://h:6380", want: "rediss://h:6380/0"},
		{url: "unix:///run/redis.sock", want: "unix:///run/redis.sock?db=0"},
		{url: "unix://:canary@/run/redis.sock?db=2", want: "unix:///run/redis.sock?db=2"},

		{url: "", err: "must begin with redis://"},
		{url: "http://h", err: "must begin with redis://"},
		{url: "redis://", err: "no host"},
		{url: "redis:h", err: "no host"},
		{url: "redis://h/a", err: "the database must be a number"},
		{url: "redis://h/-1", err: "the database must be a number"},
		{url: "redis://h/65536", err: "the database must be a number"},
		{url: "redis://h?pool_size=1000", err: "only a host, a port and a database"},
		{url: "redis://:ca/nary@h", err: "%2F"},
		{url: "redis://:12/canary@h", err: "no host"},
		{url: "redis://u:12/canary@h", err: "the database must be a number"},
		{url: "redis://u:c#anary@h", err: "%2F"},
		{url: "redis://h#canary", err: "%23"},
		{url: "unix://run/redis.sock", err: "absolute path"},
		{url: "unix://", err: "absolute path"},
		{url: "unix:///s?db=1&db=2", err: "only ?db=N"},
		{url: "unix:///s?x=1", err: "only ?db=N"},
		{url: "redis://" + strings.Repeat("h", 2048), err: "at most 2048"},
	} {
		t.Run(tt.url, func(t *testing.T) {
			r, err := state.ParseRedis(tt.url, prefix)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) || strings.Contains(err.Error(), "anary") {
					t.Fatalf("got error %v, want one that says %q and no password", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := r.String(); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestParseRedisPrefix(t *testing.T) {
	for _, tt := range []struct {
		prefix string
		ok     bool
	}{
		{"spillway:default", true},
		{"spillway: für uns", true},
		{strings.Repeat("p", 128), true},
		{strings.Repeat("p", 129), false},
		{"", false},
		{"a{b", false},
		{"a}", false},
		{"a\nb", false},
		{"a\xff", false},
	} {
		if _, err := state.ParseRedis("redis://h", tt.prefix); tt.ok != (err == nil) {
			t.Errorf("prefix %q: got error %v, want ok %t", tt.prefix, err, tt.ok)
		}
	}
}

// TestRedisPrintsNoPassword, however it is printed.
func TestRedisPrintsNoPassword(t *testing.T) {
	r := parse(t, "redis://admin:canary@h")
	o := state.Options{Redis: r}
	var b strings.Builder
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		fmt.Fprintf(&b, verb+"\n", r)
		fmt.Fprintf(&b, verb+"\n", *r)
		fmt.Fprintf(&b, verb+"\n", o)
	}
	slog.New(slog.NewTextHandler(&b, nil)).Info("text", "redis", r, "options", o)
	slog.New(slog.NewJSONHandler(&b, nil)).Info("json", "redis", r, "options", o)
	if err := json.NewEncoder(&b).Encode(struct{ R *state.Redis }{r}); err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"canary", fmt.Sprintf("%x", "canary"), "admin"} {
		if strings.Contains(b.String(), secret) {
			t.Errorf("%q is in:\n%s", secret, &b)
		}
	}
}

func FuzzParseRedis(f *testing.F) {
	for _, seed := range []string{
		"redis://localhost", "redis://user:pa%2Fss@db.example:7000/3", "rediss://[::1]:6380/0",
		"unix://:pass@/run/redis.sock?db=2", "redis://:pa/ss@h", "redis:h", "unix://x?y",
	} {
		f.Add(seed, "spillway:default")
	}
	f.Fuzz(func(t *testing.T, url, prefix string) {
		r, err := state.ParseRedis(url, prefix)
		if err != nil {
			return
		}
		again, err := state.ParseRedis(r.String(), prefix)
		if err != nil || again.String() != r.String() {
			t.Errorf("%s: printed and parsed: got %v, %v", r, again, err)
		}
	})
}
