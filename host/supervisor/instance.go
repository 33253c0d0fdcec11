package supervisor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
	// startTimeout bounds each step of a start: a plugin in Go takes 20 ms for
	// all of them, one in JavaScript half a second.
	startTimeout = 10 * time.Second
	// stopPatience is how long each gentle step of a stop may take.
	stopPatience = 500 * time.Millisecond
)

// instance is one process of a plugin with its session.
type instance struct {
	process *process
	client  *plugin.Client
	sockets string // the folder of its socket
	session *serve.Session

	mu      sync.Mutex
	users   int  // turns that hold it
	proven  bool // it held a turn to its end, or answered a heartbeat
	begun   time.Time
	retired bool
	idle    chan struct{} // closed when it is retired and nobody holds it
}

// launch starts a process and asks what it is. On error nothing is left.
func launch(ctx context.Context, o Options, out *output) (*instance, sdk.Manifest, error) {
	in := &instance{idle: make(chan struct{})}
	out.begin()
	limit := cmp.Or(o.StartTimeout, startTimeout)
	in.client = plugin.NewClient(&plugin.ClientConfig{
		HandshakeConfig:  serve.Handshake,
		Plugins:          plugin.PluginSet{serve.Dispense: &serve.GRPCPlugin{}},
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC},
		SkipHostEnv:      true,
		StartTimeout:     limit,
		Logger:           hclog.NewNullLogger(), // output reports what matters
		SyncStdout:       &lineWriter{f: func(l string) { out.line(false, l) }},
		SyncStderr:       &lineWriter{f: func(l string) { out.line(true, l) }},
		GRPCDialOptions:  serve.DialOptions(),
		UnixSocketConfig: &plugin.UnixSocketConfig{TempDir: socketDir()},
		RunnerFunc: func(_ hclog.Logger, cmd *exec.Cmd, sockets string) (runner.Runner, error) {
			in.sockets = sockets
			in.process = newProcess(ctx, o.Binary.Path, append(environment(os.Environ()), cmd.Env...), out.line)
			return in.process, nil
		},
	})
	conn, err := in.connect()
	if err != nil {
		in.kill()
		return nil, sdk.Manifest{}, in.startFault(ctx, err, o.Binary, limit, out)
	}
	describe, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	m, err := serve.Describe(describe, conn)
	if err != nil {
		in.kill()
		return nil, sdk.Manifest{}, in.describeFault(err, o.Binary, limit, out)
	}
	if err := checkManifest(m); err != nil {
		in.kill()
		return nil, sdk.Manifest{}, fmt.Errorf("%s %w", o.Binary.Source, err)
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

// configure opens the session and gives the plugin what it needs. On error the
// process is gone.
func (in *instance) configure(ctx context.Context, m sdk.Manifest, o Options, epoch uint64, outbox *serve.Outbox, out *output) error {
	limit := cmp.Or(o.StartTimeout, startTimeout)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("did not take its configuration within %s", limit))
	defer cancel()
	conn, err := in.connect()
	if err == nil {
		in.session, err = serve.Open(ctx, conn, m, serve.SessionOptions{
			Entry: o.Entry, Epoch: epoch, State: o.State, Outbox: outbox, Log: out.log, AskAlways: o.AskAlways,
			Record: o.Record, Report: o.Report, Probe: o.Probe,
		})
	}
	if err == nil {
		err = in.session.SetCatalogue(ctx, o.Catalogue)
	}
	if err == nil {
		err = in.session.Configure(ctx, sdk.Config{Entry: o.Entry, JSON: o.Config})
	}
	in.begun = time.Now()
	if err == nil {
		return nil
	}
	in.kill()
	if errors.Is(err, serve.ErrSessionEnded) {
		return fmt.Errorf("%s ended with %s while it was configured%s", o.Binary.Source, in.process.exit(), out.lastWord())
	}
	return fmt.Errorf("%s %w", o.Binary.Source, err)
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
	return in.proven
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
	in.end(stopPatience)
}

// end ends the process and frees what belongs to it. go-plugin would wait for
// ever for a process that the kernel does not let go.
func (in *instance) end(patience time.Duration) {
	if in.process == nil || in.process.stop(patience) {
		in.client.Kill() // frees its goroutines
	}
	if in.sockets != "" {
		os.RemoveAll(in.sockets) // go-plugin leaves it if the process never ran
	}
}

// kill ends the process at once. It may be called at any state of a start.
func (in *instance) kill() {
	if in.session != nil {
		in.session.Abandon(errors.New("killed by the host"))
	}
	in.end(0)
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

// socketDir is where the folders of sockets are made, each 0700. After a change
// of the user, XDG_RUNTIME_DIR is often somebody else's.
func socketDir() string {
	for _, dir := range []string{os.Getenv("XDG_RUNTIME_DIR"), os.TempDir()} {
		if len(dir) > maxSocketDir || !filepath.IsAbs(dir) {
			continue
		}
		if try, err := os.MkdirTemp(dir, "plugin-dir"); err == nil {
			os.Remove(try)
			return dir
		}
	}
	return "/tmp"
}
