package cluster

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"spillway/tests/internal/caller"
)

// load is callers that ask the balancer without a pause, in all dialects.
type load struct {
	c    *cluster
	stop context.CancelFunc
	wg   sync.WaitGroup

	mu      sync.Mutex
	answers []caller.Answer
}

// load starts callers.
func (c *cluster) load(callers int) *load {
	ctx, stop := context.WithCancel(c.t.Context())
	l := &load{c: c, stop: stop}
	for i := range callers {
		d := caller.Dialects()[i%len(caller.Dialects())]
		l.wg.Go(func() {
			for ctx.Err() == nil {
				a := c.ask(d, c.balancer.url)
				l.mu.Lock()
				l.answers = append(l.answers, a)
				l.mu.Unlock()
			}
		})
	}
	c.t.Cleanup(l.end)
	return l
}

// end lets what is under way end. It may be called more than once.
func (l *load) end() {
	l.stop()
	l.wg.Wait()
}

func (l *load) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.answers)
}

// more waits until so many further calls have ended.
func (l *load) more(n int) {
	l.c.t.Helper()
	goal := l.count() + n
	l.c.until("further calls end", func() bool { return l.count() >= goal })
}

// verdict is what became of the calls of a load.
type verdict struct {
	calls   int
	from    map[string]int // whole answers by vendor
	broken  int            // connections that broke off
	retried int            // calls that another node took before anything was sent
}

// judge ends a load and looks at every answer. A broken connection is allowed to a
// call that a dead node had at its death, which died is; every other answer must be
// whole. The zero died is nobody's.
func (l *load) judge(died death) verdict {
	l.c.t.Helper()
	l.end()
	v := verdict{calls: len(l.answers), from: map[string]int{}}
	for _, a := range l.answers {
		if a.Err != nil && !a.Cut() {
			v.broken++
			continue
		}
		v.from[a.From(words)]++
	}
	for vendor := range maps.Keys(v.from) {
		if !slices.Contains([]string{"primary", "fallback"}, vendor) {
			l.c.t.Errorf("%d calls: %s", v.from[vendor], vendor)
		}
	}
	lost := 0
	for _, p := range l.c.balancer.seen() {
		if p.refused > 0 && p.err == nil {
			v.retried++
		}
		if p.err == nil {
			continue
		}
		lost++
		switch {
		case errors.Is(p.err, errConnect):
			l.c.t.Errorf("no node took a call: %v", p.err)
		case p.member != died.of || p.sent.After(died.at):
			l.c.t.Errorf("a call at %s broke: %v", p.member.name, p.err)
		}
	}
	if lost != v.broken {
		l.c.t.Errorf("%d callers saw a broken connection, and %d broke at the balancer", v.broken, lost)
	}
	return v
}

// death is when a node died: what had been sent to it by then is lost.
type death struct {
	of *member
	at time.Time
}
