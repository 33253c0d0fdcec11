package serve_test

import (
	"context"
	"errors"
	"io"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
)

// script turns fuzzed bytes into choices. Several goroutines of a hostile peer
// draw from one script.
type script struct {
	mu sync.Mutex
	b  []byte
}

// maxChoices bounds a script: a longer one finds nothing that this does not.
const maxChoices = 512

func newScript(b []byte) *script { return &script{b: b[:min(len(b), maxChoices)]} }

// pick returns the next choice, below n; 0 when there is none left.
func (s *script) pick(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.b) == 0 {
		return 0
	}
	c := int(s.b[0]) % n
	s.b = s.b[1:]
	return c
}

func (s *script) yes() bool { return s.pick(2) == 1 }

func (s *script) over() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.b) == 0
}

// end is one end of a stream in memory. What crosses is encoded and decoded, so
// it is what the real wire can carry and nothing else.
type end struct {
	ctx      context.Context
	out      chan<- []byte
	in       <-chan []byte
	closeOut func()
	peerGone <-chan struct{}
}

// streamPair connects two ends that live as long as ctx.
func streamPair(ctx context.Context) (a, b *end) {
	there, back := make(chan []byte, 4), make(chan []byte, 4)
	goneA, goneB := make(chan struct{}), make(chan struct{})
	a = &end{ctx: ctx, out: there, in: back, closeOut: sync.OnceFunc(func() { close(goneA) }), peerGone: goneB}
	b = &end{ctx: ctx, out: back, in: there, closeOut: sync.OnceFunc(func() { close(goneB) }), peerGone: goneA}
	return a, b
}

func (e *end) SendMsg(m any) error {
	b, err := proto.Marshal(m.(proto.Message))
	if err != nil {
		return err
	}
	select {
	case e.out <- b:
		return nil
	case <-e.ctx.Done():
		return context.Cause(e.ctx)
	}
}

func (e *end) RecvMsg(m any) error {
	select {
	case b := <-e.in:
		return proto.Unmarshal(b, m.(proto.Message))
	case <-e.ctx.Done():
		return context.Cause(e.ctx)
	case <-e.peerGone:
	}
	select {
	case b := <-e.in: // sent before the peer left
		return proto.Unmarshal(b, m.(proto.Message))
	default:
		return io.EOF
	}
}

func (e *end) CloseSend() error             { e.closeOut(); return nil }
func (e *end) Context() context.Context     { return e.ctx }
func (e *end) Header() (metadata.MD, error) { return nil, nil }
func (e *end) Trailer() metadata.MD         { return nil }
func (e *end) SetHeader(metadata.MD) error  { return nil }
func (e *end) SendHeader(metadata.MD) error { return nil }
func (e *end) SetTrailer(metadata.MD)       {}

var (
	_ grpc.ClientStream = (*end)(nil)
	_ grpc.ServerStream = (*end)(nil)
)

// dialled is the connection to a peer that serves each stream in a goroutine.
type dialled struct{ serve func(method string, e *end) }

func (d dialled) Invoke(context.Context, string, any, any, ...grpc.CallOption) error {
	return errors.New("no such call")
}

func (d dialled) NewStream(ctx context.Context, _ *grpc.StreamDesc, method string, _ ...grpc.CallOption) (grpc.ClientStream, error) {
	ours, theirs := streamPair(ctx)
	go func() {
		defer theirs.closeOut()
		d.serve(method, theirs)
	}()
	return ours, nil
}

var _ grpc.ClientConnInterface = dialled{}
