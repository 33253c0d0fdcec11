// Command bench measures side by side what a gateway costs and what it saves:
// the vendors asked directly, Go's reverse proxy as the floor, "spillway serve"
// without a plugin, with the failover plugin, and with that but without its
// standing plan, and any other gateway that -gateways names. "make bench" builds
// what it needs and runs it.
//
// Processes are real ones, on loopback: the vendors (package upstream) are one,
// each gateway is one with its children, and the load generator (package load) is
// this one. A gateway of ours is started anew for every cell, in an empty profile,
// so that none has a past; others run already and have the vendors that -vendors
// places. Rounds are interleaved, each begins one gateway further, and gateways are
// compared within a round. What other programs used of the machine meanwhile is in
// every cell; one that was disturbed is measured again while patience lasts.
//
// What it prints on standard error is progress; the tables go to standard output,
// and with the cells, a plot and the Go benchmarks' output into the folder results.
// The last line is for programs.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"spillway/tests/bench/upstream"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := command(ctx, os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		stop()
		os.Exit(1)
	}
}

// Roles of this program's processes besides the one that measures.
const (
	roleVendors = "vendors" // with the addresses of a and b
	roleFloor   = "floor"   // with the URL of a
)

func command(ctx context.Context, args []string) error {
	if len(args) == 3 && args[0] == roleVendors {
		return upstream.Serve(os.Stdin, os.Stdout, map[string]string{"a": args[1], "b": args[2]})
	}
	if len(args) == 2 && args[0] == roleFloor {
		return serveFloor(ctx, args[1], os.Stdout)
	}
	o := options{command: "make bench"}
	if len(args) > 0 {
		o.command += fmt.Sprintf(" ARGS=%q", strings.Join(args, " "))
	}
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.StringVar(&o.bin, "bin", "bin", "`folder` of spillway, plugins/failover and tools/benchstat")
	f.StringVar(&o.results, "results", "", "`folder` for what was measured (default tests/bench/results, and tmp in it for less than a whole run)")
	f.StringVar(&o.gateways, "gateways", "", "JSON `file` of other gateways: name, base_url, model, headers, pid, failover")
	f.StringVar(&o.vendors, "vendors", "127.0.0.1:0,127.0.0.1:0", "`addresses` of the vendors a and b, for other gateways to know")
	f.StringVar(&o.only, "only", "", "run only scenarios whose name begins so: "+strings.Join(names(), ", "))
	f.BoolVar(&o.short, "short", false, "a short run to try it out: one round, less of everything, nothing to quote")
	f.IntVar(&o.rounds, "rounds", 0, "`rounds` of each scenario (default 3, with -short 1)")
	f.DurationVar(&o.patience, "patience", time.Minute, "how long the whole run may wait for a quiet machine and measure again")
	f.DurationVar(&o.limit, "limit", 10*time.Minute, "when no further round of a scenario begins; each has one")
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() > 0 {
		return fmt.Errorf("%q: unknown argument", f.Arg(0))
	}
	return run(ctx, o)
}
