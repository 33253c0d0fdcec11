package main

import (
	"fmt"
	"slices"
	"time"

	"spillway/tests/bench/load"
	"spillway/tests/bench/upstream"
)

// The names of scenarios: what is measured, and how many at once.
const (
	whole1     = "whole-1"
	whole16    = "whole-16"
	whole128   = "whole-128"
	whole200s  = "whole-200s"
	burst16    = "burst-16"
	paced100   = "paced-100"
	paced500   = "paced-500"
	paced1000  = "paced-1000"
	idle10000  = "idle-10000"
	learnPlain = "learn-plain"
	tooLong    = "too-long"
	silent     = "silent"
	dies       = "dies"
	coldStart  = "cold"
	goBench    = "go"
)

const (
	// goodTime is more than any request takes that is not lost.
	goodTime = 60 * time.Second
	// cellTime is the time for a cell of healthy vendors: long enough for hundreds
	// of requests and ticks of CPU, short enough for three rounds of everything.
	cellTime = 2500 * time.Millisecond
	// shortTime is the time for a cell that nobody quotes.
	shortTime = 700 * time.Millisecond
	// silenceLimit is the first-content limit while a vendor is silent. The real
	// one is tens of seconds; what is measured is how many of them are waited out.
	silenceLimit = time.Second
)

// scenario is a load and what the vendors do meanwhile.
type scenario struct {
	name     string
	title    string
	plan     load.Plan
	warmUp   int // requests before, which do not count
	vendors  map[string]upstream.Behaviour
	rounds   int    // at most; 0: as many as the run has
	fails    bool   // only for gateways that have two vendors
	few      bool   // only for the floor and for ours with the plugin: it takes long
	settings string // of the failover plugin
}

func healthy(b upstream.Behaviour) map[string]upstream.Behaviour {
	return map[string]upstream.Behaviour{"a": b, "b": b}
}

// dead are the ways in which the first vendor fails while gateways learn.
var dead = []struct {
	name, title string
	behaviour   upstream.Behaviour
	again       bool // the vendor is asked once more before the next one, after a pause by chance
}{
	{"learn-429", "429", upstream.Behaviour{Mode: upstream.Status, Status: 429}, false},
	{"learn-429-hint", "429 with Retry-After: 30", upstream.Behaviour{Mode: upstream.Status, Status: 429, RetryAfter: "30"}, false},
	{"learn-500", "500", upstream.Behaviour{Mode: upstream.Status, Status: 500}, true},
	{"learn-529", "529", upstream.Behaviour{Mode: upstream.Status, Status: 529}, true},
	{"learn-refused", "connection refused", upstream.Behaviour{Mode: upstream.Refuse}, false},
	{"learn-reset", "connection reset", upstream.Behaviour{Mode: upstream.Reset}, true},
}

