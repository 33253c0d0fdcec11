package serve

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"spillway/sdk"
	wirepb "spillway/sdk/serve/proto"
)

// lifelineFD is the pipe whose other end the host holds. It reads end-of-file
// when the host is gone, however it went.
const lifelineFD = 3

// Main runs p as a plugin process. It never returns: the process ends when the
// host closes the session or is gone. Standard error carries the log in hclog's
// JSON form; standard output belongs to the handshake.
func Main(p sdk.Plugin) {
	log := Logger(os.Stderr)
	// The lifeline, the session and the server end together: the first of them
	// leaves, and whoever comes after waits for that and not the other way round.
	var once sync.Once
	leave := func() { once.Do(leave) }
	go watchLifeline(leave)
	srv := NewServer(p, log)
	go func() {
		<-srv.Ended()
		leave()
	}()
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig: Handshake,
		Plugins:         plugin.PluginSet{Dispense: &GRPCPlugin{Service: srv}},
		Logger:          hclog.NewNullLogger(), // go-plugin's own lines; ours go through log
		GRPCServer: func(opts []grpc.ServerOption) *grpc.Server {
			return grpc.NewServer(append(opts, serverOptions()...)...)
		},
	})
	leave()
}

// watchLifeline leaves once the lifeline reads end-of-file. A process started
// without one (under a debugger, by another host) has no pipe there and relies
// on the session's end.
func watchLifeline(leave func()) {
	f := os.NewFile(lifelineFD, "lifeline")
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		return
	}
	_, err := f.Read(make([]byte, 1))
	if err == nil || errors.Is(err, io.EOF) {
		leave()
	}
}

// leave ends the process. The folder of its socket, which the host has made for
// it alone, goes too: a host that was killed cannot remove it. A server that has
// ended has removed the socket itself.
func leave() {
	dir := os.Getenv(plugin.EnvUnixSocketDir)
	files, err := os.ReadDir(dir)
	if err == nil && len(files) == 1 && files[0].Type() == os.ModeSocket {
		os.Remove(filepath.Join(dir, files[0].Name()))
		files = nil
	}
	if err == nil && len(files) == 0 {
		os.Remove(dir)
	}
	os.Exit(0)
}

// Logger returns a logger that writes hclog's JSON lines, which a host turns
// back into log entries with their levels.
func Logger(w io.Writer) *slog.Logger {
	return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{
		Level: slog.LevelDebug,
		ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
			if len(groups) > 0 {
				return a
			}
			switch a.Key {
			case slog.TimeKey:
				a.Key = "@timestamp"
			case slog.LevelKey:
				a = slog.String("@level", levelName(a.Value.Any().(slog.Level)))
			case slog.MessageKey:
				a.Key = "@message"
			}
			return a
		},
	}))
}

func levelName(l slog.Level) string {
	switch {
	case l < slog.LevelInfo:
		return "debug"
	case l < slog.LevelWarn:
		return "info"
	case l < slog.LevelError:
		return "warn"
	}
	return "error"
}

// GRPCPlugin is what go-plugin serves and dispenses. A plugin's side sets
// Service; a host's side dispenses a grpc.ClientConnInterface for [Open].
type GRPCPlugin struct {
	plugin.NetRPCUnsupportedPlugin
	Service *Server
}

var _ plugin.GRPCPlugin = (*GRPCPlugin)(nil)

// GRPCServer registers the plugin's service.
func (g *GRPCPlugin) GRPCServer(_ *plugin.GRPCBroker, s *grpc.Server) error {
	wirepb.RegisterPluginServer(s, g.Service)
	return nil
}

// GRPCClient returns the connection itself.
func (g *GRPCPlugin) GRPCClient(_ context.Context, _ *plugin.GRPCBroker, c *grpc.ClientConn) (any, error) {
	return c, nil
}
