package supervisor_test

import (
	"fmt"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spillway/host/supervisor"
)

// facts asks a plugin what it sees of its own process, through a call to the
// model of that name.
func facts(t *testing.T, p *supervisor.Plugin) map[string]string {
	t.Helper()
	m := map[string]string{}
	for line := range strings.Lines(answer(t, p, "facts")) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		m[name] = value
	}
	return m
}

// ownFacts is what a plugin tells of itself: its environment, and beside that its
// standard input, group and folder.
func ownFacts() string {
	stdin, _ := os.Readlink("/proc/self/fd/0")
	wd, _ := os.Getwd()
	return fmt.Sprintf("%s\n.stdin=%s\n.group=%d\n.folder=%s\n", strings.Join(os.Environ(), "\n"), stdin, syscall.Getpgrp(), wd)
}

// TestEnvironment: a plugin sees the variables of a short list and go-plugin's
// own. What the host was started with, as somebody's plugin perhaps, does not
// reach it, nor does it replace what go-plugin says.
func TestEnvironment(t *testing.T) {
	for name, value := range map[string]string{
		"PATH": os.Getenv("PATH"), "HOME": "/nowhere/home", "TMPDIR": t.TempDir(), "LANG": "C", "LC_ALL": "C", "TZ": "UTC",
		"GOMAXPROCS": "2", "GOTRACEBACK": "all", "GORACE": "atexit_sleep_ms=0",
		"SECRET_API_KEY": "sk-canary", "SSH_AUTH_SOCK": "/nowhere/agent", "LD_PRELOAD": "/nowhere/lib.so", "PATHS": "/nowhere",
		"PLUGIN_CLIENT_CERT": "somebody's", "PLUGIN_UNIX_SOCKET_DIR": "/nowhere/sockets", "PLUGIN_MULTIPLEX_GRPC": "true",
		"PLUGIN_PROTOCOL_VERSIONS": "7", "PLUGIN_MIN_PORT": "1", "PLUGIN_UNIX_SOCKET_GROUP": "nogroup",
	} {
		t.Setenv(name, value)
	}
	p, _ := start(t, "")
	got := facts(t, p)
	delete(got, "PWD") // the shell's
	delete(got, "OLDPWD")
	delete(got, "_")
	for name, want := range map[string]string{
		"PATH": os.Getenv("PATH"), "HOME": "/nowhere/home", "TZ": "UTC", "PLUGIN_PROTOCOL_VERSIONS": "1", ".stdin": os.DevNull, ".folder": "/",
	} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
	if dir := got["PLUGIN_UNIX_SOCKET_DIR"]; filepath.Dir(dir) != os.Getenv("TMPDIR") {
		t.Errorf("sockets are in %q, want a folder of its own below TMPDIR", dir)
	}
	want := []string{
		".folder", ".group", ".stdin", "GOMAXPROCS", "GORACE", "GOTRACEBACK", modeVar, "HOME", "LANG", "LC_ALL", "PATH",
		"PLUGIN_MAX_PORT", "PLUGIN_MIN_PORT", "PLUGIN_PROTOCOL_VERSIONS", "PLUGIN_UNIX_SOCKET_DIR", "SPILLWAY_PLUGIN", "TMPDIR", "TZ",
	}
	if d := cmp.Diff(want, slices.Sorted(maps.Keys(got))); d != "" {
		t.Errorf("names (-want +got):\n%s", d)
	}
}

// TestOwnGroup: a signal to the host's group, Ctrl-C or a hang-up, does not reach
// a plugin. One that is meant for it ends it, whatever signal it is, and it is
// started anew.
func TestOwnGroup(t *testing.T) {
	p, _ := start(t, "")
	id := pid(t, p)
	if group := facts(t, p)[".group"]; group != id || group == strconv.Itoa(syscall.Getpgrp()) {
		t.Errorf("group %s of process %s, ours is %d", group, id, syscall.Getpgrp())
	}
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGKILL} {
		if signal.Ignored(sig) {
			continue // by nohup, and so by whatever it starts: rightly
		}
		before, restarts := pid(t, p), p.Info().Restarts
		if err := syscall.Kill(-atoi(before), sig); err != nil {
			t.Fatal(err)
		}
		wait(t, fmt.Sprintf("it is up again after %s", sig), func() bool {
			i := p.Info()
			return i.Up && i.PID != before && i.Restarts > restarts
		})
	}
	before := pid(t, p)
	if err := syscall.Kill(atoi(before), syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if after := pid(t, p); after != before {
		t.Errorf("an interrupt ended it: %s, then %s", before, after)
	}
}

// TestSocketFolders: a path that is too long for a socket, one that is not ours
// and one that is relative are not used.
func TestSocketFolders(t *testing.T) {
	long := filepath.Join(t.TempDir(), strings.Repeat("long", 30))
	if err := os.Mkdir(long, 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	short := t.TempDir()
	for _, tt := range []struct{ name, runtime, tmp, want string }{
		{"long", long, long, "/tmp"},
		{"missing", "/nowhere/run", "/nowhere/tmp", "/tmp"},
		{"no folder", file, short, short},
		{"relative", "run", ".", "/tmp"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o, _ := options(t, "")
			t.Setenv("XDG_RUNTIME_DIR", tt.runtime)
			t.Setenv("TMPDIR", tt.tmp)
			p, err := supervisor.Start(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(p.Stop)
			dir := facts(t, p)["PLUGIN_UNIX_SOCKET_DIR"]
			if filepath.Dir(dir) != tt.want {
				t.Errorf("sockets are in %q, want below %q", dir, tt.want)
			}
			if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("%v, %v: want mode 0700", info, err)
			}
			before := pid(t, p)
			if err := syscall.Kill(atoi(before), syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			wait(t, "the folder of the killed process is gone", func() bool {
				_, err := os.Stat(dir)
				return os.IsNotExist(err)
			})
			wait(t, "it is up again", func() bool { return p.Info().Up && p.Info().PID != before })
			dir = facts(t, p)["PLUGIN_UNIX_SOCKET_DIR"]
			p.Stop()
			if _, err := os.Stat(dir); !os.IsNotExist(err) {
				t.Errorf("after Stop: %s: %v", dir, err)
			}
		})
	}
}
