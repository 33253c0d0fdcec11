package chaos

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"spillway/host/control"
	"spillway/host/profile"
	"spillway/host/story"
	"spillway/tests/internal/rig"
)

// server is a running "spillway serve".
type server struct {
	t      *testing.T
	dir    string // the profile's
	tmp    string // where its plugins have their sockets; nothing is to be left there
	url    string
	cmd    *exec.Cmd
	client *control.Client
}

const (
	startTime = time.Minute      // more than a start takes under the race detector
	stopTime  = 40 * time.Second // more than serve gives answers under way
)

// start runs the profile in dir. What it logs is appended to the file.
func start(t *testing.T, dir, logFile string) *server {
	t.Helper()
	tmp, err := os.MkdirTemp("", "chaos-") // whose path is short enough for sockets
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(tmp) })
	s := &server{t: t, dir: dir, tmp: tmp, client: control.NewClient(dir)}
	s.cmd = exec.Command(rig.Spillway(t), "serve", "--profile", dir+"/", "--listen", "127.0.0.1:0", "--log-level", "warn")
	s.cmd.Env = []string{"HOME=" + tmp, "SPILLWAY_HOME=" + tmp, "TMPDIR=" + tmp, "GORACE=atexit_sleep_ms=0"}
	log, err := os.OpenFile(logFile, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	s.cmd.Stderr = struct{ io.Writer }{log} // by a pipe: a full disk must not silence it
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.cmd.Process.Kill() })
	limit := time.AfterFunc(startTime, func() { s.cmd.Process.Kill() })
	defer limit.Stop()
	line, err := bufio.NewReader(stdout).ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if !ok {
		t.Fatalf("serve printed %q (%v), want where it listens; its log is %s", line, err, logFile)
	}
	s.url = url
	return s
}

// stop ends the server and returns what was not as it should be.
func (s *server) stop() (faults []string) {
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		faults = append(faults, err.Error())
	}
	limit := time.AfterFunc(stopTime, func() { s.cmd.Process.Kill() })
	defer limit.Stop()
	if err := s.cmd.Wait(); err != nil {
		faults = append(faults, fmt.Sprintf("serve ended with %v, want exit status 0", err))
	}
	left, err := os.ReadDir(s.tmp)
	for _, f := range left {
		faults = append(faults, "left behind: "+filepath.Join(s.tmp, f.Name()))
	}
	if err != nil {
		faults = append(faults, err.Error())
	}
	return faults
}

// command is spillway with the arguments, for the server's profile.
func (s *server) command(args ...string) *exec.Cmd {
	cmd := exec.Command(rig.Spillway(s.t), append(args, "--profile", s.dir+"/")...)
	cmd.Env = s.cmd.Env
	return cmd
}

// plugin is what the host tells of an entry's process; false if it tells nothing
// now.
func (s *server) plugin(entry string) (story.PluginView, bool) {
	v, err := s.client.Status(s.t.Context())
	if err != nil {
		return story.PluginView{}, false
	}
	for _, p := range v.Plugins {
		if p.Entry == entry {
			return p, true
		}
	}
	return story.PluginView{}, false
}

// signal sends the host's process a signal.
func (s *server) signal(sig syscall.Signal) error { return s.cmd.Process.Signal(sig) }

// disk bounds what the host may write to any file: 0 is a full disk, and
// unix.RLIM_INFINITY a free one.
func (s *server) disk(bytes uint64) error {
	return unix.Prlimit(s.cmd.Process.Pid, unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: bytes, Max: unix.RLIM_INFINITY}, nil)
}

func (s *server) file() string { return filepath.Join(s.dir, profile.StateDir, "spillway.db") }
