package faults

import (
	"time"

	"spillway/host/state/record"
)

// scenario is one of the public Failover Bench. All times are real ones.
type scenario struct {
	id, name string
	primary  string // its script
	slow     bool   // it is played faster, but for the card
	setting  string // by which it passes, "" for the defaults
	beside   bool   // it is another form of a scenario, and counts for nothing

	buffer    bool // the caller wants its answer whole
	noPrefill bool // the fallback does not continue an answer
	windows   bool // the models' windows are declared, and the fallback's is larger
	foreign   bool // the fallback speaks another dialect
	outage    bool // twenty requests come, not one

	// The answer: of whom it is, else how many tokens of the primary's there are
	// before it breaks off, else how the refusal begins that the primary's step has
	// by that name.
	from    string
	cut     int
	refused string
	within  time.Duration // of the whole call, 0: no bound
	then    string        // who serves a call right after it, "" for no such call

	most  int             // calls that may reach the primary, 0: six
	after []time.Duration // at the earliest after the call's begin, of the primary's calls

	// What we do, where more would be borne.
	calls    []string
	outcome  record.Outcome
	attempts []string
	against  []string
	messages []string // the same where a Messages vendor's words name more
}

const served = "fallback fallback/small ok"

// scenarios are the sixteen, and further forms of some. The longest come first.
func scenarios() []scenario {
	return []scenario{
		{
			id: "S15", name: "503 for a minute", primary: "503*60s; ok", slow: true, outage: true, from: "primary",
		},
		{
			id: "S09", name: "silence in the middle", primary: "stall=20 for=30s; ok*2", slow: true, setting: "stream: buffer", buffer: true,
			from: "fallback", within: 45 * time.Second, then: "primary",
			calls: []string{"primary 2", "fallback 1"}, outcome: record.OKAfterFallback,
			attempts: []string{"primary primary/large TIMEOUT > fallback", served},
		},
		{
			id: "S09", name: "silence in the middle", primary: "stall=20 for=30s; ok*2", slow: true, beside: true,
			cut: 20, within: 45 * time.Second, then: "primary",
			calls: []string{"primary 2"}, outcome: record.FailedMidstream,
			attempts: []string{"primary primary/large TIMEOUT"},
		},
		{
			id: "S06", name: "silence", primary: "hang", slow: true,
			from: "fallback", within: 25 * time.Second, most: 1,
			calls: []string{"primary 1", "fallback 1"}, outcome: record.OKAfterFallback,
			attempts: []string{"primary primary/large TIMEOUT > fallback", served},
			against:  []string{"primary/large closed TIMEOUT"},
		},
		{
			id: "S07", name: "headers, then silence", primary: "slow=20s", slow: true,
			from: "fallback", within: 15 * time.Second,
			calls: []string{"primary 1", "fallback 1"}, outcome: record.OKAfterFallback,
			attempts: []string{"primary primary/large TIMEOUT > fallback", served},
			against:  []string{"primary/large closed TIMEOUT"},
		},
		{
			id: "S01", name: "a limit that states a short time", primary: "429 retry-after=2; ok",
			from: "primary", most: 2, after: []time.Duration{0, 1800 * time.Millisecond},
			calls: []string{"primary 2"}, outcome: record.OKAfterRetry,
			attempts: []string{"primary primary/large RATE_LIMIT > wait", "retry primary/large ok"},
		},
		{
			id: "S02", name: "a limit for ever that states nothing", primary: "429",
			from: "fallback", most: 4,
			calls: []string{"primary 1", "fallback 1"}, outcome: record.OKAfterFallback,
			attempts: []string{"primary primary/large RATE_LIMIT > fallback", served},
			against:  []string{"primary#key-of-primary/large open RATE_LIMIT", "primary/large open RATE_LIMIT"},
			messages: []string{"primary#key-of-primary open RATE_LIMIT", "primary open RATE_LIMIT"}, // the account's limit
		},
		{
			id: "S03", name: "one 500", primary: "500; ok",
			from: "primary", most: 2,
			calls: []string{"primary 2"}, outcome: record.OKAfterRetry,
			attempts: []string{"primary primary/large SERVER > retry", "retry primary/large ok"},
		},
		{
			id: "S04", name: "503 for ever", primary: "503",
			from:  "fallback",
			calls: []string{"primary 2", "fallback 1"}, outcome: record.OKAfterFallback,
			attempts: []string{"primary primary/large OVERLOADED > retry", "retry primary/large OVERLOADED > fallback", served},
			against:  []string{"primary/large closed OVERLOADED"}, // one request counts once
		},
		{
			id: "S05", name: "a reset before any byte", primary: "reset; ok",
			from:  "primary",
			calls: []string{"primary 2"}, outcome: record.OKAfterRetry,
			attempts: []string{"primary primary/large TRANSPORT > retry", "retry primary/large ok"},
		},
		{
			id: "S08", name: "dead in the middle", primary: "cut=40", setting: "stream: buffer", buffer: true,
			from:  "fallback",
			calls: []string{"primary 2", "fallback 1"}, outcome: record.OKAfterFallback,
			attempts: []string{"primary primary/large TRANSPORT > retry", "retry primary/large TRANSPORT > fallback", served},
			against:  []string{"primary/large closed TRANSPORT"},
		},
		{
			id: "S08", name: "dead in the middle", primary: "cut=40", beside: true,
			cut:   40,
			calls: []string{"primary 1"}, outcome: record.FailedMidstream,
			attempts: []string{"primary primary/large TRANSPORT"},
			against:  []string{"primary/large closed TRANSPORT"},
		},
		{
			id: "S10", name: "an event that is no JSON", primary: "badjson=10",
			from:  "primary",
			calls: []string{"primary 1"}, outcome: record.OK,
			attempts: []string{"primary primary/large ok"},
		},
		{
			id: "S11", name: "no terminator", primary: "nodone for=30s",
			from: "primary", within: 8 * time.Second,
			calls: []string{"primary 1"}, outcome: record.OK,
			attempts: []string{"primary primary/large ok"},
		},
		{
			id: "S12", name: "too long for the primary", primary: "overflow", setting: "context declared", windows: true,
			from: "fallback", most: 1,
			calls: []string{"primary 1", "fallback 1"}, outcome: record.OKAfterFallback,
			attempts: []string{"primary primary/large CONTEXT_WINDOW_EXCEEDED > fallback", served},
		},
		{
			id: "S12", name: "too long for all we know", primary: "overflow", beside: true,
			refused: "overflow", most: 1,
			calls: []string{"primary 1"}, outcome: record.FailedClean,
			attempts: []string{"primary primary/large CONTEXT_WINDOW_EXCEEDED > stop"},
		},
		{
			id: "S13", name: "refused for its content", primary: "policy",
			refused: "policy", most: 1,
			calls: []string{"primary 1"}, outcome: record.FailedClean,
			attempts: []string{"primary primary/large POLICY > stop"},
		},
		{
			id: "S14", name: "dead in the middle, no prefill", primary: "cut=40", setting: "stream: buffer", buffer: true, noPrefill: true,
			from:  "fallback",
			calls: []string{"primary 2", "fallback 1"}, outcome: record.OKAfterFallback,
			attempts: []string{"primary primary/large TRANSPORT > retry", "retry primary/large TRANSPORT > fallback", served},
			against:  []string{"primary/large closed TRANSPORT"},
		},
		{
			id: "S14", name: "dead in the middle, no prefill", primary: "cut=40", beside: true, noPrefill: true,
			cut:   40,
			calls: []string{"primary 1"}, outcome: record.FailedMidstream,
			attempts: []string{"primary primary/large TRANSPORT"},
			against:  []string{"primary/large closed TRANSPORT"},
		},
		{
			id: "S16", name: "503 for ever, the model's name", primary: "503",
			from:  "fallback",
			calls: []string{"primary 2", "fallback 1"}, outcome: record.OKAfterFallback,
			attempts: []string{"primary primary/large OVERLOADED > retry", "retry primary/large OVERLOADED > fallback", served},
			against:  []string{"primary/large closed OVERLOADED"},
		},
		{
			id: "S16", name: "the same, from another dialect", primary: "503", beside: true, foreign: true,
			from:  "fallback",
			calls: []string{"primary 2", "fallback 1"}, outcome: record.OKAfterFallback,
			attempts: []string{"primary primary/large OVERLOADED > retry", "retry primary/large OVERLOADED > fallback", served},
			against:  []string{"primary/large closed OVERLOADED"},
		},
	}
}
