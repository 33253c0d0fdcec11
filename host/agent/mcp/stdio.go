package mcp

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// maxMessage bounds a message of a server: an image and its base64 fit.
	maxMessage = 8 << 20
	// writeTimeout is how long a server may leave its input unread.
	writeTimeout = 10 * time.Second
)

// methodCall is the request whose fate must be known.
const methodCall = "tools/call"

// stdio is the transport to a program. Connect starts it.
type stdio struct {
	cmd  *exec.Cmd
	proc *process // once Connect was called
}

var _ mcpsdk.Transport = (*stdio)(nil)

// Connect implements mcpsdk.Transport.
func (t *stdio) Connect(ctx context.Context) (mcpsdk.Connection, error) {
	proc, err := startProcess(t.cmd)
	if err != nil {
		return nil, err
	}
	t.proc = proc
	c := &stdioConn{proc: proc, counted: &counted{f: proc.stdin}}
	c.Connection, err = (&mcpsdk.IOTransport{
		Reader:        &messages{r: bufio.NewReader(proc.stdout), Closer: proc.stdout},
		Writer:        c.counted,
		MaxLineLength: maxMessage,
	}).Connect(ctx)
	return c, err
}

// stdioConn notes which calls left this process.
type stdioConn struct {
	mcpsdk.Connection
	proc *process

	mu      sync.Mutex // held while a message is written
	counted *counted
}

// Write implements mcpsdk.Connection. A server that took a part of a message
// understands nothing after it, and one that takes nothing is of no use: both are
// killed.
func (c *stdioConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	deadline := time.Now().Add(writeTimeout)
	if d, ok := ctx.Deadline(); ok && d.Before(deadline) {
		deadline = d
	}
	_ = c.proc.stdin.SetWriteDeadline(deadline)
	before := c.counted.n
	err := c.Connection.Write(ctx, msg)
	partly := c.counted.n > before
	if req, ok := msg.(*jsonrpc.Request); ok && req.Method == methodCall && partly {
		if d := deliveryOf(ctx); d != nil {
			d.sent.Store(true)
		}
	}
	if err != nil && (partly || ctx.Err() == nil) {
		c.proc.kill()
	}
	return err
}

// counted counts what is written. It is used under stdioConn's mutex.
type counted struct {
	f *os.File
	n int64
}

func (c *counted) Write(p []byte) (int, error) {
	n, err := c.f.Write(p)
	c.n += int64(n)
	return n, err
}

func (c *counted) Close() error { return c.f.Close() }

// messages reads the lines of a server's output that can be messages: objects.
// Programs print greetings and warnings between them.
type messages struct {
	r      *bufio.Reader
	inside bool // a line has begun
	object bool // and is passed on
	io.Closer
}

// Read implements io.Reader.
func (m *messages) Read(p []byte) (int, error) {
	for {
		first, err := m.r.Peek(1)
		if err != nil {
			return 0, err
		}
		if !m.inside {
			m.inside, m.object = true, first[0] == '{'
		}
		part, _ := m.r.Peek(m.r.Buffered())
		if m.object {
			part = part[:min(len(part), len(p))]
		}
		if i := bytes.IndexByte(part, '\n'); i >= 0 {
			part, m.inside = part[:i+1], false
		}
		if m.object {
			copy(p, part)
		}
		n, _ := m.r.Discard(len(part))
		if m.object {
			return n, nil
		}
	}
}
