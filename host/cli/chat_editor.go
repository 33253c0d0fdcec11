package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"

	"golang.org/x/term"

	"spillway/host/agent"
)

const (
	// historyFile holds the lines that were typed, in the profile's state.
	historyFile = "chat_history"
	maxHistory  = 1000
	maxTyped    = 4096 // bytes of a line that is kept
)

// editor is the terminal with its lines edited. The terminal is raw as long as it
// is open, so that a key reaches the program at once; what is written goes through
// the editor, which keeps the line that is being typed in its place.
type editor struct {
	*term.Terminal
	keys  *keys
	state *term.State
	past  *history
}

// openEditor makes the terminal raw. A line that is being typed when ctx ends is
// given up.
func openEditor(ctx context.Context, path string) (*editor, error) {
	past, err := openHistory(path)
	if err != nil {
		return nil, err
	}
	fd := int(os.Stdin.Fd())
	state, err := term.MakeRaw(fd)
	if err != nil {
		return nil, errors.Join(err, past.Close())
	}
	e := &editor{keys: newKeys(os.Stdin), state: state, past: past}
	e.Terminal = term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{e.keys, os.Stdout}, "")
	e.Terminal.History = past
	e.resize()
	e.SetBracketedPasteMode(true)
	context.AfterFunc(ctx, func() { e.keys.take(nil, agent.ErrInterrupted) })
	return e, nil
}

func (e *editor) resize() {
	if width, height, err := term.GetSize(int(os.Stdout.Fd())); err == nil && width > 0 && height > 0 {
		_ = e.SetSize(width, height) // only redraws
	}
}

// Line implements lineSource.
func (e *editor) Line(prompt string) (line string, pasted bool, err error) {
	e.resize()
	e.past.off = prompt == "" // an answer to a question is not worth keeping
	e.SetPrompt(prompt)
	e.keys.edit(true)
	defer e.keys.edit(false)
	line, err = e.ReadLine()
	if errors.Is(err, term.ErrPasteIndicator) {
		return line, true, nil
	}
	return line, false, err
}

// Watch implements lineSource.
func (e *editor) Watch(interrupt func()) (stop func()) { return e.keys.watch(interrupt) }

// Close gives the terminal back as it was.
func (e *editor) Close() error {
	e.SetBracketedPasteMode(false)
	return errors.Join(term.Restore(int(os.Stdin.Fd()), e.state), e.past.Close())
}

const (
	keyCtrlC  = 0x03
	keyCtrlE  = 0x05
	keyCtrlU  = 0x15
	keyEscape = 0x1b
)

// keys passes keys to the editor of a line while one is edited, and looks for
// interruptions while the agent works. What is typed meanwhile waits for the next
// line.
type keys struct {
	mu        sync.Mutex
	arrived   *sync.Cond
	typed     []byte // nobody has read it
	err       error
	editing   bool
	cleared   bool // the last key was a Ctrl-C
	interrupt func()
}

// newKeys reads in for as long as the program lives: a read of a terminal cannot
// be ended.
func newKeys(in io.Reader) *keys {
	k := &keys{}
	k.arrived = sync.NewCond(&k.mu)
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := in.Read(buf)
			k.take(buf[:n], err)
			if err != nil {
				return
			}
		}
	}()
	return k
}

// maxAhead bounds what is typed ahead.
const maxAhead = 1 << 20

func (k *keys) take(b []byte, err error) {
	k.mu.Lock()
	if err != nil {
		k.err = err
	}
	interrupt := k.interrupt
	// An Esc by itself is the key, one with something behind it begins another.
	wanted := interrupt != nil && !k.editing && (bytes.IndexByte(b, keyCtrlC) >= 0 || len(b) == 1 && b[0] == keyEscape)
	if !wanted && len(k.typed) < maxAhead {
		k.typed = append(k.typed, b...)
	}
	k.arrived.Broadcast()
	k.mu.Unlock()
	if wanted {
		interrupt()
	}
}

// Read gives the editor one key after the other. The first Ctrl-C empties the
// line, the second one ends the conversation.
func (k *keys) Read(p []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for len(k.typed) == 0 {
		if k.err != nil {
			return 0, k.err
		}
		k.arrived.Wait()
	}
	if k.typed[0] == keyCtrlC && !k.cleared && len(p) > 1 {
		k.cleared = true
		k.typed = k.typed[1:]
		return copy(p, []byte{keyCtrlE, keyCtrlU}), nil
	}
	n := bytes.IndexByte(k.typed[1:], keyCtrlC) + 1 // up to the next one
	if n == 0 {
		n = len(k.typed)
	}
	k.cleared = k.cleared && k.typed[0] == keyCtrlC
	n = copy(p, k.typed[:n])
	k.typed = k.typed[n:]
	return n, nil
}

func (k *keys) edit(on bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.editing, k.cleared = on, false
}

func (k *keys) watch(interrupt func()) (stop func()) {
	set := func(f func()) {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.interrupt = f
	}
	set(interrupt)
	return func() { set(nil) }
}

// history is the lines that were typed, the last of them kept in a file.
type history struct {
	file  *os.File
	lines []string // the newest last
	off   bool     // what is typed now is not kept
}

var _ term.History = (*history)(nil)

// openHistory reads the file, and cuts it to the lines that are kept.
func openHistory(path string) (*history, error) {
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	h := &history{}
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		h.lines = append(h.lines, lines.Text())
	}
	h.lines = h.lines[max(len(h.lines)-maxHistory, 0):]
	h.file, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	for _, line := range h.lines {
		if _, err := io.WriteString(h.file, line+"\n"); err != nil {
			return nil, errors.Join(err, h.file.Close())
		}
	}
	return h, nil
}

// Add implements term.History.
func (h *history) Add(line string) {
	if h.off || strings.TrimSpace(line) == "" || len(line) > maxTyped || len(h.lines) > 0 && h.lines[len(h.lines)-1] == line {
		return
	}
	h.lines = append(h.lines, line)
	h.lines = h.lines[max(len(h.lines)-maxHistory, 0):]
	_, _ = io.WriteString(h.file, line+"\n") // a convenience
}

// Len implements term.History.
func (h *history) Len() int { return len(h.lines) }

// At implements term.History: 0 is the newest.
func (h *history) At(i int) string { return h.lines[len(h.lines)-1-i] }

// Close closes the file.
func (h *history) Close() error { return h.file.Close() }