// scenarios are all of those that are a load, in their order: memory at 500
// streams is that of a process that had no more before.
func scenarios(short bool) []scenario {
	whole := load.Plan{Bytes: 1 << 10, Requests: 1 << 17, Limit: cellTime, Timeout: goodTime}
	with := func(p load.Plan, callers int) load.Plan { p.Callers = callers; return p }
	rate := with(whole, 256)
	rate.Rate, rate.Requests = 200, 600
	burst := load.Plan{Stream: true, Chunks: 100, Bytes: 1 << 10, Callers: 16, Requests: 10000, Limit: cellTime, Timeout: goodTime}
	paced := func(callers, requests, chunks int) load.Plan {
		if short {
			requests = callers
		}
		return load.Plan{Stream: true, Chunks: chunks, Bytes: 1 << 10, Callers: callers, Requests: requests, Limit: 10 * time.Second, Timeout: goodTime}
	}
	learn := load.Plan{Stream: true, Chunks: 20, Bytes: 1 << 10, Callers: 4, Requests: 1000, Limit: 30 * time.Second, Timeout: goodTime}
	answer := healthy(upstream.Behaviour{Bytes: 1 << 10, Chunks: 100})
	pace := healthy(upstream.Behaviour{Chunks: 50, Gap: 20 * time.Millisecond})
	idle, streams := 15*time.Second, idleStreams()
	if short {
		whole.Limit, rate.Limit, burst.Limit = shortTime, shortTime, shortTime
		learn.Requests, idle, streams = 200, 2*time.Second, 500
	}
	all := []scenario{
		{name: whole1, title: "1 KB, one at a time", plan: with(whole, 1), warmUp: 300, vendors: answer},
		{name: whole16, title: "1 KB, 16 at a time", plan: with(whole, 16), warmUp: 300, vendors: answer},
		{name: whole128, title: "1 KB, 128 at a time", plan: with(whole, 128), warmUp: 300, vendors: answer},
		{name: whole200s, title: "1 KB, 200 a second", plan: rate, warmUp: 100, vendors: answer},
		{name: burst16, title: "streams of 100 chunks without gap, 16 at a time", plan: burst, warmUp: 50, vendors: answer},
		{name: paced100, title: "streams of 50 chunks, 20 ms apart, 100 at a time", plan: paced(100, 300, 50), vendors: pace},
		{name: paced500, title: "streams of 50 chunks, 20 ms apart, 500 at a time", plan: paced(500, 1000, 50), vendors: pace},
		{name: paced1000, title: "streams of 20 chunks, 100 ms apart, 1 000 at a time", plan: paced(1000, 1000, 20), vendors: healthy(upstream.Behaviour{Chunks: 20, Gap: 100 * time.Millisecond})},
		{name: idle10000, title: "idle streams, 10 000 at a time or as many as descriptors allow", plan: paced(streams, streams, 2), vendors: healthy(upstream.Behaviour{Chunks: 2, Gap: idle}), rounds: 1, few: true},
		{name: learnPlain, title: "both vendors fine, 4 at a time", plan: learn, vendors: healthy(upstream.Behaviour{Chunks: 20}), rounds: 2, fails: true},
	}
	for _, d := range dead {
		all = append(all, scenario{name: d.name, title: "first vendor dead: " + d.title, plan: learn, rounds: 2, fails: true,
			vendors: map[string]upstream.Behaviour{"a": d.behaviour, "b": {Chunks: 20}}})
	}
	once := learn
	once.Callers, once.Requests = 1, min(learn.Requests, 500)
	all = append(all, scenario{name: tooLong, title: "first vendor: the prompt is too long, one at a time", plan: once, warmUp: 50, rounds: 2, fails: true,
		vendors: map[string]upstream.Behaviour{"a": {Mode: upstream.Status, Status: 400}, "b": {Chunks: 20}}})
	learn.Requests = 200
	all = append(all, scenario{name: silent, title: "first vendor silent", plan: learn, fails: true, rounds: 1,
		settings: fmt.Sprintf(", budget: {firstContentMs: %d}", silenceLimit.Milliseconds()),
		vendors:  map[string]upstream.Behaviour{"a": {Mode: upstream.Hang}, "b": {Chunks: 20}}})
	learn.Requests = 20
	all = append(all, scenario{name: dies, title: "first vendor dies after 10 of 20 chunks", plan: learn, fails: true, rounds: 1,
		vendors: map[string]upstream.Behaviour{"a": {Mode: upstream.Die, Chunks: 20, DieAfter: 10}, "b": {Chunks: 20}}})
	if short {
		all = slices.DeleteFunc(all, func(s scenario) bool { return s.name == whole128 || s.name == paced1000 })
	}
	return all
}

// names are those of everything that -only may name.
func names() []string {
	all := []string{goBench, coldStart}
	for _, s := range scenarios(false) {
		all = append(all, s.name)
	}
	return all
}

// runs says whether a gateway takes part.
func (s *scenario) runs(g *gateway) bool {
	if s.few && g.name != floor && g.name != failover {
		return false
	}
	return g.fails || !s.fails
}
