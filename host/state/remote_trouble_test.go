package state

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"spillway/host/state/record"
	"spillway/host/state/statetest"
	"spillway/sdk"
)

const testPrefix = "spillway:test"

func parseRedis(t *testing.T, url string) *Redis {
	t.Helper()
	r, err := ParseRedis(url, testPrefix)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// machine opens a store with a folder of its own and the Redis at a URL.
func machine(t *testing.T, url string, limit time.Duration) (*Store, *Namespace, *logged) {
	t.Helper()
	return trouble(t, t.TempDir(), Options{Limit: limit, Redis: parseRedis(t, url)})
}

func mustPut(t *testing.T, n *Namespace, key, value string) uint64 {
	t.Helper()
	rev, err := n.Put(t.Context(), key, []byte(value), 0)
	if err != nil {
		t.Fatalf("put %q: %v", key, err)
	}
	return rev
}

// hears waits until a change of key arrives.
func hears(t *testing.T, changes <-chan sdk.Item, key string, within time.Duration) {
	t.Helper()
	late := time.After(within)
	for {
		select {
		case it := <-changes:
			if it.Key == key {
				return
			}
		case <-late:
			t.Fatalf("no change of %q within %v", key, within)
		}
	}
}

func watchAll(t *testing.T, n *Namespace) <-chan sdk.Item {
	t.Helper()
	changes := make(chan sdk.Item, 1000)
	if err := n.Watch(t.Context(), "", func(it sdk.Item) { changes <- it }); err != nil {
		t.Fatal(err)
	}
	return changes
}

// TestServerKilled: an outage is said once, with what to do, and ends by
// itself. Records do not need the server. Watchers go on.
func TestServerKilled(t *testing.T) {
	server := statetest.NewRedis(t)
	s, n, l := machine(t, server.URL(""), 0)
	_, other, _ := machine(t, server.URL(""), patience)
	recovers(t, n)
	rev := mustPut(t, other, "kept", "v")
	changes := watchAll(t, n)

	server.Kill()
	unavailable(t, n)
	unavailable(t, n)
	s.Records().Put(record.Request{ID: "r", Started: time.Now()})
	s.PutStatus("failover", sdk.Status{})
	if _, err := s.Records().Get(t.Context(), "r"); err != nil {
		t.Errorf("record: %v", err)
	}
	if list, err := s.Statuses(t.Context()); err != nil || len(list) != 1 {
		t.Errorf("statuses: got %v, %v, want one", list, err)
	}

	server.Start()
	recovers(t, n)
	if it, err := n.Get(t.Context(), "kept"); err != nil || it.Revision != rev {
		t.Errorf("got %+v, %v, want revision %d", it, err, rev)
	}
	recovers(t, other)
	mustPut(t, other, "new", "v")
	hears(t, changes, "new", patience)
	if got := l.count(msgDown); got != 1 {
		t.Errorf("outage was reported %d times:\n%s", got, l.said())
	}
	if want := "check that the server runs"; !strings.Contains(l.said(), want) {
		t.Errorf("log: got %q, want it to say %q", l.said(), want)
	}
}

// TestOpenWithoutServer: a server that comes later delays nothing.
func TestOpenWithoutServer(t *testing.T) {
	server := statetest.NewRedis(t)
	server.Kill()
	_, n, l := machine(t, server.URL(""), 0)
	unavailable(t, n)
	changes := watchAll(t, n)
	server.Start()
	recovers(t, n)
	hears(t, changes, "again", patience)
	if got := l.count(msgDown); got != 1 {
		t.Errorf("outage was reported %d times:\n%s", got, l.said())
	}
}

// TestSlowServer: no operation takes longer than its limit, and closing the
// store does not wait for the server.
func TestSlowServer(t *testing.T) {
	const limit, slack = 100 * time.Millisecond, 2 * time.Second
	server := statetest.NewRedis(t)
	p := newProxy(t, server.Socket, nil)
	s, n, l := machine(t, "redis://"+p.addr(), limit)
	recovers(t, n)

	bounded := func(what string, op func() error) {
		t.Helper()
		began := time.Now()
		err := op()
		if took := time.Since(began); took > limit+slack {
			t.Errorf("%s took %v", what, took)
		}
		if !errors.Is(err, sdk.ErrUnavailable) {
			t.Errorf("%s: got error %v, want %v", what, err, sdk.ErrUnavailable)
		}
	}
	p.hold()
	for range 2 {
		bounded("get", func() error { _, err := n.Get(t.Context(), "a"); return err })
		bounded("put", func() error { _, err := n.Put(t.Context(), "a", nil, 0); return err })
		bounded("list", func() error { _, err := n.List(t.Context(), ""); return err })
		bounded("acquire", func() error { _, err := n.Acquire(t.Context(), "a", time.Hour); return err })
	}
	p.release()
	recovers(t, n)
	if got := l.count(msgDown); got != 1 {
		t.Errorf("outage was reported %d times:\n%s", got, l.said())
	}
	if want := "slow or out of reach"; !strings.Contains(l.said(), want) {
		t.Errorf("log: got %q, want it to say %q", l.said(), want)
	}

	p.hold()
	began := time.Now()
	s.Close()
	if took := time.Since(began); took > connectLimit+slack {
		t.Errorf("close took %v", took)
	}
}

// TestWatchReconnects: what happened while a watcher's connection was lost is
// heard of once it is back.
func TestWatchReconnects(t *testing.T) {
	server := statetest.NewRedis(t)
	p := newProxy(t, server.Socket, nil)
	_, n, _ := machine(t, "redis://"+p.addr(), 0)
	_, other, _ := machine(t, server.URL(""), patience)
	recovers(t, n)
	mustPut(t, n, "gone", "v")
	changes := watchAll(t, n)
	mustPut(t, other, "before", "v")
	hears(t, changes, "before", patience)

	p.hold()
	p.cut()
	mustPut(t, other, "meanwhile", "v")
	if err := other.Delete(t.Context(), "gone"); err != nil {
		t.Fatal(err)
	}
	p.release()
	hears(t, changes, "meanwhile", patience)
	hears(t, changes, "gone", patience)
}

// TestSilentConnection: a connection that died without a word is given up.
func TestSilentConnection(t *testing.T) {
	server := statetest.NewRedis(t)
	p := newProxy(t, server.Socket, nil)
	_, n, _ := machine(t, "redis://"+p.addr(), 0)
	eventually(t, "subscription", func() bool {
		return server.Client.PubSubNumSub(t.Context(), "{"+testPrefix+"}:v1:changes").Val()["{"+testPrefix+"}:v1:changes"] == 1
	})
	before := p.connections()
	p.hold()
	eventually(t, "new connection", func() bool { return p.connections() > before })
	p.release()
	changes := watchAll(t, n)
	recovers(t, n)
	hears(t, changes, "again", patience)
}

// TestFlushed: after the loss of everything, nothing that was learned before
// counts as current, and what comes after is above it.
func TestFlushed(t *testing.T) {
	server := statetest.NewRedis(t)
	_, n, l := machine(t, server.URL(""), patience)
	ctx := t.Context()
	rev := mustPut(t, n, "a", "1")
	lease, err := n.Acquire(ctx, "probe", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	changes := watchAll(t, n)
	server.Do("FLUSHALL")

	if _, err := n.CompareAndSwap(ctx, "a", rev, []byte("2"), 0); !errors.Is(err, sdk.ErrConflict) {
		t.Errorf("swap: got error %v, want %v", err, sdk.ErrConflict)
	}
	if _, err := n.Get(ctx, "a"); !errors.Is(err, sdk.ErrNotFound) {
		t.Errorf("get: got error %v, want %v", err, sdk.ErrNotFound)
	}
	again, err := n.CompareAndSwap(ctx, "a", 0, []byte("2"), 0)
	if err != nil || again <= rev {
		t.Errorf("swap after reading again: got revision %d, %v, want more than %d", again, err, rev)
	}
	hears(t, changes, "a", patience)
	if err := n.Renew(ctx, lease, time.Hour); !errors.Is(err, sdk.ErrConflict) {
		t.Errorf("renew: got error %v, want %v", err, sdk.ErrConflict)
	}
	if next, err := n.Acquire(ctx, "probe", time.Hour); err != nil || next.Generation <= lease.Generation {
		t.Errorf("acquire: got %+v, %v, want a generation above %d", next, err, lease.Generation)
	}
	if err := n.Release(ctx, lease); err != nil {
		t.Errorf("release: %v", err)
	}
	if _, err := n.Acquire(ctx, "probe", time.Hour); !errors.Is(err, sdk.ErrHeld) {
		t.Errorf("acquire what the next holder has: got error %v, want %v", err, sdk.ErrHeld)
	}
	if d := cmp.Diff([]string(nil), l.all()); d != "" {
		t.Errorf("log (-want +got):\n%s", d)
	}
}

// TestServerRefusesWrites: reading goes on.
func TestServerRefusesWrites(t *testing.T) {
	for _, tt := range []struct {
		name   string
		refuse []any
		accept []any
		advice string
		frees  bool // deleting makes room
	}{
		{"replica", []any{"REPLICAOF", "127.0.0.1", "1"}, []any{"REPLICAOF", "NO", "ONE"}, "primary", false},
		{"out of memory", []any{"CONFIG", "SET", "maxmemory", "1"}, []any{"CONFIG", "SET", "maxmemory", "0"}, "maxmemory", true},
		{"too few replicas", []any{"CONFIG", "SET", "min-replicas-to-write", "1"}, []any{"CONFIG", "SET", "min-replicas-to-write", "0"}, "min-replicas", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server := statetest.NewRedis(t)
			_, n, l := machine(t, server.URL(""), patience)
			rev := mustPut(t, n, "a", "1")
			mustPut(t, n, "b", "1")
			server.Do(tt.refuse...)
			for range 2 {
				if _, err := n.Put(t.Context(), "a", []byte("2"), 0); !errors.Is(err, sdk.ErrUnavailable) {
					t.Errorf("put: got error %v, want %v", err, sdk.ErrUnavailable)
				}
			}
			if it, err := n.Get(t.Context(), "a"); err != nil || it.Revision != rev || string(it.Data) != "1" {
				t.Errorf("got %+v, %v, want the item as it was", it, err)
			}
			if items, err := n.List(t.Context(), ""); err != nil || len(items) != 2 {
				t.Errorf("list: got %v, %v, want 2 items", items, err)
			}
			if err := n.Delete(t.Context(), "b"); tt.frees != (err == nil) {
				t.Errorf("delete: got error %v, want it to work: %t", err, tt.frees)
			}
			server.Do(tt.accept...)
			recovers(t, n)
			if got := l.count(msgDown); got != 1 {
				t.Errorf("outage was reported %d times:\n%s", got, l.said())
			}
			if !strings.Contains(l.said(), tt.advice) {
				t.Errorf("log: got %q, want it to say %q", l.said(), tt.advice)
			}
		})
	}
}

// TestPassword: a wrong one is never shown, and works once it is right.
func TestPassword(t *testing.T) {
	const secret = "hunter2-canary"
	server := statetest.NewRedis(t)
	server.Do("CONFIG", "SET", "requirepass", "another")
	_, n, l := machine(t, server.URL(secret), 0)
	_, err := n.Get(t.Context(), "a")
	if !errors.Is(err, sdk.ErrUnavailable) || !strings.Contains(err.Error(), "password") {
		t.Errorf("got error %v, want one that speaks of the password", err)
	}
	unavailable(t, n)
	for _, text := range []string{err.Error(), l.said()} {
		if strings.Contains(text, secret) {
			t.Errorf("%q shows the password", text)
		}
	}
	admin := redis.NewClient(parseRedis(t, server.URL("another")).options(patience))
	defer admin.Close()
	if err := admin.ConfigSet(t.Context(), "requirepass", secret).Err(); err != nil {
		t.Fatal(err)
	}
	recovers(t, n)
	if got := l.count(msgDown); got != 1 {
		t.Errorf("outage was reported %d times:\n%s", got, l.said())
	}
}

// TestEcho: a server that knows no command and repeats what it was told does
// not make the password known.
func TestEcho(t *testing.T) {
	const secret = "hunter2-canary"
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				for b := make([]byte, 4096); ; {
					n, err := c.Read(b)
					if err != nil {
						return
					}
					heard := bytes.ReplaceAll(b[:n], []byte("\r\n"), []byte(" "))
					fmt.Fprintf(c, "-ERR unknown command, with args beginning with: %s\r\n", heard)
				}
			}()
		}
	}()
	_, n, log := machine(t, "redis://:"+secret+"@"+l.Addr().String(), patience)
	_, err = n.Get(t.Context(), "a")
	if !errors.Is(err, sdk.ErrUnavailable) || !strings.Contains(err.Error(), "[redacted]") {
		t.Errorf("got error %v, want the answer without the password", err)
	}
	if text := err.Error() + log.said(); strings.Contains(text, secret) {
		t.Errorf("%q shows the password", text)
	}
}

