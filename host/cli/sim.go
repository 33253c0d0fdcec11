package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"spillway/host/sim"
)

func (a *app) simCommand() *cobra.Command {
	var listen, trust string
	var vendors []string
	c := &cobra.Command{
		Use:   "sim",
		Short: "Run simulated vendors that fail as scripted",
		Long: `Run simulated vendors on loopback. Each speaks Messages, Chat Completions and
Responses and fails as its script says, with recorded answers of the real
vendor. Without --vendor the three of the demo run.

A script is a list of steps, one for each request; the last one stays:

  429 retry-after=2; 500*3; cut=40; 503*60s; ok

A step is any status from 400 to 599 or one of these, where POS is a number of
tokens or "end", when the content is complete:

  ` + strings.Join(sim.Steps(), "\n  ") + `

After a step may stand *N for so many requests or *TIME for so long, and options:
after=TIME, retry-after=VALUE and header.NAME=VALUE for each; tokens=N,
reasoning=N, gap=TIME, tool=NAME and args=JSON for answers; for=TIME where the
vendor is silent; body=ID, a recorded error, for error-event.

The admin address takes GET and PUT /_sim/script?vendor=NAME, GET /_sim/log and
GET /_sim/vendors.`,
		Example: `  spillway sim --vendor anthropic=quota --vendor "deepseek=500*2; ok"`,
		RunE:    func(c *cobra.Command, _ []string) error { return a.sim(c.Context(), listen, trust, vendors) },
	}
	c.Flags().StringVar(&listen, "listen", "127.0.0.1:0", "loopback `ADDRESS` of the admin port; vendors take the ports after it")
	c.Flags().StringVar(&trust, "tls", "", "serve HTTPS and HTTP/2; what a client has to trust (SSL_CERT_FILE) is written to `FILE`")
	c.Flags().StringArrayVar(&vendors, "vendor", nil, "`NAME=SCRIPT` of a vendor, may be repeated")
	return c
}

func (a *app) sim(ctx context.Context, listen, trust string, vendors []string) error {
	o := sim.Demo()
	if len(vendors) > 0 {
		o.Vendors = nil
	}
	for _, v := range vendors {
		name, script, _ := strings.Cut(v, "=")
		o.Vendors = append(o.Vendors, sim.Vendor{Name: name, Script: script})
	}
	for i := range o.Vendors {
		o.Vendors[i].TLS = trust != ""
	}
	s, err := sim.New(o)
	if err != nil {
		return usageError{err}
	}
	if err := s.Start(ctx, listen); err != nil {
		if _, taken := errors.AsType[*net.OpError](err); taken {
			return listenError(err)
		}
		return usageError{fmt.Errorf("--listen: %w", err)}
	}
	defer s.Close()
	if trust != "" {
		if err := os.WriteFile(trust, s.Certificate(), 0o644); err != nil {
			return fmt.Errorf("--tls: %w", err)
		}
	}
	for _, e := range s.Vendors() {
		fmt.Fprintf(a.stdout, "%s on %s/v1 (%s)\n", e.Name(), e.URL(), e.Script())
	}
	fmt.Fprintf(a.stdout, "listening on %s\n", s.AdminURL())
	<-ctx.Done()
	return nil
}
