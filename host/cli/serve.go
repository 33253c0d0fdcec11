package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"spillway/host"
	"spillway/host/control"
	"spillway/host/dialect/failure"
	"spillway/host/gateway"
	"spillway/host/profile"
	"spillway/host/web"
)

// drainTime is how long answers under way may take to end after a signal.
const drainTime = 30 * time.Second

// tokenVariable holds the token that clients must send. It is not a flag: the
// arguments of a process can be read by others.
const tokenVariable = "SPILLWAY_TOKEN"

// shortestToken is what cannot be guessed over a network, which nothing else keeps
// anybody from trying, if it is random. On this machine any token does.
const shortestToken = 16

// defaultListen is where serve listens unless told otherwise.
const defaultListen = "127.0.0.1:8790"

func (a *app) serveCommand() *cobra.Command {
	var listen string
	var drain time.Duration
	c := &cobra.Command{
		Use:   "serve",
		Short: "Serve the vendors' APIs on this machine",
		Long: `Serve the vendors' own APIs: POST /v1/messages, POST /v1/chat/completions,
POST /v1/responses, GET /v1/models. Point a client's base URL here and it
survives what its vendor does. A browser finds a page at /: what runs, each request,
orders. GET /metrics is for a Prometheus; at the log level info each call leaves a
line.

Several may serve one profile: what one learns of a vendor the others know within
a second.

Prints "listening on http://…" when it is ready. SIGTERM and Ctrl-C let answers
under way end (` + drainTime.String() + ` at most), then it exits with 0. Before that it serves for as long
as --drain says, while GET /health answers 503: time for a balancer to send calls
elsewhere. Addresses other than
loopback need a token in ` + tokenVariable + `, which the page asks for, too. It has
16 bytes or more.`,
		Example: `  spillway serve
  ANTHROPIC_BASE_URL=http://127.0.0.1:8790 claude`,
		RunE: func(c *cobra.Command, _ []string) error { return a.serve(c.Context(), listen, drain) },
	}
	c.Flags().StringVar(&listen, "listen", defaultListen, "`ADDRESS` to listen on; port 0 for a free one")
	c.Flags().DurationVar(&drain, "drain", 0, "`TIME` between a signal and the end of listening, for a balancer to see that /health is not ok")
	return c
}

func (a *app) serve(ctx context.Context, listen string, drain time.Duration) error {
	if drain < 0 {
		return usageError{fmt.Errorf("--drain: %s is negative (allowed: 0 or a time like 10s)", drain)}
	}
	token, _ := a.env(tokenVariable)
	hostname, port, err := net.SplitHostPort(listen)
	if err != nil {
		return usageError{fmt.Errorf("--listen: %q is no address of the form host:port", listen)}
	}
	if _, err := net.LookupPort("tcp", port); err != nil {
		return usageError{fmt.Errorf("--listen: %q is no port", port)}
	}
	if ip := net.ParseIP(hostname); hostname != "localhost" && (ip == nil || !ip.IsLoopback()) {
		switch {
		case token == "":
			return usageError{fmt.Errorf("--listen: %s is not loopback: set %s to a token that clients must send", listen, tokenVariable)}
		case len(token) < shortestToken:
			return usageError{fmt.Errorf("--listen: %s is not loopback: the token in %s has %d bytes (allowed: %d at least, random ones: openssl rand -hex 16)",
				listen, tokenVariable, len(token), shortestToken)}
		}
	}
	log, err := a.logger()
	if err != nil {
		return err
	}
	tellOpenFiles(log)
	a.collectLess()
	rt, err := a.runtime(ctx, true)
	if err != nil {
		return err
	}
	defer rt.Close()
	if ctx.Err() != nil {
		return nil // ended while it started
	}
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return listenError(err)
	}
	defer l.Close()
	address := "http://" + l.Addr().String()
	page := web.New(web.Options{Runtime: rt, Address: address, Log: log})
	gate := gateway.New(gateway.Options{
		Runtime: rt, Token: profile.Secret(token), Hosts: []string{hostname}, Log: log, Page: page,
	})
	srv := gateway.HTTPServer(gate)
	srv.RegisterOnShutdown(page.Close)
	ctl, err := control.Serve(rt.Dir(), &controlled{runtime: rt, address: address})
	if err != nil {
		return err
	}
	defer ctl.Close()
	if ctl.Path() != control.Path(rt.Dir()) {
		log.Info("another process serves this profile: what one learns the other knows", "profile", rt.Dir(), "socket", ctl.Path())
	}

	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	fmt.Fprintf(a.stdout, "listening on %s\n", address)
	if err := a.notify("READY=1"); err != nil {
		log.Warn("the service manager was not told", "err", err.Error())
	}
	a.tellHidden(log)
	failure.Prepare()    // the first vendor that fails finds it done
	debug.FreeOSMemory() // a megabyte that the start alone has used
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	_ = a.notify("STOPPING=1") // it has asked for that
	if drain > 0 {
		gate.Drain()
		log.Info("draining: a balancer sends calls elsewhere", "for", drain.String())
		select {
		case err := <-served:
			return err
		case <-time.After(drain):
		}
	}
	end, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	if err := srv.Shutdown(end); err != nil {
		log.Warn("answers under way were cut", "after", drainTime.String())
		srv.Close()
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// tellHidden warns of the profile's plugins that hide newer ones: after an upgrade
// the old ones go on.
func (a *app) tellHidden(log *slog.Logger) {
	o, err := a.options()
	if err != nil {
		return
	}
	files, err := host.PluginFiles(o)
	if err != nil {
		return // whoever names such a plugin was told
	}
	for _, f := range files {
		if h, ok := host.HiddenBy(o, f); ok && h.Newer {
			log.Warn("the profile's copy of a plugin hides a newer one: delete the copy to run that", "plugin", f.Module, "copy", f.Path, "newer", h.Path)
		}
	}
}

// listenError says why an address cannot be had.
func listenError(err error) error {
	op, ok := errors.AsType[*net.OpError](err)
	switch {
	case !ok || op.Addr == nil:
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("--listen: %s is taken by another program (allowed: a free port; 0 finds one)", op.Addr)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("--listen: %s is no address of this machine", op.Addr)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("--listen: %s is not for everybody (allowed: a port above 1023)", op.Addr)
	}
	return fmt.Errorf("--listen: %w", err)
}

// controlled is a runtime as the control socket shows it.
type controlled struct {
	runtime *host.Runtime
	address string
}
