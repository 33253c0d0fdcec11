package tests

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"spillway/host/sim"
	"spillway/tests/internal/rig"
)

// aloneServe is a "spillway serve" as a shell starts it: in a process group of its
// own, with a folder for temporary files whose path is short enough for sockets.
type aloneServe struct {
	cmd *exec.Cmd
	url string
	tmp string
}

func serveAlone(t *testing.T, s *sim.Server) *aloneServe {
	t.Helper()
	tmp, err := os.MkdirTemp("", "alone-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(tmp) })
	dir := rig.Profile(t, rows(s)+failoverRow+shoutRow)
	a := &aloneServe{cmd: exec.Command(rig.Spillway(t), "serve", "--profile", dir+"/", "--listen", "127.0.0.1:0"), tmp: tmp}
	a.cmd.Env = []string{"HOME=" + tmp, "SPILLWAY_HOME=" + tmp, "TMPDIR=" + tmp, "GORACE=atexit_sleep_ms=0"}
	a.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdout, err := a.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := a.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = a.cmd.Process.Kill()
		_ = a.cmd.Wait()
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	a.url = strings.TrimPrefix(strings.TrimSpace(line), "listening on ")
	return a
}

// plugins are the processes whose temporary files are in the same folder.
func (a *aloneServe) plugins(t *testing.T) (ids []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		env, _ := os.ReadFile(file) // it may end while it is looked at
		id := filepath.Base(filepath.Dir(file))
		if strings.Contains(string(env), "TMPDIR="+a.tmp) && id != fmt.Sprint(a.cmd.Process.Pid) {
			ids = append(ids, id)
		}
	}
	return ids
}

func (a *aloneServe) sockets(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob(a.tmp + "/plugin-dir*")
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestHostKilled: the plugins of a host that was killed end, and leave no folder
// of a socket behind.
func TestHostKilled(t *testing.T) {
	t.Parallel()
	a := serveAlone(t, vendors(t, 1, 0, map[string]string{"deepseek": "ok"}))
	if p, s := a.plugins(t), a.sockets(t); len(p) != 2 || len(s) != 2 {
		t.Fatalf("plugins %q, folders %q: want two of each", p, s)
	}
	if err := a.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	limit := time.Now().Add(20 * time.Second)
	for len(a.plugins(t)) > 0 || len(a.sockets(t)) > 0 {
		if time.Now().After(limit) {
			t.Fatalf("left: plugins %q, folders %q", a.plugins(t), a.sockets(t))
		}
		pause(t, time.Millisecond, 10*time.Millisecond)
	}
}

// TestSignalToGroup: Ctrl-C and "kill" reach a whole process group; the plugins
// must outlive the answers under way, one of which is relayed by one of them.
func TestSignalToGroup(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			a := serveAlone(t, vendors(t, 20, 20*time.Millisecond, map[string]string{"anthropic": "quota", "deepseek": "ok"}))
			r, err := http.Post(a.url+"/v1/chat/completions", "application/json",
				strings.NewReader(`{"model": "anthropic/m", "stream": true, "messages": [{"role": "user", "content": "hi"}]}`))
			if err != nil {
				t.Fatal(err)
			}
			defer r.Body.Close()
			body := bufio.NewReader(r.Body)
			first, err := body.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			if err := syscall.Kill(-a.cmd.Process.Pid, sig); err != nil {
				t.Fatal(err)
			}
			rest, err := io.ReadAll(body)
			if text := first + string(rest); err != nil || !strings.Contains(text, "W19@DEEPSEEK") || !strings.Contains(text, "[DONE]") {
				t.Errorf("the answer was cut: %v, %s", err, text)
			}
			if err := a.cmd.Wait(); err != nil {
				t.Errorf("serve ended with %v, want exit status 0", err)
			}
			if p, s := a.plugins(t), a.sockets(t); len(p) > 0 || len(s) > 0 {
				t.Errorf("left: plugins %q, folders %q", p, s)
			}
		})
	}
}