// TestTLS: a server is believed only with a certificate for its name.
func TestTLS(t *testing.T) {
	web := httptest.NewTLSServer(nil)
	defer web.Close()
	server := statetest.NewRedis(t)
	p := newProxy(t, server.Socket, &tls.Config{Certificates: web.TLS.Certificates})
	_, n, l := machine(t, "rediss://"+p.addr(), patience)
	if _, err := n.Get(t.Context(), "a"); !errors.Is(err, sdk.ErrUnavailable) {
		t.Errorf("unknown authority: got error %v, want %v", err, sdk.ErrUnavailable)
	}
	if want := "certificate must be valid"; !strings.Contains(l.said(), want) {
		t.Errorf("log: got %q, want it to say %q", l.said(), want)
	}

	r := parseRedis(t, "rediss://"+p.addr())
	r.tls.RootCAs = x509.NewCertPool()
	r.tls.RootCAs.AddCert(web.Certificate())
	_, n, _ = trouble(t, t.TempDir(), Options{Limit: patience, Redis: r})
	mustPut(t, n, "a", "1")
}

// TestNoChannels: whoever may not use pub/sub still sees changes soon.
func TestNoChannels(t *testing.T) {
	server := statetest.NewRedis(t)
	server.Do("ACL", "SETUSER", "default", "resetchannels")
	_, n, l := machine(t, server.URL(""), patience)
	_, other, _ := machine(t, server.URL(""), patience)
	changes := watchAll(t, n)
	for i := range 3 {
		key := fmt.Sprint(i)
		mustPut(t, other, key, "v")
		hears(t, changes, key, patience)
	}
	if d := cmp.Diff([]string(nil), l.all()); d != "" {
		t.Errorf("log (-want +got):\n%s", d)
	}
}

