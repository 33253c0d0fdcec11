package supervisor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"github.com/hashicorp/go-plugin/runner"
	"google.golang.org/grpc"

	"spillway/sdk"
	"spillway/sdk/serve"
)

const (
	startTimeout = 10 * time.Second
	// stopPatience is how long each gentle step of a stop may take.
	stopPatience = 500 * time.Millisecond
)

// instance is one process of a plugin with its session.
type instance struct {
	process *process
	client  *plugin.Client
	session *serve.Session

	mu      sync.Mutex
	users   int  // turns that hold it
	proven  bool // it held a turn to its end, or answered a heartbeat
	begun   time.Time
	retired bool
	idle    chan struct{} // closed when it is retired and nobody holds it
}

// launch starts a process and asks what it is. On error nothing is left.
func launch(ctx context.Context, b Binary, out *output) (*instance, sdk.Manifest, error) {
	in := &instance{idle: make(chan struct{})}
	in.client = plugin.NewClient(&plugin.ClientConfig{
		HandshakeConfig:  serve.Handshake,
		Plugins:          plugin.PluginSet{serve.Dispense: &serve.GRPCPlugin{}},
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC},
		SkipHostEnv:      true,
		StartTimeout:     startTimeout,
		Logger:           hclog.NewNullLogger(), // output reports what matters
		GRPCDialOptions:  serve.DialOptions(),
		UnixSocketConfig: &plugin.UnixSocketConfig{TempDir: socketDir()},
		RunnerFunc: func(_ hclog.Logger, cmd *exec.Cmd, _ string) (runner.Runner, error) {
			in.process = newProcess(ctx, b.Path, append(environment(os.Environ()), cmd.Env...), out.line)
			return in.process, nil
		},
	})
	conn, err := in.connect()
	if err != nil {
		in.kill()
		return nil, sdk.Manifest{}, startError(cmp.Or(context.Cause(ctx), err), out)
	}
	describe, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	m, err := serve.Describe(describe, conn)
	if err != nil {
		in.kill()
		return nil, sdk.Manifest{}, err
	}
	in.process.abort() // from here on the caller decides about its end
	return in, m, nil
}

func (in *instance) connect() (grpc.ClientConnInterface, error) {
	protocol, err := in.client.Client()
	if err != nil {
		return nil, err
	}
	raw, err := protocol.Dispense(serve.Dispense)
	if err != nil {
		return nil, err
	}
	return raw.(grpc.ClientConnInterface), nil
}

// startError says in our words why a process did not become a plugin.
func startError(err error, out *output) error {
	last := ""
	if lines := out.tail(); len(lines) > 0 {
		last = fmt.Sprintf("; its last line: %q", lines[len(lines)-1])
	}
	return fmt.Errorf("does not start as a plugin: %w%s", err, last)
}

// configure opens the session and gives the plugin what it needs. On error the
// process is gone.
func (in *instance) configure(ctx context.Context, m sdk.Manifest, o Options, epoch uint64, outbox *serve.Outbox, log *slog.Logger) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	conn, err := in.connect()
	if err == nil {
		in.session, err = serve.Open(ctx, conn, m, serve.SessionOptions{
			Entry: o.Entry, Epoch: epoch, State: o.State, Outbox: outbox, Log: log,
			Record: o.Record, Report: o.Report, Probe: o.Probe,
		})
	}
	if err == nil {
		err = in.session.SetCatalogue(ctx, o.Catalogue)
	}
	if err == nil {
		err = in.session.Configure(ctx, sdk.Config{Entry: o.Entry, JSON: o.Config})
	}
	if err != nil {
		in.kill()
	}
	in.begun = time.Now()
	return err
}

// take holds the instance for a turn; false if it is retired.
func (in *instance) take() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.retired || in.session.Err() != nil {
		return false
	}
	in.users++
	return true
}

func (in *instance) release() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.users--
	in.proven = in.proven || in.session.Err() == nil
	in.checkIdle()
}

// shortLife is the life of a process that dies of its start. One that lived
// longer and nobody asked is given the benefit of the doubt.
const shortLife = 250 * time.Millisecond

// answered notes a heartbeat; hasAnswered tells whether the process ever did
// its work.
func (in *instance) answered() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.proven = true
}

func (in *instance) hasAnswered() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.proven || time.Since(in.begun) > shortLife
}

// retire lets no further turn in.
func (in *instance) retire() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.retired = true
	in.checkIdle()
}

func (in *instance) checkIdle() {
	if in.retired && in.users == 0 {
		select {
		case <-in.idle:
		default:
			close(in.idle)
		}
	}
}

// stop drains and ends the process. Decisions are waited for, answers that flow
// are not: they do not need the plugin.
func (in *instance) stop(ctx context.Context) {
	in.retire()
	select {
	case <-in.idle:
		drain, cancel := context.WithTimeout(ctx, stopPatience)
		_ = in.session.Drain(drain)
		cancel()
	case <-ctx.Done():
	case <-in.session.Done():
	}
	in.session.Abandon(errors.New("stopped by the host"))
	in.process.stop(stopPatience)
	in.client.Kill() // frees go-plugin's goroutines and the socket's folder
}

// kill ends the process at once. It may be called at any state of a start.
func (in *instance) kill() {
	if in.session != nil {
		in.session.Abandon(errors.New("killed by the host"))
	}
	if in.process != nil {
		in.process.stop(0)
	}
	in.client.Kill()
}

// passedEnv are the host's variables that a plugin gets. None of them holds a
// credential.
var passedEnv = []string{"PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "TZ", "GOMAXPROCS", "GOTRACEBACK", "GORACE"}

func environment(host []string) []string {
	var env []string
	for _, name := range passedEnv {
		for _, kv := range host {
			if len(kv) > len(name) && kv[:len(name)] == name && kv[len(name)] == '=' {
				env = append(env, kv)
			}
		}
	}
	return env
}

// maxSocketDir leaves room for go-plugin's own folder and file below it: a unix
// socket's path has at most 104 bytes on macOS.
const maxSocketDir = 60

// socketDir is where the folders of sockets are made, each 0700.
func socketDir() string {
	for _, dir := range []string{os.Getenv("XDG_RUNTIME_DIR"), os.TempDir()} {
		if info, err := os.Stat(dir); err == nil && info.IsDir() && len(dir) <= maxSocketDir {
			return dir
		}
	}
	return "/tmp"
}
