package serve

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
)

// Minor is the version of the frames. Peers ignore frames they do not know, so
// it only tells people what to expect. Breaking changes raise the handshake's
// protocol version instead.
const Minor = 1

// Limits of the wire.
const (
	// MaxFrame bounds one frame of the session. A frame that gRPC refuses kills
	// the stream of every call, so senders check first.
	MaxFrame = 1 << 20
	// MaxBody bounds a prompt that crosses the boundary.
	MaxBody = 64 << 20
	// bodyPart is the size of one piece of a prompt.
	bodyPart = 256 << 10
	// queueLen is how many frames may wait for the writer. A turn has at most
	// two under way, so this is some hundred turns of a peer that does not read.
	queueLen = 1024
	// maxBacklog bounds the outcomes a host keeps for a plugin that does not
	// acknowledge them, and the events a plugin keeps for a slow observer.
	maxBacklog = 16 << 10
	// pingTimeout is how long a live peer may take to answer a ping; measured
	// answers take under a millisecond.
	pingTimeout = 200 * time.Millisecond

	defaultWait   = 500 * time.Millisecond
	defaultDecide = 500 * time.Millisecond
)

// Handshake is what host and plugin agree on before they talk. The cookie
// keeps people from starting a plugin by hand; it is no secret.
var Handshake = plugin.HandshakeConfig{
	ProtocolVersion:  1,
	MagicCookieKey:   "SPILLWAY_PLUGIN",
	MagicCookieValue: "b6d4f6a1-llm-stream",
}

// Dispense is the name under which go-plugin serves the wire.
const Dispense = "spillway"

// Errors of a session.
var (
	ErrSessionEnded  = errors.New("plugin session ended")
	ErrFrameTooLarge = errors.New("plugin frame too large")
	errStalled       = errors.New("plugin did not decide in time")
)

// window sizes are fixed so that gRPC does not measure bandwidth on a local
// socket; that saves a third of its allocations.
const (
	streamWindow = 1 << 20
	connWindow   = 4 << 20
)

// DialOptions are the gRPC options a host uses towards a plugin.
func DialOptions() []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithStaticStreamWindowSize(streamWindow),
		grpc.WithStaticConnWindowSize(connWindow),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(MaxFrame)),
	}
}

// serverOptions are the gRPC options of a plugin's server.
func serverOptions() []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.StaticStreamWindowSize(streamWindow),
		grpc.StaticConnWindowSize(connWindow),
		grpc.MaxRecvMsgSize(MaxFrame),
	}
}

// link is the sending half of a session and its end.
type link[F proto.Message] struct {
	queue chan F
	ended chan struct{}

	mu    sync.Mutex
	cause error // guarded by mu, set before ended is closed
}

func newLink[F proto.Message]() *link[F] {
	return &link[F]{queue: make(chan F, queueLen), ended: make(chan struct{})}
}

// send queues f, waiting for room until ctx or the session ends.
func (l *link[F]) send(ctx context.Context, f F) error {
	if err := l.check(f); err != nil {
		return err
	}
	if err := l.err(); err != nil {
		return err // there may be room all the same
	}
	select {
	case l.queue <- f:
		return nil
	case <-l.ended:
		return l.err()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// offer queues f if there is room.
func (l *link[F]) offer(f F) bool {
	if l.check(f) != nil {
		return false
	}
	select {
	case <-l.ended:
		return false
	default:
	}
	select {
	case l.queue <- f:
		return true
	default:
		return false
	}
}

func (l *link[F]) check(f F) error {
	if n := proto.Size(f); n > MaxFrame {
		return fmt.Errorf("%w: %d bytes, at most %d", ErrFrameTooLarge, n, MaxFrame)
	}
	return nil
}

// write sends queued frames until the session ends. It is the one writer.
func (l *link[F]) write(send func(F) error) {
	for {
		select {
		case f := <-l.queue:
			if err := send(f); err != nil {
				l.end(err)
				return
			}
		case <-l.ended:
			return
		}
	}
}

// end ends the session; the first cause stays.
func (l *link[F]) end(cause error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cause == nil {
		l.cause = fmt.Errorf("%w: %w", ErrSessionEnded, cause)
		close(l.ended)
	}
}

func (l *link[F]) err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cause
}
