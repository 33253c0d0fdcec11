package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"slices"
	"sync"
	"testing"
	"time"
)

const (
	checkEvery = 50 * time.Millisecond
	checkLimit = time.Second
	// falls is after how many failed checks a node is given up, with its calls.
	falls        = 2
	connectLimit = time.Second
	maxQuestion  = 1 << 20
)

// member is a node as the balancer knows it. All but the first two are guarded by
// balancer.mu.
type member struct {
	name, url string

	up     bool // gets new calls
	failed int  // checks in a row
	drains bool // it has said so
	life   context.Context
	end    context.CancelFunc // ends its calls
}

// passage is one call's way through the balancer. A call that no node would take
// has no member.
type passage struct {
	member  *member
	sent    time.Time // when a connection was made
	ended   time.Time // zero: under way
	refused int       // nodes to which none could be made
	err     error     // why the answer broke
}

// balancer gives calls to its members in turn.
type balancer struct {
	url   string
	token string

	client *http.Client

	mu       sync.Mutex
	members  []*member
	next     int
	passages []*passage
}

// errConnect is a failure before anything was sent.
var errConnect = errors.New("no connection")

func newBalancer(t *testing.T, token string) *balancer {
	t.Helper()
	life, stop := context.WithCancel(context.Background())
	b := &balancer{token: token, client: &http.Client{Transport: &http.Transport{
		// A kept connection may have died unseen, and then it is not known
		// whether a call was sent.
		DisableKeepAlives: true,
		DialContext:       (&net.Dialer{Timeout: connectLimit}).DialContext,
	}}}
	front := httptest.NewServer(b)
	b.url = front.URL
	var checks sync.WaitGroup
	checks.Go(func() { b.check(life) })
	t.Cleanup(func() {
		stop()
		checks.Wait()
		front.CloseClientConnections()
		front.Close()
	})
	return b
}

// add makes a node a member, which gets calls once it is healthy.
func (b *balancer) add(name, url string) *member {
	m := &member{name: name, url: url}
	m.life, m.end = context.WithCancel(context.Background())
	b.mu.Lock()
	defer b.mu.Unlock()
	b.members = append(b.members, m)
	return m
}

// check asks the members for their health until ctx ends.
func (b *balancer) check(ctx context.Context) {
	tick := time.NewTicker(checkEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		b.mu.Lock()
		members := slices.Clone(b.members)
		b.mu.Unlock()
		var wg sync.WaitGroup
		for _, m := range members {
			wg.Go(func() { b.judge(m, b.health(ctx, m)) })
		}
		wg.Wait()
	}
}

// health is the status of a member's answer, 0 if there is none.
func (b *balancer) health(ctx context.Context, m *member) int {
	ctx, cancel := context.WithTimeout(ctx, checkLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, m.url+"/health", nil)
	if err != nil {
		return 0
	}
	req.Header.Set("Authorization", "Bearer "+b.token)
	resp, err := b.client.Do(req)
	if err != nil {
		return 0
	}
	resp.Body.Close()
	return resp.StatusCode
}

// judge takes in what a check found. A node that drains keeps its calls.
func (b *balancer) judge(m *member, status int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch status {
	case http.StatusOK:
		if m.life.Err() != nil {
			m.life, m.end = context.WithCancel(context.Background())
		}
		m.up, m.failed, m.drains = true, 0, false
	case 0:
		if m.failed++; m.failed >= falls {
			m.up = false
			if !m.drains { // it has stopped listening, and its calls go on
				m.end()
			}
		}
	default:
		m.up, m.failed, m.drains = false, 0, true
	}
}

// up reports whether a member gets calls.
func (b *balancer) up(m *member) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return m.up
}

// pick is the next healthy member that a call has not tried yet, nil if there is
// none.
func (b *balancer) pick(tried []*member) (m *member, life context.Context) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for range b.members {
		m := b.members[b.next%len(b.members)]
		b.next++
		if m.up && !slices.Contains(tried, m) {
			return m, m.life
		}
	}
	return nil, nil
}

// ServeHTTP implements http.Handler.
func (b *balancer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// Read whole: what was sent in part could go nowhere else.
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxQuestion))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	p := &passage{}
	b.mu.Lock()
	b.passages = append(b.passages, p)
	b.mu.Unlock()
	err = b.pass(w, r, body, p)
	b.mu.Lock()
	p.ended, p.err = time.Now(), err
	b.mu.Unlock()
	if err != nil {
		panic(http.ErrAbortHandler) // the client sees a connection that breaks
	}
}

// pass finds a node for a call and relays its answer.
func (b *balancer) pass(w http.ResponseWriter, r *http.Request, body []byte, p *passage) error {
	var tried []*member
	for {
		m, life := b.pick(tried)
		if m == nil || r.Context().Err() != nil {
			return errConnect
		}
		err := b.send(w, r, body, p, m, life)
		if !errors.Is(err, errConnect) {
			return err
		}
		tried = append(tried, m)
		b.mu.Lock()
		p.refused++
		b.mu.Unlock()
	}
}

// send makes a call at a member.
func (b *balancer) send(w http.ResponseWriter, r *http.Request, body []byte, p *passage, m *member, life context.Context) error {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(life, cancel)()
	connected := false
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) {
		b.mu.Lock()
		defer b.mu.Unlock()
		p.member, p.sent, connected = m, time.Now(), true
	}})
	out, err := http.NewRequestWithContext(ctx, r.Method, m.url+r.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		return err
	}
	out.Header = r.Header.Clone()
	resp, err := b.client.Do(out)
	if err != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		if !connected {
			return fmt.Errorf("%w: %w", errConnect, err)
		}
		return err
	}
	defer resp.Body.Close()
	maps.Copy(w.Header(), resp.Header)
	w.Header().Del("Connection")
	w.WriteHeader(resp.StatusCode)
	return relay(w, resp.Body)
}

// relay passes on each piece as it comes.
func relay(w http.ResponseWriter, from io.Reader) error {
	flush := http.NewResponseController(w)
	for buf := make([]byte, 32<<10); ; {
		n, err := from.Read(buf)
		if n > 0 {
			if _, err := w.Write(buf[:n]); err != nil {
				return err
			}
			if err := flush.Flush(); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// seen are the calls so far.
func (b *balancer) seen() []passage {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := make([]passage, len(b.passages))
	for i, p := range b.passages {
		all[i] = *p
	}
	return all
}

// underWay is how many calls a member has.
func (b *balancer) underWay(m *member) (n int) {
	for _, p := range b.seen() {
		if p.member == m && p.ended.IsZero() {
			n++
		}
	}
	return n
}
