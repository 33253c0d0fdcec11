package sim

import (
	"slices"
	"strings"
	"time"
)

// Script says how a vendor answers, request after request. The zero value
// answers every request soundly. It is immutable.
type Script struct {
	rules []rule
}

// rule is one list of steps and the requests it is for.
type rule struct {
	model string // "" for any
	key   string // a fingerprint, "" for any
	tool  string // that the request offers, "" for any
	steps []step
	cycle bool
}

// any reports whether the rule is for every request.
func (r *rule) any() bool { return r.model == "" && r.key == "" && r.tool == "" }

func (r *rule) matches(q *request, key string) bool {
	offered := func(t tool) bool { return t.callable() && t.name() == r.tool }
	return (r.model == "" || r.model == q.Model) && (r.key == "" || r.key == key) &&
		(r.tool == "" || slices.ContainsFunc(q.Tools, offered))
}

// step is one way to answer.
type step struct {
	text    string // as written, for the log
	name    string
	refusal bool // play the recorded refusal of that name

	at     int           // tokens before the fault; atEnd; for badjson the event, from 1
	wait   time.Duration // of slow, drip, keepalive
	size   int64         // of longline
	word   string        // of wrong-content-type
	record *record       // of body and error-event, nil for the vendor's own

	times  int           // how many requests it is for, at least 1
	during time.Duration // instead of times

	after   time.Duration // before anything else
	hold    time.Duration // option for; forever if there is none
	headers [][2]string

	tokens, reasoning int           // unset if the vendor's own number holds
	gap               time.Duration // unset likewise
	tool              string        // to call: "" for none, "*" for the first one offered
	args              string        // its arguments, "" for some that fit its schema
}

const (
	atEnd = -1
	unset = -1
	// forever is longer than any client waits.
	forever = 1 << 62 * time.Nanosecond
)

// String returns the text form; Parse reads it back.
func (s Script) String() string {
	var b strings.Builder
	for i, r := range s.rules {
		if i > 0 {
			b.WriteByte('\n')
		}
		if r.model != "" {
			b.WriteString("model=" + r.model + " ")
		}
		if r.key != "" {
			b.WriteString("key=" + r.key + " ")
		}
		if r.tool != "" {
			b.WriteString("offers=" + r.tool + " ")
		}
		if !r.any() {
			b.WriteString("=> ")
		}
		for j, st := range r.steps {
			if j > 0 {
				b.WriteString("; ")
			}
			b.WriteString(st.text)
		}
		if r.cycle {
			b.WriteString("; repeat")
		}
	}
	if len(s.rules) == 0 {
		return "ok"
	}
	return b.String()
}

// playback is a script and where each of its rules has come to. It is not safe
// for concurrent use.
type playback struct {
	script  Script
	cursors []cursor
}

type cursor struct {
	step  int
	used  int
	since time.Time // when the step's time began
}

func newPlayback(s Script, now time.Time) *playback {
	p := &playback{script: s, cursors: make([]cursor, len(s.rules))}
	for i := range p.cursors {
		p.cursors[i].since = now
	}
	return p
}

// take consumes a step of the first rule that matches.
func (p *playback) take(q *request, key string, now time.Time) *step {
	for i, r := range p.script.rules {
		if !r.matches(q, key) {
			continue
		}
		s := p.current(i, now)
		c := &p.cursors[i]
		if c.used++; s.during == 0 && c.used >= s.times {
			p.advance(i, now)
		}
		return s
	}
	return sound
}

// sound is the step where a script says nothing.
var sound = &step{text: "ok", name: "ok", times: 1, hold: forever, tokens: unset, reasoning: unset, gap: unset}

// current returns the step that rule i has come to, after those whose time is
// over.
func (p *playback) current(i int, now time.Time) *step {
	r, c := p.script.rules[i], &p.cursors[i]
	for range r.steps {
		s := &r.steps[c.step]
		if s.during == 0 || now.Sub(c.since) < s.during || !p.advance(i, c.since.Add(s.during)) {
			break
		}
	}
	return &r.steps[c.step]
}

// advance moves rule i to its next step and reports whether there is one.
func (p *playback) advance(i int, at time.Time) bool {
	r, c := p.script.rules[i], &p.cursors[i]
	next := c.step + 1
	if next == len(r.steps) {
		if !r.cycle {
			return false
		}
		next = 0
	}
	*c = cursor{step: next, since: at}
	return true
}

// refusing reports whether the port is to be closed, and until when if time
// alone opens it again.
func (p *playback) refusing(now time.Time) (bool, time.Time) {
	for i, r := range p.script.rules {
		if !r.any() {
			continue
		}
		s := p.current(i, now)
		if s.name != "refuse" {
			return false, time.Time{}
		}
		if s.during == 0 || (!r.cycle && p.cursors[i].step == len(r.steps)-1) {
			return true, time.Time{}
		}
		return true, p.cursors[i].since.Add(s.during)
	}
	return false, time.Time{}
}
