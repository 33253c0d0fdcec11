package tests

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"spillway/host/sim"
)

const (
	// readyTime is more than a start takes on a busy machine with the race
	// detector; endTime is more than serve gives answers under way.
	readyTime = time.Minute
	endTime   = 45 * time.Second
)

// daemon is a program that runs beside the script.
type daemon struct {
	cmd    *exec.Cmd
	lines  *bufio.Reader // the rest of its standard output
	stderr bytes.Buffer  // to be read when it has ended
}

// start runs a program in the background until its line "listening on URL". It
// sets $URL; what was printed up to then is stdout.
func start(ts *testscript.TestScript, neg bool, args []string) {
	r := rigOf(ts)
	usage(ts, len(args) >= 1 && !neg && r.daemon == nil, "start PROGRAM [ARGUMENT]... (one at a time)")
	// What the script has set is known to the programs that it runs only.
	ts.Check(ts.Exec("env"))
	env := strings.Split(strings.TrimSpace(ts.ReadFile("stdout")), "\n")
	d := &daemon{cmd: exec.Command(programOf(ts, args[0]), args[1:]...)}
	d.cmd.Env, d.cmd.Dir, d.cmd.Stderr = env, ts.Getenv("WORK"), &d.stderr
	stdout, err := d.cmd.StdoutPipe()
	ts.Check(err)
	d.lines = bufio.NewReader(stdout)
	ts.Check(d.cmd.Start())
	r.daemon = d
	ts.Defer(func() { // for a script that failed
		if r.daemon == d {
			d.cmd.Process.Kill()
			_ = d.cmd.Wait()
			ts.Logf("[standard error of %s]\n%s", args[0], &d.stderr)
		}
	})
	limit := time.AfterFunc(readyTime, func() { d.cmd.Process.Kill() })
	defer limit.Stop()
	for {
		line, err := d.lines.ReadString('\n')
		ts.Stdout().Write([]byte(line))
		if url, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on "); ok {
			ts.Setenv("URL", url)
			return
		}
		if err != nil {
			ts.Fatalf("%s ended before it was ready", args[0])
		}
	}
}

// programOf finds a program on the script's PATH.
func programOf(ts *testscript.TestScript, name string) string {
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		file := filepath.Join(dir, name)
		if _, err := os.Stat(file); err == nil {
			return file
		}
	}
	ts.Fatalf("%s is not on the PATH", name)
	return ""
}

// term sends SIGTERM to what start started, which must end with exit code 0.
// What it printed since it was ready is stdout and stderr. With -KILL it is
// killed.
func term(ts *testscript.TestScript, neg bool, args []string) {
	r := rigOf(ts)
	kill := slices.Equal(args, []string{"-KILL"})
	usage(ts, (len(args) == 0 || kill) && !neg && r.daemon != nil, "term [-KILL] (after start)")
	d := r.daemon
	r.daemon = nil
	sig := syscall.SIGTERM
	if kill {
		sig = syscall.SIGKILL
	}
	ts.Check(d.cmd.Process.Signal(sig))
	limit := time.AfterFunc(endTime, func() { d.cmd.Process.Kill() })
	defer limit.Stop()
	_, err := d.lines.WriteTo(ts.Stdout())
	ts.Check(err)
	err = d.cmd.Wait()
	ts.Stderr().Write(d.stderr.Bytes())
	if err != nil && !kill {
		ts.Fatalf("after SIGTERM: %v, want exit code 0; standard error:\n%s", err, &d.stderr)
	}
}

// vendorSet are the simulated vendors of a script.
type vendorSet map[string]*sim.Endpoint

// simulate runs simulated vendors, strict ones whose answers are numbered words
// ("w0@NAME w1@NAME"). It sets $NAME_URL, a base URL, and $NAME_ADDR. A vendor
// that runs already gets the new script.
func simulate(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, len(args) >= 1 && !neg, "sim NAME=SCRIPT...")
	r := rigOf(ts)
	o := sim.Options{KeepRequests: true}
	for _, arg := range args {
		name, script, _ := strings.Cut(arg, "=")
		if e := r.vendors[name]; e != nil {
			ts.Check(e.SetScript(script))
			continue
		}
		o.Vendors = append(o.Vendors, sim.Vendor{Name: name, Script: script, Strict: true, Answer: sim.Answer{Tokens: 5, Numbered: true}})
	}
	if o.Vendors == nil {
		return
	}
	s, err := sim.New(o)
	ts.Check(err)
	ts.Check(s.Start(context.Background(), "127.0.0.1:0"))
	ts.Defer(s.Close)
	if r.vendors == nil {
		r.vendors = vendorSet{}
	}
	for _, e := range s.Vendors() {
		r.vendors[e.Name()] = e
		name := strings.ToUpper(strings.ReplaceAll(e.Name(), "-", "_"))
		ts.Setenv(name+"_URL", e.URL()+"/v1")
		ts.Setenv(name+"_ADDR", strings.TrimPrefix(e.URL(), "http://"))
	}
}

// asked checks how often a simulated vendor was asked, and that the last request
// held a text.
func asked(ts *testscript.TestScript, neg bool, args []string) {
	const form = "asked NAME TIMES [TEXT] (after sim NAME=SCRIPT)"
	usage(ts, (len(args) == 2 || len(args) == 3) && !neg, form)
	e := rigOf(ts).vendors[args[0]]
	usage(ts, e != nil, form)
	calls := e.Calls()
	if got := strconv.Itoa(len(calls)); got != args[1] {
		ts.Fatalf("%s was asked %s times, want %s", args[0], got, args[1])
	}
	if len(args) == 3 && !bytes.Contains(calls[len(calls)-1].Body, []byte(args[2])) {
		ts.Fatalf("%s was not asked %q but %s", args[0], args[2], calls[len(calls)-1].Body)
	}
}