// TestScriptsForgotten: a server that was told to forget scripts is told them
// again.
func TestScriptsForgotten(t *testing.T) {
	server := statetest.NewRedis(t)
	_, n, _ := machine(t, server.URL(""), patience)
	mustPut(t, n, "a", "1")
	server.Do("SCRIPT", "FLUSH")
	mustPut(t, n, "a", "2")
}

// TestPrefixes: profiles on one server do not see each other, and each has
// its keys in one slot. What has expired does not stay.
func TestPrefixes(t *testing.T) {
	server := statetest.NewRedis(t)
	_, n, _ := machine(t, server.URL(""), patience)
	r, err := ParseRedis(server.URL(""), "another")
	if err != nil {
		t.Fatal(err)
	}
	_, other, _ := trouble(t, t.TempDir(), Options{Limit: patience, Redis: r})
	mustPut(t, n, "a", "1")
	if items, err := other.List(t.Context(), ""); err != nil || len(items) != 0 {
		t.Errorf("list of another prefix: got %v, %v, want nothing", items, err)
	}
	for i := range 20 {
		if _, err := n.Put(t.Context(), fmt.Sprint("short", i), nil, time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "removal of what has expired", func() bool {
		mustPut(t, n, "a", "2")
		return server.Client.HLen(t.Context(), "{"+testPrefix+"}:v1:data").Val() == 1
	})
	keys, err := server.Client.Keys(t.Context(), "*").Result()
	if err != nil || len(keys) == 0 {
		t.Fatalf("keys: got %q, %v", keys, err)
	}
	for _, key := range keys {
		if !strings.HasPrefix(key, "{"+testPrefix+"}:v1:") {
			t.Errorf("key %q is not below the prefix", key)
		}
	}
}

// TestWrongType: another program's keys are left alone.
func TestWrongType(t *testing.T) {
	server := statetest.NewRedis(t)
	server.Do("SET", "{"+testPrefix+"}:v1:data", "mine")
	_, n, l := machine(t, server.URL(""), patience)
	if _, err := n.Put(t.Context(), "a", nil, 0); !errors.Is(err, sdk.ErrUnavailable) {
		t.Errorf("put: got error %v, want %v", err, sdk.ErrUnavailable)
	}
	if got := server.Client.Get(t.Context(), "{"+testPrefix+"}:v1:data").Val(); got != "mine" {
		t.Errorf("got %q, want the other program's text", got)
	}
	if want := "choose another prefix"; !strings.Contains(l.said(), want) {
		t.Errorf("log: got %q, want it to say %q", l.said(), want)
	}
}

func TestReadItems(t *testing.T) {
	now := time.Now()
	for _, tt := range []struct {
		name  string
		reply []any
		want  []sdk.Item
		err   error
	}{
		{"none", nil, nil, nil},
		{
			"all kinds",
			[]any{"a", int64(7), int64(0), "1", "b", int64(8), int64(50), nil},
			[]sdk.Item{
				{Key: "a", Revision: 7, Data: []byte("1")},
				{Key: "b", Revision: 8, Deleted: true, Expires: now.Add(50 * time.Millisecond)},
			},
			nil,
		},
		{"cut short", []any{"a", int64(7), int64(0)}, nil, errReply},
		{"key is a number", []any{int64(1), int64(7), int64(0), "1"}, nil, errReply},
		{"revision is a text", []any{"a", "7", int64(0), "1"}, nil, errReply},
		{"no revision", []any{"a", int64(0), int64(0), "1"}, nil, errReply},
		{"negative time", []any{"a", int64(7), int64(-1), "1"}, nil, errReply},
		{"data is a list", []any{"a", int64(7), int64(0), []any{}}, nil, errReply},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := readItems(tt.reply, now)
			if !errors.Is(err, tt.err) {
				t.Errorf("got error %v, want %v", err, tt.err)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}
