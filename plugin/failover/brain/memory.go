package brain

import (
	"slices"
	"time"

	"spillway/sdk"
)

// What the brain remembers of answers that went well: which route serves a
// conversation, so that its prompt cache and its tool loop are kept, and how fast
// a route usually begins. None of it outlives the process: a cache at a vendor
// lasts minutes.

// talkLife is for how long a conversation's route is kept in mind.
const talkLife = 10 * time.Minute

// maxTalks bounds the conversations in mind; the oldest makes room.
const maxTalks = 4096

// talk is which route served a conversation last. Conversations are known by
// their hash: two that share one cost a cache, nothing else.
type talk struct {
	route sdk.Route
	until deadline
}

// remember notes that r serves a conversation, known by its hash.
func (b *Brain) remember(now Instant, conversation uint64, r sdk.Route) {
	if conversation == 0 {
		return
	}
	k, ok := b.talks[conversation]
	if !ok {
		if b.talks == nil {
			b.talks, b.served = map[uint64]talk{}, map[sdk.Route]int{}
		}
		if len(b.recent) < maxTalks {
			b.recent = append(b.recent, conversation)
		} else {
			old := b.recent[b.oldest]
			b.leave(b.talks[old].route)
			delete(b.talks, old)
			b.recent[b.oldest] = conversation
			b.oldest = (b.oldest + 1) % maxTalks
		}
	}
	if k.route != r {
		b.leave(k.route)
		b.served[r]++
	}
	b.talks[conversation] = talk{route: r, until: now.after(talkLife)}
}

// leave notes that a conversation in mind has r no more.
func (b *Brain) leave(r sdk.Route) {
	if b.served[r]--; b.served[r] <= 0 {
		delete(b.served, r)
	}
}

// sweepEvery is how often conversations that are over are looked for.
const sweepEvery = 10 * time.Second

// elsewhere reports whether a conversation in mind was served last by another one
// of the candidates for t's head: its tool loop would go on there.
func (b *Brain) elsewhere(now Instant, t *Turn) bool {
	away := func(c candidate) bool { return c.route != t.query.Head && b.served[c.route] > 0 }
	if t.query.Wants.Strict || !slices.ContainsFunc(b.candidates(now, t), away) {
		return false
	}
	if now.Mono < b.sweep {
		return true
	}
	b.sweep = now.Mono + sweepEvery
	for _, c := range b.recent {
		if k := b.talks[c]; k.route != (sdk.Route{}) && k.until.over(now) {
			b.leave(k.route)
			b.talks[c] = talk{} // its place is given away in its turn
		}
	}
	return slices.ContainsFunc(b.candidates(now, t), away)
}

// last is the route that served t's conversation last, if that is not long ago.
func (b *Brain) last(now Instant, t *Turn) (sdk.Route, bool) {
	if t.conversation == 0 {
		return sdk.Route{}, false
	}
	k, ok := b.talks[t.conversation]
	return k.route, ok && !k.until.over(now)
}

// warm reports whether r may have a cache of the request's prompt.
func (b *Brain) warm(now Instant, t *Turn, r sdk.Route) bool {
	route, ok := b.last(now, t)
	return ok && route == r
}

// paceWindow is how many of a route's first contents its pace is made of.
const paceWindow = 20

// stride is a route's pace: how long its recent answers took to begin.
type stride struct {
	times [paceWindow]time.Duration
	n     int // how many there were, ever
}

// maxStrides bounds the routes whose pace is known; beyond it no further one is
// learned.
const maxStrides = 1024

// learn takes in the time to the first content of a stream that ended well.
func (b *Brain) learn(r sdk.Route, d time.Duration) {
	if d <= 0 {
		return
	}
	s := b.strides[r]
	if s == nil {
		if len(b.strides) >= maxStrides {
			return
		}
		if b.strides == nil {
			b.strides = map[sdk.Route]*stride{}
		}
		s = &stride{}
		b.strides[r] = s
	}
	before := b.pace(r)
	s.times[s.n%paceWindow] = d
	s.n++
	if after := b.pace(r); after != before && paced(max(before, after)) > contentBase {
		b.repaced = true
	}
}

// Repaced reports whether the pace of a route, and with it what Rule says of it,
// may have changed since Repaced was called last.
func (b *Brain) Repaced() bool {
	news := b.repaced
	b.repaced = false
	return news
}

// paced is the limit that a pace asks for.
func paced(pace time.Duration) time.Duration { return pace * 3 / 2 }

// pace is the 95th percentile of r's recent first contents, 0 if unknown: of
// twenty the second longest, of fewer the longest.
func (b *Brain) pace(r sdk.Route) time.Duration {
	s := b.strides[r]
	if s == nil {
		return 0
	}
	var longest, second time.Duration
	for _, d := range s.times {
		longest, second = max(longest, d), max(second, min(longest, d))
	}
	if s.n < paceWindow {
		return longest
	}
	return second
}
