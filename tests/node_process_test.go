package tests

import (
	"bufio"
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"spillway/sdk"
	"spillway/sdk/serve"
)

// answerTime is more than the plugin takes for a few frames on a busy machine.
const answerTime = 10 * time.Second

// process: what a host relies on, without one.
func (n nodePlugin) process(t *testing.T) {
	t.Parallel()
	t.Run("by hand", func(t *testing.T) {
		t.Parallel()
		out, err := exec.CommandContext(t.Context(), n.path).CombinedOutput()
		if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 1 || !strings.Contains(string(out), "plugin of spillway") {
			t.Errorf("got %v, %q; want exit status 1 and the reason", err, out)
		}
	})
	t.Run("interrupt, then the host is gone", func(t *testing.T) {
		t.Parallel()
		p := n.start(t)
		if err := p.cmd.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		health := grpc_health_v1.NewHealthClient(p.conn)
		r, err := health.Check(t.Context(), &grpc_health_v1.HealthCheckRequest{Service: "plugin"})
		if err != nil || r.Status != grpc_health_v1.HealthCheckResponse_SERVING {
			t.Errorf("health: %v, %v", r, err)
		}
		p.lifeline.Close()
		p.wait(t)
	})
	t.Run("shutdown", func(t *testing.T) {
		t.Parallel()
		p := n.start(t)
		err := p.conn.Invoke(t.Context(), "/plugin.GRPCController/Shutdown", &emptypb.Empty{}, &emptypb.Empty{})
		if code := status.Code(err); code != codes.OK && code != codes.Unavailable { // its end is answer enough
			t.Error(err)
		}
		p.wait(t)
	})
	t.Run("session", func(t *testing.T) {
		t.Parallel()
		p := n.start(t)
		ctx, cancel := context.WithTimeout(t.Context(), answerTime)
		defer cancel()
		m, err := serve.Describe(ctx, p.conn)
		if err != nil {
			t.Fatal(err)
		}
		outbox := &serve.Outbox{}
		s, err := serve.Open(ctx, p.conn, m, serve.SessionOptions{Entry: nodeName, Epoch: 1, Outbox: outbox})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		set := func(second string) sdk.Config {
			return sdk.Config{Entry: nodeName, JSON: []byte(`{"second": "` + second + `"}`)}
		}
		if err := errors.Join(
			s.SetCatalogue(ctx, sdk.Catalogue{Revision: 1, Providers: []sdk.Provider{{Name: "a"}, {Name: "b"}}}),
			s.Configure(ctx, set("a/m")),
			s.Settings(ctx, set("b/m"), []string{"second"}),
		); err != nil {
			t.Error(err)
		}
		for err := s.Ping(ctx); err != nil; err = s.Ping(ctx) { // a busy machine loses one
			if ctx.Err() != nil {
				t.Fatal(err)
			}
		}
		want := sdk.Faults{{Path: "second", Value: "c/m", Message: "there is no such provider", Allowed: "a, b"}}
		faults, _ := errors.AsType[sdk.Faults](s.Settings(ctx, set("c/m"), []string{"second"}))
		if d := cmp.Diff(want, faults); d != "" {
			t.Errorf("faults (-want +got):\n%s", d)
		}
		outbox.Add(sdk.Outcome{Route: sdk.Route{Provider: "a", Model: "m"}})
		if err := s.Drain(ctx); err != nil {
			t.Error(err)
		}
		if n, _ := outbox.Pending(); n != 0 {
			t.Errorf("%d outcomes are not acknowledged", n)
		}
		s.Close()
		p.wait(t)
	})
}

// nodeProcess is the plugin without a host.
type nodeProcess struct {
	cmd      *exec.Cmd
	conn     *grpc.ClientConn
	lifeline *os.File // our end
}

// start runs the program until its handshake.
func (n nodePlugin) start(t *testing.T) nodeProcess {
	t.Helper()
	socketDir, err := os.MkdirTemp("", "node-") // shorter than t.TempDir
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(socketDir) })
	theirs, ours, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()
	t.Cleanup(func() { ours.Close() })
	p := nodeProcess{cmd: exec.CommandContext(t.Context(), n.path), lifeline: ours}
	p.cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "PLUGIN_UNIX_SOCKET_DIR=" + socketDir,
		serve.Handshake.MagicCookieKey + "=" + serve.Handshake.MagicCookieValue,
	}
	p.cmd.ExtraFiles = []*os.File{theirs}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	address, ok := strings.CutPrefix(strings.TrimSpace(line), "1|1|unix|")
	address, ok2 := strings.CutSuffix(address, "|grpc|")
	if !ok || !ok2 {
		t.Fatalf("handshake: got %q, %v", line, err)
	}
	p.conn, err = grpc.NewClient("passthrough:///plugin", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", address)
		}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.conn.Close() })
	return p
}

// wait waits until the process has ended, which must be soon and clean.
func (p nodeProcess) wait(t *testing.T) {
	t.Helper()
	limit := time.AfterFunc(stopTime, func() { p.cmd.Process.Kill() })
	defer limit.Stop()
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("the plugin ended with %v, want exit status 0 within %s", err, stopTime)
	}
}
