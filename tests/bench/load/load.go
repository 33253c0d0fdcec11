// Package load sends chat completions to a gateway and checks every answer. A
// closed loop has so many callers, each of which asks again when it was answered;
// an open loop asks at a rate, whatever became of the others, and a request's time
// counts from the moment when it was due, so that a gateway that stalls cannot
// slow down what it is measured with.
package load

import (
	"context"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Target is a gateway, or a vendor that is asked directly.
type Target struct {
	BaseURL string // what stands before /chat/completions
	Model   string
	Headers map[string]string
}

// Plan is what is asked.
type Plan struct {
	Stream   bool
	Chunks   int           // of a whole stream
	Bytes    int           // of the prompt, and of the text of a whole answer
	Callers  int           // closed: how many; open: most requests at once
	Requests int           // at most
	Rate     float64       // requests a second; 0 is a closed loop
	Limit    time.Duration // no request starts later
	Timeout  time.Duration // of one request
}

// Report is how a load went. The durations are sorted, and those of requests that
// ended OK unless said otherwise.
type Report struct {
	Wall     time.Duration
	Requests int // that ended
	Chunks   int // of all streams, however they ended
	Outcomes map[Outcome]int
	Said     map[Outcome]string // what the first one was told that ended so
	Took     []time.Duration
	First    []time.Duration // to the first content
	Delays   []time.Duration // of each chunk, from the vendor to the caller
}

// result is a request's end.
type result struct {
	outcome Outcome
	said    string
	took    time.Duration
	first   time.Duration
	delays  []time.Duration
}

// Run sends the load and waits for its end. Once ctx ends no request starts and
// those under way are given up.
func Run(ctx context.Context, t Target, p Plan) *Report {
	c := newCaller(t, p)
	defer c.close()
	began := time.Now()
	results := make([]result, p.Requests)
	var n int
	if p.Rate > 0 {
		n = open(ctx, c, p, results)
	} else {
		n = closed(ctx, c, p, results)
	}
	return summed(results[:n], time.Since(began))
}

// closed has each caller ask again as soon as it was answered.
func closed(ctx context.Context, c *caller, p Plan, results []result) int {
	began := time.Now()
	var next atomic.Int64
	var callers sync.WaitGroup
	for range min(p.Callers, p.Requests) {
		callers.Go(func() {
			for time.Since(began) < p.Limit && ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= p.Requests {
					return
				}
				results[i] = c.ask(ctx, i, time.Now())
			}
		})
	}
	callers.Wait()
	return min(int(next.Load()), p.Requests)
}

// open starts each request when it is due, or when fewer than p.Callers are under
// way, if that is later.
func open(ctx context.Context, c *caller, p Plan, results []result) int {
	began := time.Now()
	slots := make(chan struct{}, p.Callers)
	var requests sync.WaitGroup
	defer requests.Wait()
	for i := range p.Requests {
		after := time.Duration(math.Round(float64(i) / p.Rate * float64(time.Second)))
		if after >= p.Limit || ctx.Err() != nil {
			return i
		}
		due := began.Add(after)
		time.Sleep(time.Until(due))
		slots <- struct{}{}
		requests.Go(func() {
			results[i] = c.ask(ctx, i, due)
			<-slots
		})
	}
	return p.Requests
}

func summed(results []result, wall time.Duration) *Report {
	r := &Report{Wall: wall, Requests: len(results), Outcomes: map[Outcome]int{}, Said: map[Outcome]string{}}
	for _, one := range results {
		r.Outcomes[one.outcome]++
		r.Chunks += len(one.delays)
		if one.outcome != OK {
			if r.Said[one.outcome] == "" {
				r.Said[one.outcome] = one.said
			}
			continue
		}
		r.Took = append(r.Took, one.took)
		if one.first > 0 {
			r.First = append(r.First, one.first)
		}
		r.Delays = append(r.Delays, one.delays...)
	}
	slices.Sort(r.Took)
	slices.Sort(r.First)
	slices.Sort(r.Delays)
	return r
}
