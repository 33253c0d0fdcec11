package serve

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"
	"testing/synctest"

	"google.golang.org/protobuf/proto"

	wirepb "spillway/sdk/serve/proto"
)

// frame is one of n bytes.
func frame(t *testing.T, n int) *wirepb.ToPlugin {
	t.Helper()
	f := &wirepb.ToPlugin{Frame: &wirepb.ToPlugin_Configure{Configure: &wirepb.Configure{Config: make([]byte, n)}}}
	f.GetConfigure().Config = f.GetConfigure().Config[:n-(proto.Size(f)-n)]
	if got := proto.Size(f); got != n {
		t.Fatalf("a frame of %d bytes, want %d", got, n)
	}
	return f
}

// TestFrameLimit: a frame that gRPC would refuse, which kills the session of
// every call, is not sent.
func TestFrameLimit(t *testing.T) {
	l := newLink[*wirepb.ToPlugin]()
	if err := l.send(t.Context(), frame(t, MaxFrame)); err != nil {
		t.Errorf("at the limit: %v", err)
	}
	if !l.offer(frame(t, MaxFrame)) {
		t.Error("at the limit: not taken")
	}
	if err := l.send(t.Context(), frame(t, MaxFrame+1)); !errors.Is(err, ErrFrameTooLarge) {
		t.Errorf("one over it: got %v, want %v", err, ErrFrameTooLarge)
	}
	if l.offer(frame(t, MaxFrame+1)) {
		t.Error("one over it: taken")
	}
	if l.err() != nil || len(l.queue) != 2 {
		t.Errorf("the link: %v, %d frames queued, want 2", l.err(), len(l.queue))
	}
}

// TestPeerDoesNotRead: whoever sends to a peer that does not read waits for his
// own context only, and everybody is let go when the session ends.
func TestPeerDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLink[*wirepb.ToPlugin]()
		stuck := make(chan struct{})
		go l.write(func(*wirepb.ToPlugin) error { <-stuck; return io.ErrClosedPipe })
		small := frame(t, 100)
		for l.offer(small) {
			synctest.Wait()
		}
		if len(l.queue) != queueLen {
			t.Errorf("%d frames wait, want %d", len(l.queue), queueLen)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		errGone := errors.New("gone")
		cancel(errGone)
		if err := l.send(ctx, small); !errors.Is(err, errGone) {
			t.Errorf("got %v, want %v", err, errGone)
		}
		var wg sync.WaitGroup
		for range 64 {
			wg.Go(func() {
				if err := l.send(t.Context(), small); !errors.Is(err, ErrSessionEnded) {
					t.Errorf("got %v, want %v", err, ErrSessionEnded)
				}
			})
		}
		synctest.Wait()
		l.end(io.EOF)
		wg.Wait()
		close(stuck)
		synctest.Wait()
		if err := l.err(); !errors.Is(err, io.EOF) {
			t.Errorf("got %v: the first cause stays", err)
		}
	})
}
