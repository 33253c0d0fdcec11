package statetest

import (
	"bytes"
	"context"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"spillway/host/state/statetest/machine"
)

// Redis is a redis-server of a test's own, on a socket in a folder of its own.
// It is killed at the end of the test.
type Redis struct {
	Socket string
	Client *redis.Client // without a password

	tb   testing.TB
	dir  string
	args []string // what runs it, but for the socket and the folder
	cmd  *exec.Cmd
	log  bytes.Buffer
}

// NewRedis starts a server, which is installed if it is missing and that
// disturbs nobody. It keeps what was written over a Kill.
func NewRedis(tb testing.TB) *Redis {
	tb.Helper()
	return NewRedisAt(tb, nil, "--port", "0")
}

// NewRedisAt starts it at another place, where the command enter runs another one,
// with further arguments.
func NewRedisAt(tb testing.TB, enter []string, args ...string) *Redis {
	tb.Helper()
	machine.Need(tb, "redis-server", "redis-server")
	// The path of a socket is short.
	dir, err := os.MkdirTemp("", "redis-")
	if err != nil {
		tb.Fatal(err)
	}
	socket := filepath.Join(dir, "s")
	r := &Redis{
		Socket: socket,
		Client: redis.NewClient(&redis.Options{Network: "unix", Addr: socket}),
		tb:     tb,
		dir:    dir,
		args:   slices.Concat(enter, []string{"redis-server"}, args),
	}
	tb.Cleanup(func() {
		r.Client.Close()
		if r.cmd != nil {
			r.Kill()
		}
		os.RemoveAll(dir)
	})
	r.Start()
	return r
}

// Start starts the server again, and returns once it answers.
func (r *Redis) Start() {
	r.tb.Helper()
	r.log.Reset()
	r.cmd = exec.Command(r.args[0], append(slices.Clone(r.args[1:]),
		"--unixsocket", r.Socket, "--unixsocketperm", "700", "--dir", r.dir,
		"--save", "", "--appendonly", "yes", "--appendfsync", "no")...)
	r.cmd.Stdout, r.cmd.Stderr = &r.log, &r.log
	if err := r.cmd.Start(); err != nil {
		r.tb.Fatal(err)
	}
	ended := time.Now().Add(patience)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for r.Client.Ping(context.Background()).Err() != nil {
		if time.Now().After(ended) {
			r.Kill()
			r.tb.Fatalf("redis-server does not answer within %v:\n%s", patience, &r.log)
		}
		<-tick.C
	}
}

// Kill ends the server without a warning.
func (r *Redis) Kill() {
	r.tb.Helper()
	if err := r.cmd.Process.Kill(); err != nil {
		r.tb.Error(err)
	}
	r.cmd.Wait() // the error is that it was killed
	r.cmd = nil
}

// Signal sends the server's process a signal, as one that stops it for a while.
func (r *Redis) Signal(sig os.Signal) error { return r.cmd.Process.Signal(sig) }

// Do runs a command on the server, such as CONFIG SET.
func (r *Redis) Do(args ...any) {
	r.tb.Helper()
	if err := r.Client.Do(context.Background(), args...).Err(); err != nil {
		r.tb.Fatalf("%v: %v", args, err)
	}
}

// Calls is how often commands were run since CONFIG RESETSTAT, also within scripts.
func (r *Redis) Calls(commands ...string) (n int) {
	r.tb.Helper()
	info, err := r.Client.InfoMap(context.Background(), "commandstats").Result()
	if err != nil {
		r.tb.Fatal(err)
	}
	for _, c := range commands {
		_, text, _ := strings.Cut(info["Commandstats"]["cmdstat_"+c], "calls=")
		text, _, _ = strings.Cut(text, ",")
		calls, err := strconv.Atoi(text)
		if err != nil && text != "" { // never run
			r.tb.Fatal(err)
		}
		n += calls
	}
	return n
}

// Scripts is how many scripts were run since CONFIG RESETSTAT.
func (r *Redis) Scripts() int { return r.Calls("eval", "evalsha") }

// URL is the server's, for somebody with a password, which may be empty.
func (r *Redis) URL(password string) string {
	u := url.URL{Scheme: "unix", Path: r.Socket}
	if password != "" {
		u.User = url.UserPassword("", password)
	}
	return u.String()
}
