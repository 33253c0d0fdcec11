package tests

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"spillway/host/control"
	"spillway/host/state/record"
)

// answer is what a caller got over HTTP.
type answer struct {
	id         string // of the request
	begin, end time.Time
	status     int
	text       string
	finishes   int  // events with a finish reason
	done       bool // the terminator came
	err        error
}

// flaw says what is wrong with an answer, "" if it is whole.
func (a answer) flaw(tokens int) string {
	switch {
	case errors.Is(a.err, context.DeadlineExceeded):
		return "hung"
	case a.status != http.StatusOK && a.status != 0:
		return "bypassed" // one vendor answers always, so nobody moved the call
	case a.err != nil && a.text == "":
		return "lost"
	case a.err != nil || !a.done || a.finishes == 0:
		return "cut"
	case a.finishes > 1:
		return "doubled"
	}
	words := strings.Fields(a.text)
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
	hand   func(answer) // gets each whole answer

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
	a := answer{begin: time.Now()}
	a.err = c.stream(&a)
	a.end = time.Now()
	c.calls.Add(1)
	took := int64(a.end.Sub(a.begin))
	for old := c.longest.Load(); took > old && !c.longest.CompareAndSwap(old, took); old = c.longest.Load() {
	}
	if flaw := a.flaw(c.tokens); flaw != "" {
		c.mu.Lock()
		c.flaws[flaw]++
		c.mu.Unlock()
		c.t.Errorf("%s: request %s, %v, %q", flaw, a.id, a.err, a.text)
		return
	}
	c.hand(a)
}

func (c *callers) stream(a *answer) error {
	ctx, cancel := context.WithTimeout(context.Background(), callTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+"/v1/chat/completions", strings.NewReader(c.body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	a.status = resp.StatusCode
	a.id = resp.Header.Get("X-Spillway-Request-Id")
	if a.status != http.StatusOK {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<16))
		return fmt.Errorf("%s: %s", resp.Status, body)
	}
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		if data == "[DONE]" {
			a.done = true
			continue
		}
		var chunk struct {
			Choices []struct {
				Delta  struct{ Content string }
				Finish *string `json:"finish_reason"`
			}
			Error json.RawMessage
		}
		if err := json.Unmarshal([]byte(data), &chunk); err != nil {
			return err
		}
		if chunk.Error != nil {
			return fmt.Errorf("the answer ends with an error: %s", chunk.Error)
		}
		for _, ch := range chunk.Choices {
			a.text += ch.Delta.Content
			if ch.Finish != nil {
				a.finishes++
			}
		}
	}
	return lines.Err()
}

// run is a whole answer with the facts of its record.
type run struct {
	answer
	graph uint64
	order []string // the vendors asked after the head, in turn
	whole bool     // order ends with the vendor that always answers
}

func (r run) loud() bool { return strings.HasPrefix(r.text, "W") }

// history gathers the runs while they are made: a host keeps a bounded number of
// records.
type history struct {
	answers chan answer
	once    sync.Once // guards the end of answers
	done    chan struct{}

	mu   sync.Mutex
	runs []run
}

func remember(t *testing.T, dir string) *history {
	h := &history{answers: make(chan answer, 1<<14), done: make(chan struct{})}
	client := control.NewClient(dir)
	go func() {
		defer close(h.done)
		for a := range h.answers {
			rec, err := client.Request(context.Background(), a.id)
			if err != nil {
				t.Errorf("record of %s: %v", a.id, err)
				continue
			}
			h.add(t, a, rec)
		}
	}()
	return h
}

func (h *history) add(t *testing.T, a answer, rec record.Request) {
	r := run{answer: a, graph: rec.Graph}
	asked := map[string]bool{}
	for i, at := range rec.Attempts {
		last := i == len(rec.Attempts)-1
		name := at.Route.Provider
		if asked[name] || (i == 0) != (name == soakHead) || (at.Outcome == record.AttemptOK) != last {
			t.Errorf("attempts of %s are not one walk through the list: %+v", a.id, rec.Attempts)
			return
		}
		asked[name] = true
		if i > 0 {
			r.order = append(r.order, name)
			r.whole = name == soakHealthy
		}
	}
	if rec.Graph == 0 || len(rec.Attempts) == 0 {
		t.Errorf("record of %s: graph %d, %d attempts", a.id, rec.Graph, len(rec.Attempts))
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
