package supervisor_test

import (
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"spillway/host/supervisor"
)

// Many restarts take their time, since six a second are allowed:
//
//	go test ./host/supervisor -run TestRestartsLeakNothing -restarts 1000 -timeout 10m -v
var restarts = flag.Int("restarts", 40, "how often TestRestartsLeakNothing kills its plugin")

// held is what this process holds of the system.
type held struct{ goroutines, descriptors, sockets, children int }

func holding(t *testing.T, tmp string) held {
	t.Helper()
	count := func(pattern string) int {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}
	h := held{goroutines: runtime.NumGoroutine(), descriptors: count("/proc/self/fd/*"), sockets: count(tmp + "/plugin-dir*")}
	tasks, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		b, _ := os.ReadFile(task) // the thread may have ended
		h.children += len(strings.Fields(string(b)))
	}
	return h
}

// spare is what may come and go, far less than one for each restart.
const spare = 5

// within reports whether h is no more than other, but for goroutines that come
// and go.
func (h held) within(other held) bool {
	other.goroutines += spare
	return h.goroutines <= other.goroutines && h.descriptors <= other.descriptors && h.sockets <= other.sockets && h.children <= other.children
}

// TestRestartsLeakNothing kills a plugin again and again: goroutines,
// descriptors, folders of sockets and processes are as many as before.
func TestRestartsLeakNothing(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", "")
	t.Setenv("TMPDIR", tmp)
	settled := func(what string, bound held) held {
		var h held
		wait(t, what, func() bool {
			h = holding(t, tmp)
			return h.within(bound)
		})
		return h
	}
	before := holding(t, tmp)
	o, _ := options(t, "")
	p, err := supervisor.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	pid(t, p)
	running := holding(t, tmp)

	began := time.Now()
	for n := range *restarts {
		id := pid(t, p)
		if err := syscall.Kill(atoi(id), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		waitWithin(t, time.Minute, "it is up again", func() bool {
			i := p.Info()
			return i.Up && i.Restarts == n+1
		})
	}
	took := time.Since(began)
	pid(t, p)
	after := settled("one plugin holds no more than at first", running)
	p.Stop()
	left := settled("nothing is left after Stop", before)
	t.Logf("%d restarts in %s (%s each): before %+v, with the first process %+v, with the last %+v, after Stop %+v",
		*restarts, took.Round(time.Millisecond), (took / time.Duration(max(*restarts, 1))).Round(time.Millisecond), before, running, after, left)
}

// TestFailedStartsLeakNothing: nor does a plugin that cannot be started.
func TestFailedStartsLeakNothing(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", "")
	t.Setenv("TMPDIR", tmp)
	before := holding(t, tmp)
	for _, text := range []string{"text", "#!/nowhere/sh\n", "#!/bin/sh\nexit 1\n", "#!/bin/sh\necho '1|9|unix|/x|grpc|'\nexec sleep 600\n"} {
		source := filepath.Join(t.TempDir(), "guest")
		if err := os.WriteFile(source, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		o, _ := quiet()
		o.Binary = install(t, source, filepath.Join(t.TempDir(), "copies"))
		for range 5 {
			if _, err := supervisor.Start(t.Context(), o); err == nil {
				t.Fatal("started")
			}
		}
	}
	wait(t, "nothing is left", func() bool { return holding(t, tmp).within(before) })
}
