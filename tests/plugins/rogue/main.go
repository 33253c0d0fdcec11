// Rogue is a plugin that passes every call on, well behaved until it has seen some
// calls, and then misbehaves as its mode says: it panics, is slow, never decides,
// floods its outputs, takes memory, or says what no plugin may say.
package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"os"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"spillway/sdk"
	"spillway/sdk/serve"
	wirepb "spillway/sdk/serve/proto"
)

//go:embed schema.json
var schema []byte

// soundCalls is how many calls are served well: a process that dies before it has
// answered would be switched off.
const soundCalls = 10

type rogue struct {
	mode  string
	calls atomic.Int64
	taken [][]byte // memory
}

// Manifest implements sdk.Plugin.
func (*rogue) Manifest() sdk.Manifest {
	return sdk.Manifest{Name: "rogue", Version: "0.1.0", Schema: schema, Hook: sdk.HookSpec{OnDown: sdk.OnDownBypass}}
}

// Configure implements sdk.Configurer.
func (r *rogue) Configure(_ context.Context, _ sdk.Host, c sdk.Config) error {
	var in struct {
		Mode string `json:"mode"`
	}
	if err := json.Unmarshal(c.JSON, &in); err != nil {
		return err
	}
	r.mode = in.Mode
	return nil
}

// LLMStream implements sdk.Plugin.
func (r *rogue) LLMStream(ctx context.Context, call *sdk.Call, next sdk.Next) (sdk.Stream, error) {
	n := r.calls.Add(1)
	if n <= soundCalls {
		return next(ctx, call.Request)
	}
	switch r.mode {
	case "panic":
		go panic("rogue")
	case "slow":
		if n%10 == 0 {
			wait(ctx, time.Duration(n%7)*100*time.Millisecond)
		}
	case "stuck":
		if n%20 == 0 {
			<-ctx.Done()
		}
	case "flood":
		if n == soundCalls+1 {
			go flood(os.NewFile(2, "standard error"))
			go flood(os.Stdout)
		}
	case "hog":
		if n == soundCalls+1 {
			for range 16 {
				r.taken = append(r.taken, bytes.Repeat([]byte{1}, 16<<20))
			}
		}
	}
	return next(ctx, call.Request)
}

func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// flood writes as fast as the host reads, for ever.
func flood(f *os.File) {
	line := append([]byte(`{"@level":"info","@message":"`), append(bytes.Repeat([]byte("x"), 500), "\"}\n"...)...)
	for {
		if _, err := f.Write(line); err != nil {
			return
		}
	}
}

// lies is the plugin's side of the wire, which says more than it should.
type lies struct {
	grpc.ServerStream
	r    *rogue
	sent atomic.Uint64
}

// SendMsg sends a frame, and around it what makes no sense: to calls that there are
// and calls that there are not, twice, out of turn, empty, and of no use.
func (l *lies) SendMsg(m any) error {
	f, ok := m.(*wirepb.ToHost)
	if !ok || l.r.mode != "frames" || l.r.calls.Load() <= soundCalls {
		return l.ServerStream.SendMsg(m)
	}
	n := l.sent.Add(1)
	nonsense := []*wirepb.ToHost{
		{},
		{Call: f.Call},
		{Call: 1 << 62, Frame: &wirepb.ToHost_Attempt{Attempt: &wirepb.Attempt{Attempt: 1 << 31}}},
		{Call: 1 << 62, Frame: &wirepb.ToHost_Finish{Finish: &wirepb.Finish{}}},
		{Call: 1 << 63, Frame: &wirepb.ToHost_Drop{Drop: &wirepb.Drop{Attempt: 77}}},
		{Call: 1 << 62, Frame: &wirepb.ToHost_OpenRelay{}},
		{Frame: &wirepb.ToHost_Ack{Ack: &wirepb.Ack{}}},
		{Frame: &wirepb.ToHost_Pong{Pong: &wirepb.Pong{Id: 1 << 60}}},
		{Frame: &wirepb.ToHost_Judged{}},
		{Frame: &wirepb.ToHost_Service{}},
		{Frame: &wirepb.ToHost_Status{}},
		{Frame: &wirepb.ToHost_Obeyed{}},
		{Frame: &wirepb.ToHost_Drained{}},
	}
	if err := l.ServerStream.SendMsg(nonsense[n%uint64(len(nonsense))]); err != nil {
		return err
	}
	return l.ServerStream.SendMsg(m)
}

func main() {
	r := &rogue{}
	srv := serve.NewServer(r, serve.Logger(os.Stderr))
	go func() {
		<-srv.Ended()
		os.Exit(0)
	}()
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig: serve.Handshake,
		Plugins:         plugin.PluginSet{serve.Dispense: &serve.GRPCPlugin{Service: srv}},
		Logger:          hclog.NewNullLogger(),
		GRPCServer: func(opts []grpc.ServerOption) *grpc.Server {
			return grpc.NewServer(append(opts, grpc.MaxRecvMsgSize(serve.MaxFrame), grpc.StreamInterceptor(
				func(s any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
					return handle(s, &lies{ServerStream: stream, r: r})
				}))...)
		},
	})
}
