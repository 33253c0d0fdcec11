package tests

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// replyTime is more than any answer of a script takes.
const replyTime = time.Minute

// pendingReply is an HTTP answer whose body is being read.
type pendingReply struct {
	resp *http.Response
	body []byte
	err  error
	done chan struct{} // closed when body and err are there
}

const requestUsage = "http [-H 'NAME: VALUE']... METHOD URL [BODYFILE] [&]"

// request sends an HTTP request. The body of the answer is stdout; stderr is its
// status line and headers, sorted. With & it returns when the answer has begun;
// reply waits for the rest. With ! the answer must break off.
func request(ts *testscript.TestScript, neg bool, args []string) {
	header := http.Header{}
	for len(args) > 1 && args[0] == "-H" {
		name, value, _ := strings.Cut(args[1], ": ")
		header.Set(name, value)
		args = args[2:]
	}
	background := len(args) > 0 && args[len(args)-1] == "&"
	if background {
		args = args[:len(args)-1]
	}
	usage(ts, len(args) == 2 || len(args) == 3, requestUsage)
	var body io.Reader
	if len(args) == 3 {
		body = strings.NewReader(ts.ReadFile(args[2]))
		header.Set("Content-Type", "application/json")
	}
	ctx, cancel := context.WithTimeout(context.Background(), replyTime)
	req, err := http.NewRequestWithContext(ctx, args[0], args[1], body)
	ts.Check(err)
	req.Header = header
	if host := header.Get("Host"); host != "" {
		req.Host = host
	}
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		cancel()
		ts.Fatalf("http: %v", err)
	}
	p := &pendingReply{resp: resp, done: make(chan struct{})}
	go func() {
		defer cancel()
		defer close(p.done)
		defer resp.Body.Close()
		p.body, p.err = io.ReadAll(resp.Body)
	}()
	ts.Defer(func() { cancel(); <-p.done })
	if background {
		rigOf(ts).reply = p
		return
	}
	p.show(ts, neg)
}

// reply waits for the answer to a request in the background.
func reply(ts *testscript.TestScript, neg bool, args []string) {
	p := rigOf(ts).reply
	usage(ts, len(args) == 0 && p != nil, "[!] reply (after http … &)")
	p.show(ts, neg)
}

func (p *pendingReply) show(ts *testscript.TestScript, neg bool) {
	<-p.done
	ts.Stdout().Write(p.body)
	lines := []string{}
	for name, values := range p.resp.Header {
		lines = append(lines, name+": "+strings.Join(values, ", "))
	}
	slices.Sort(lines)
	fmt.Fprintf(ts.Stderr(), "%s\n%s\n", p.resp.Status, strings.Join(lines, "\n"))
	switch {
	case neg && p.err == nil:
		ts.Fatalf("the answer came to its end")
	case !neg && p.err != nil:
		ts.Fatalf("the answer broke off: %v", p.err)
	}
}
