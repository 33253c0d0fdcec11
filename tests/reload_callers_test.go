package tests

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"spillway/host/control"
	"spillway/host/state/record"
	"spillway/tests/internal/caller"
)

// flaw says what is wrong with an answer, "" if it is whole.
func flaw(a caller.Answer, tokens int) string {
	switch {
	case errors.Is(a.Err, context.DeadlineExceeded):
		return "hung"
	case a.Status != http.StatusOK && a.Status != 0:
		return "bypassed" // one vendor answers always, so nobody moved the call
	case a.Err != nil && a.Text == "":
		return "lost"
	case a.Err != nil || a.Problem != "" || !a.Done:
		return "cut"
	case a.Broken != nil:
		return "broken" // a rule of the dialect
	}
	words := strings.Fields(a.Text)
	for i, w := range words {
		var n int
		var vendor, first string
		_, err := fmt.Sscanf(strings.ToLower(w), "w%d@%s", &n, &vendor)
		_, first, _ = strings.Cut(words[0], "@")
		switch {
		case err != nil || n > i:
			return "gap"
		case n < i:
			return "doubled"
		case !strings.HasSuffix(w, "@"+first) || (w[0] == 'W') != (words[0][0] == 'W'):
			return "mixed" // of two vendors, or half of it capitals
		}
	}
	if len(words) != tokens {
		return "cut"
	}
	return ""
}

// callers stream answers through a gateway, over and over.
type callers struct {
	t      *testing.T
	url    string
	body   string
	tokens int
	client *http.Client
	hand   func(caller.Answer) // gets each whole answer

	stop    chan struct{}
	once    sync.Once // guards stop
	wg      sync.WaitGroup
	calls   atomic.Int64
	longest atomic.Int64 // ns

	mu    sync.Mutex
	flaws map[string]int
}

// callTime only catches a call that hangs: one takes a tenth of a second.
const callTime = 30 * time.Second

func (c *callers) start(n int) {
	c.stop, c.flaws = make(chan struct{}), map[string]int{}
	c.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: n}}
	for range n {
		c.wg.Go(func() {
			for {
				select {
				case <-c.stop:
					return
				default:
					c.call()
				}
			}
		})
	}
}

// end lets the calls under way end. It may be called more than once.
func (c *callers) end() {
	c.once.Do(func() { close(c.stop) })
	c.wg.Wait()
	c.client.CloseIdleConnections()
}

func (c *callers) call() {
	ctx, cancel := context.WithTimeout(context.Background(), callTime)
	defer cancel()
	a := caller.Ask(ctx, c.client, c.url, caller.Chat, c.body)
	c.calls.Add(1)
	took := int64(a.Took())
	for old := c.longest.Load(); took > old && !c.longest.CompareAndSwap(old, took); old = c.longest.Load() {
	}
	if flaw := flaw(a, c.tokens); flaw != "" {
		c.mu.Lock()
		c.flaws[flaw]++
		c.mu.Unlock()
		c.t.Errorf("%s: request %s, %v, %q", flaw, a.ID, errors.Join(a.Err, a.Broken), a.Text)
		return
	}
	c.hand(a)
}

// run is a whole answer with the facts of its record.
type run struct {
	caller.Answer
	graph uint64
	order []string // the vendors asked after the head, in turn
	whole bool     // order ends with the vendor that always answers
}

func (r run) loud() bool { return strings.HasPrefix(r.Text, "W") }

// history gathers the runs while they are made: a host keeps a bounded number of
// records.
type history struct {
	answers chan caller.Answer
	once    sync.Once // guards the end of answers
	done    chan struct{}

	mu   sync.Mutex
	runs []run
}

func remember(t *testing.T, dir string) *history {
	h := &history{answers: make(chan caller.Answer, 1<<14), done: make(chan struct{})}
	client := control.NewClient(dir)
	go func() {
		defer close(h.done)
		for a := range h.answers {
			rec, err := client.Request(context.Background(), a.ID)
			if err != nil {
				t.Errorf("record of %s: %v", a.ID, err)
				continue
			}
			h.add(t, a, rec)
		}
	}()
	return h
}

func (h *history) add(t *testing.T, a caller.Answer, rec record.Request) {
	r := run{Answer: a, graph: rec.Graph}
	asked := map[string]bool{}
	for i, at := range rec.Attempts {
		last := i == len(rec.Attempts)-1
		name := at.Route.Provider
		if asked[name] || (i == 0) != (name == soakHead) || (at.Outcome == record.AttemptOK) != last {
			t.Errorf("attempts of %s are not one walk through the list: %+v", a.ID, rec.Attempts)
			return
		}
		asked[name] = true
		if i > 0 {
			r.order = append(r.order, name)
			r.whole = name == soakHealthy
		}
	}
	if rec.Graph == 0 || len(rec.Attempts) == 0 {
		t.Errorf("record of %s: graph %d, %d attempts", a.ID, rec.Graph, len(rec.Attempts))
		return
	}
	h.mu.Lock()
	h.runs = append(h.runs, r)
	h.mu.Unlock()
}

// last is the run whose record was read last.
func (h *history) last() run {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.runs) == 0 {
		return run{}
	}
	return h.runs[len(h.runs)-1]
}

// all waits for the records of what was handed over. It may be called more than
// once.
func (h *history) all() []run {
	h.once.Do(func() { close(h.answers) })
	<-h.done
	return h.runs
}
