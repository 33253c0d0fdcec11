//go:build unix

package tests

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"spillway/host/sim"
	"spillway/tests/internal/rig"
)

// screen is a terminal with a program in it.
type screen struct {
	t     *testing.T
	cmd   *exec.Cmd
	tty   *os.File
	ended chan struct{} // closed when the program's output has ended

	mu      sync.Mutex
	changed chan struct{} // closed and replaced when something is shown
	shown   bytes.Buffer
	seen    int // what was expected already
}

func onScreen(t *testing.T, cmd *exec.Cmd) *screen {
	t.Helper()
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 200})
	if err != nil {
		t.Fatal(err)
	}
	s := &screen{t: t, cmd: cmd, tty: tty, ended: make(chan struct{}), changed: make(chan struct{})}
	go func() {
		defer close(s.ended)
		buf := make([]byte, 4096)
		for {
			n, err := tty.Read(buf)
			s.mu.Lock()
			s.shown.Write(buf[:n])
			close(s.changed)
			s.changed = make(chan struct{})
			s.mu.Unlock()
			if err != nil { // the program has ended
				return
			}
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-s.ended
		_ = cmd.Wait()
		tty.Close()
	})
	return s
}

// screenTime is more than anything takes to be shown on a busy machine.
const screenTime = time.Minute

// expect waits until a text is shown behind what was expected before.
func (s *screen) expect(text string) {
	s.t.Helper()
	limit := time.After(screenTime)
	for {
		s.mu.Lock()
		i := strings.Index(s.shown.String()[s.seen:], text)
		changed, all := s.changed, s.shown.String()
		if i >= 0 {
			s.seen += i + len(text)
		}
		s.mu.Unlock()
		if i >= 0 {
			return
		}
		select {
		case <-changed:
		case <-s.ended:
			s.t.Fatalf("the program ended without %q:\n%q", text, all)
		case <-limit:
			s.t.Fatalf("%q was not shown:\n%q", text, all)
		}
	}
}

func (s *screen) press(keys string) {
	s.t.Helper()
	if _, err := s.tty.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

// end waits for the program, which must exit with the code.
func (s *screen) end(code int) string {
	s.t.Helper()
	<-s.ended
	_ = s.cmd.Wait() // the exit code tells
	if got := s.cmd.ProcessState.ExitCode(); got != code {
		s.t.Errorf("exit code %d, want %d:\n%s", got, code, &s.shown)
	}
	return s.shown.String()
}

// A conversation on a terminal: a status line, a question about a tool call, a
// switch that is told once, an interruption, and history.
func TestChatTerminal(t *testing.T) {
	t.Parallel()
	s := rig.Vendors(t,
		reasoning("anthropic", `call=shell args='{"command":"echo yes >> log.txt"}'; ok; quota`),
		sim.Vendor{Name: "kimi-coding", Script: "ok; stall=4; ok", Answer: sim.Answer{Tokens: 8, Numbered: true}})
	rows, env := rig.Providers(s, "anthropic", "openai")
	b := newBench(t, rows+agentRows, append(env, "TERM=xterm", "NO_COLOR=1")...)
	c := onScreen(t, b.command("chat"))
	c.expect("anthropic/claude-sonnet-5 · s-")
	c.expect("> ")
	c.press("write iz\x7ft\r") // a key is corrected
	c.expect("run: echo yes >> log.txt")
	c.expect("allow it?")
	c.press("y\r")
	c.expect("The tool told anthropic: [no output]")
	c.expect("> ")
	c.press("first\\\rsecond\r")
	c.expect("switched to kimi-coding/k3: anthropic/claude-sonnet-5 is out of quota (QUOTA)")
	c.expect("w7@kimi-coding")
	c.expect("kimi-coding/k3 · s-")
	c.expect("> ")
	c.press("go on\r")
	c.expect("w3@kimi-coding")
	c.press("\x1b") // Esc
	c.expect("── interrupted: what was said is kept ──")
	c.expect("> ")
	c.press("/pin kimi-coding/k3 1h\r")
	c.expect("everything goes to kimi-coding/k3 and nowhere else until ")
	c.expect("· pinned to kimi-coding/k3")
	c.press("\x1b[A\x1b[A") // two lines up in the history
	c.expect("go on")
	c.press("\r")
	c.expect("w7@kimi-coding")
	c.expect("> ")
	c.press("not this\x03/exit\r") // Ctrl-C empties the line
	c.end(0)

	if got := b.file("log.txt"); got != "yes\n" {
		t.Errorf("log.txt: got %q", got)
	}
	calls := s.Vendor("kimi-coding").Calls()
	last := string(calls[len(calls)-1].Body)
	for _, want := range []string{"write it", `first\nsecond`, "w3@kimi-coding", "The user interrupted you here"} {
		if !strings.Contains(last, want) {
			t.Errorf("the last call lacks %q: %s", want, last)
		}
	}
	if got := refusals(s); got != nil {
		t.Errorf("vendors refused the history: %q", got)
	}
}

// A dumb terminal gets no control sequence, and a model cannot send one either.
func TestChatDumb(t *testing.T) {
	t.Parallel()
	s := rig.Vendors(t, sim.Vendor{Name: "anthropic", Answer: sim.Answer{Text: "red \x1b[31malert\x1b]0;title\x07 over"}})
	rows, env := rig.Providers(s, "anthropic")
	b := newBench(t, rows+agentRows, append(env, "TERM=dumb", "NO_COLOR=1")...)
	c := onScreen(t, b.command("chat"))
	c.expect("> ")
	c.press("hello\n")
	c.expect("red alert")
	c.expect("over")
	c.expect("> ")
	c.press("\x04") // Ctrl-D
	if shown := c.end(0); strings.ContainsAny(shown, "\x1b\x07") {
		t.Errorf("control sequences: %q", shown)
	}
}

// SIGTERM ends a conversation also while a line is being typed.
func TestChatTerminated(t *testing.T) {
	t.Parallel()
	s := rig.Vendors(t, sim.Vendor{Name: "anthropic"})
	rows, env := rig.Providers(s, "anthropic")
	b := newBench(t, rows+agentRows, append(env, "TERM=xterm")...)
	c := onScreen(t, b.command("chat"))
	c.expect("> ")
	c.press("half a li")
	c.expect("half a li")
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	c.end(130)
}
