package plugintest

import (
	"context"
	"fmt"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	wirepb "spillway/sdk/serve/proto"
)

// wire watches the frames of a session, and lets a check have things happen on it
// that no plugin does when it is asked to. Its fields are guarded by mu.
type wire struct {
	mu       sync.Mutex
	deaf     bool // acknowledgements are lost
	twice    bool // outcomes come again
	withdraw bool // the next frame that comes is preceded by the end of the plan

	features []string // that the host offered
	batches  int      // frames with many outcomes
	running  int      // turns that began with an attempt
	plans    int      // frames from the plugin with a plan
	told     uint64   // the highest number of an outcome
	acks     []uint64
}

// intercept is a grpc.StreamClientInterceptor.
func (w *wire) intercept(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, open grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	s, err := open(ctx, desc, cc, method, opts...)
	if err != nil || method != wirepb.Plugin_Session_FullMethodName {
		return s, err
	}
	return &watched{ClientStream: s, wire: w}, nil
}

// watched is the host's end of a session.
type watched struct {
	grpc.ClientStream
	wire *wire
	held *wirepb.ToHost // came, but something comes before it; the reader's alone
}

func (s *watched) SendMsg(m any) error {
	times := 1
	if f, ok := m.(*wirepb.ToPlugin); ok && s.wire.sent(f) {
		times = 2
	}
	for range times {
		if err := s.ClientStream.SendMsg(m); err != nil {
			return err
		}
	}
	return nil
}

// sent notes a frame to the plugin. It reports whether it is to be sent twice.
func (w *wire) sent(f *wirepb.ToPlugin) (twice bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch m := f.Frame.(type) {
	case *wirepb.ToPlugin_Hello:
		w.features = m.Hello.Features
	case *wirepb.ToPlugin_Open:
		if m.Open.Running != nil {
			w.running++
		}
	case *wirepb.ToPlugin_Outcome:
		w.told = max(w.told, m.Outcome.Seq)
		return w.twice
	case *wirepb.ToPlugin_Outcomes:
		w.batches++
		for _, o := range m.Outcomes.Outcomes {
			w.told = max(w.told, o.Seq)
		}
		return w.twice
	}
	return false
}

func (s *watched) RecvMsg(m any) error {
	for {
		f := s.held
		s.held = nil
		if f == nil {
			f = new(wirepb.ToHost)
			if err := s.ClientStream.RecvMsg(f); err != nil {
				return err
			}
			lost, first := s.wire.came(f)
			if lost {
				continue
			}
			if first != nil {
				f, s.held = first, f
			}
		}
		proto.Merge(m.(*wirepb.ToHost), f)
		return nil
	}
}

// came notes a frame from the plugin. lost says that the host does not get it,
// first is what it gets before.
func (w *wire) came(f *wirepb.ToHost) (lost bool, first *wirepb.ToHost) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch m := f.Frame.(type) {
	case *wirepb.ToHost_Plan:
		w.plans++
	case *wirepb.ToHost_Ack:
		w.acks = append(w.acks, m.Ack.Seq)
		lost = w.deaf
	}
	if w.withdraw && !lost {
		w.withdraw = false
		first = &wirepb.ToHost{Frame: &wirepb.ToHost_Plan{Plan: &wirepb.Plan{}}}
	}
	return lost, first
}

// end has the plan of h end as if its plugin had withdrawn it.
func (w *wire) end(ctx context.Context, h *Host) {
	w.mu.Lock()
	w.withdraw = true
	w.mu.Unlock()
	h.read(ctx)
}

// read returns when the plugin has read what was sent before, and the host what
// came before the answer, or when ctx ends.
func (h *Host) read(ctx context.Context) {
	for ctx.Err() == nil && h.session.Ping(ctx) != nil && h.session.Err() == nil {
	}
}

// joined counts the turns that began with a running attempt.
func (w *wire) joined() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.running
}

// acknowledged complains about acknowledgements: each is of more than the one
// before it, and none of what was not told.
func (w *wire) acknowledged() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	last := uint64(0)
	for _, seq := range w.acks {
		switch {
		case seq <= last:
			return fmt.Errorf("outcome %d was acknowledged after %d", seq, last)
		case seq > w.told:
			return fmt.Errorf("outcome %d was acknowledged, %d is the last that was told", seq, w.told)
		}
		last = seq
	}
	return nil
}
