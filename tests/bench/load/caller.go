package load

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"spillway/tests/bench/mark"
	"spillway/tests/bench/upstream"
)

const (
	lineBuffer = 4 << 10 // of each answer under way; grows to maxLine
	maxLine    = 1 << 20
	maxAnswer  = 1 << 20
	maxSaid    = 300 // of what a failed request was told
)

// caller asks one gateway. It is safe for concurrent use.
type caller struct {
	plan    Plan
	url     string
	headers http.Header
	before  []byte // the request's mark
	after   []byte
	client  *http.Client
	buffers sync.Pool
}

func newCaller(t Target, p Plan) *caller {
	// The model is a name of ours or a flag's; quoting makes it JSON.
	model, _ := json.Marshal(t.Model)
	c := &caller{
		plan:    p,
		url:     strings.TrimSuffix(t.BaseURL, "/") + "/chat/completions",
		headers: http.Header{"Content-Type": {"application/json"}},
		before:  fmt.Appendf(nil, `{"model":%s,"stream":%t,"max_tokens":1000,"messages":[{"role":"user","content":"`, model, p.Stream),
		after:   []byte(" " + upstream.Filler(p.Bytes) + `"}]}`),
		client:  &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: p.Callers, DisableCompression: true}},
	}
	c.buffers.New = func() any { b := make([]byte, lineBuffer); return &b }
	for k, v := range t.Headers {
		c.headers.Set(k, v)
	}
	return c
}

func (c *caller) close() { c.client.CloseIdleConnections() }

// ask sends request i, which was due then, and reads its answer to the end.
func (c *caller) ask(ctx context.Context, i int, due time.Time) (r result) {
	defer func() { r.took = time.Since(due) }()
	ctx, cancel := context.WithTimeout(ctx, c.plan.Timeout)
	defer cancel()
	body := slices.Concat(c.before, mark.Mark{Name: "r", Seq: i, At: time.Now()}.Append(nil), c.after)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return failed(NoAnswer, err)
	}
	req.Header = maps.Clone(c.headers)
	resp, err := c.client.Do(req)
	if err != nil {
		return failed(NoAnswer, err)
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode != http.StatusOK:
		said, _ := io.ReadAll(io.LimitReader(resp.Body, maxSaid))
		return result{outcome: Outcome(statusBegin + strconv.Itoa(resp.StatusCode)), said: string(said)}
	case c.plan.Stream:
		return c.stream(resp.Body, due)
	}
	return c.whole(resp.Body, due)
}

// failed is the end by an error of the connection, or by the caller's patience.
func failed(otherwise Outcome, err error) result {
	if errors.Is(err, context.DeadlineExceeded) {
		otherwise = Timeout
	}
	return result{outcome: otherwise, said: err.Error()}
}

func (c *caller) stream(body io.Reader, due time.Time) result {
	buf := c.buffers.Get().(*[]byte)
	defer c.buffers.Put(buf)
	lines := bufio.NewScanner(body)
	lines.Buffer(*buf, maxLine)
	read := reading{delays: make([]time.Duration, 0, c.plan.Chunks)}
	var last []byte
	for lines.Scan() {
		read.line(lines.Bytes())
		if read.failed && last == nil {
			last = bytes.Clone(lines.Bytes()[:min(len(lines.Bytes()), maxSaid)])
		}
	}
	err := lines.Err()
	r := result{outcome: read.outcome(c.plan.Chunks, err != nil), said: string(last), delays: read.delays}
	if err != nil && r.outcome == Broken {
		f := failed(Broken, err)
		r.outcome, r.said = f.outcome, f.said
	}
	if !read.first.IsZero() {
		r.first = read.first.Sub(due)
	}
	return r
}

func (c *caller) whole(body io.Reader, due time.Time) result {
	text, err := io.ReadAll(io.LimitReader(body, maxAnswer))
	if err != nil {
		return failed(Broken, err)
	}
	now := time.Now()
	m, rest, ok := mark.Find(text)
	if !ok || m.Seq != 0 || !bytes.HasPrefix(rest, []byte(upstream.Filler(c.plan.Bytes))) || !stops(rest) {
		return result{outcome: Unreadable, said: string(text[:min(len(text), maxSaid)])}
	}
	return result{outcome: OK, first: now.Sub(due)}
}
