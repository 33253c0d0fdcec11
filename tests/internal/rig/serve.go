package rig

import (
	"bufio"
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"spillway/host/profile"
)

const (
	// startTime is more than a start takes on a busy machine with the race
	// detector.
	startTime = time.Minute
	// stopTime is more than the time that serve gives answers under way.
	stopTime = 45 * time.Second
	// orphanTime is how long a process that serve left behind may hold its
	// standard error.
	orphanTime = 5 * time.Second
)

// Server is a running "spillway serve".
type Server struct {
	URL string // without a slash at the end
	Dir string // the profile's folder

	t      *testing.T
	env    []string
	cmd    *exec.Cmd
	stderr bytes.Buffer // with every level of the log; to be read after Stop
	stop   sync.Once
}

// Profile makes a profile's folder of which cordisYML is the base.
func Profile(t testing.TB, cordisYML string) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "profiles", "rig")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, profile.BaseFile), []byte(cordisYML), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Serve runs a profile of which cordisYML is the base; see ServeProfile.
func Serve(t *testing.T, cordisYML string, env ...string) *Server {
	t.Helper()
	return ServeProfile(t, Profile(t, cordisYML), env...)
}

// ServeProfile runs the profile in dir, which Profile has made. The process sees
// no environment but a home of its own and env.
func ServeProfile(t *testing.T, dir string, env ...string) *Server {
	t.Helper()
	return ServeAt(t, Place{Listen: "127.0.0.1:0"}, dir, env...)
}

// Place is where a server runs.
type Place struct {
	Enter  []string // a command that runs another one there, nil for here
	Listen string
	Flags  []string // further ones of serve
}

// ServeAt is ServeProfile at another place.
func ServeAt(t *testing.T, at Place, dir string, env ...string) *Server {
	t.Helper()
	home := filepath.Dir(filepath.Dir(dir))
	s := &Server{t: t, Dir: dir}
	s.env = append([]string{
		"HOME=" + home, "SPILLWAY_HOME=" + home,
		"SPILLWAY_PLAN=" + os.Getenv("SPILLWAY_PLAN"), // make plan-off
		"GORACE=atexit_sleep_ms=0",                    // else the race detector holds up every exit by a second
	}, env...)
	s.cmd = s.Command(append([]string{"serve", "--listen", at.Listen, "--log-level", "debug"}, at.Flags...)...)
	if len(at.Enter) > 0 {
		entered := exec.Command(at.Enter[0], append(at.Enter[1:], s.cmd.Args...)...)
		entered.Env = s.cmd.Env
		s.cmd = entered
	}
	s.cmd.Stderr = &s.stderr
	s.cmd.WaitDelay = orphanTime
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	limit := time.AfterFunc(startTime, func() { s.cmd.Process.Kill() })
	defer limit.Stop()
	line, err := bufio.NewReader(stdout).ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if !ok {
		t.Fatalf("serve printed %q (%v), want where it listens", line, err)
	}
	s.URL = url
	return s
}

// Command is spillway with the arguments, for the server's profile.
func (s *Server) Command(args ...string) *exec.Cmd {
	cmd := exec.Command(Spillway(s.t), append(args, "--profile", s.Dir+"/")...)
	cmd.Env = s.env
	return cmd
}

// Log is what the server has written to standard error. It is whole once the
// server has stopped, and must not be read before.
func (s *Server) Log() string { return s.stderr.String() }

// Fill keeps the server from writing another byte to any file, as a full disk
// does.
func (s *Server) Fill() {
	s.t.Helper()
	Run(s.t, exec.Command("prlimit", "--fsize=0", "--pid", strconv.Itoa(s.cmd.Process.Pid)))
}

// Kill ends the server as a crash would.
func (s *Server) Kill() {
	s.stop.Do(func() {
		if err := s.cmd.Process.Kill(); err != nil {
			s.t.Error(err)
		}
		_ = s.cmd.Wait()
	})
}

// Terminate asks the server to end, as its supervisor does.
func (s *Server) Terminate() {
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		s.t.Error(err)
	}
}

// Stop ends the server and checks that it exits with 0. A test that failed is
// told what the server logged. It may be called more than once.
func (s *Server) Stop() {
	s.stop.Do(func() {
		s.Terminate()
		limit := time.AfterFunc(stopTime, func() { s.cmd.Process.Kill() })
		defer limit.Stop()
		if err := s.cmd.Wait(); err != nil {
			s.t.Errorf("serve ended with %v, want exit status 0", err)
		}
		if strings.Contains(s.stderr.String(), "DATA RACE") {
			s.t.Error("there was a data race in serve or in a plugin")
		}
		if s.t.Failed() {
			s.t.Logf("standard error of serve:\n%s", &s.stderr)
		}
	})
}

// Memory is what the server takes at the moment, in bytes; only Linux tells.
func (s *Server) Memory() int64 {
	s.t.Helper()
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(s.cmd.Process.Pid), "statm"))
	fields := strings.Fields(string(b))
	if err != nil || len(fields) < 2 {
		s.t.Fatalf("memory of serve: %q, %v", b, err)
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		s.t.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}

// MaxMemory stops the server and returns the most memory, in bytes, that it took.
func (s *Server) MaxMemory() int64 {
	s.t.Helper()
	s.Stop()
	used, ok := s.cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		s.t.Fatal("the system does not say how much memory a process took")
	}
	if runtime.GOOS == "darwin" {
		return used.Maxrss
	}
	return used.Maxrss << 10
}

// Leaks stops the server and returns the places where one of the secrets stands
// that are to be nowhere: what it logged, and the files of its state.
func (s *Server) Leaks(secrets ...string) []string {
	s.t.Helper()
	s.Stop()
	var places []string
	look := func(place string, data []byte) {
		for _, secret := range secrets {
			if bytes.Contains(data, []byte(secret)) {
				places = append(places, place+": "+secret)
			}
		}
	}
	look("standard error", s.stderr.Bytes())
	state := os.DirFS(filepath.Join(s.Dir, profile.StateDir))
	err := fs.WalkDir(state, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := fs.ReadFile(state, path)
		look(path, data)
		return err
	})
	if err != nil {
		s.t.Error(err)
	}
	return places
}
