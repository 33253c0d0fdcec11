package brain

import (
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

// remember notes that r serves t's conversation.
func (b *Brain) remember(now Instant, t *Turn, r sdk.Route) {
	if t.conversation == 0 {
		return
	}
	if _, ok := b.talks[t.conversation]; !ok {
		if b.talks == nil {
			b.talks = map[uint64]talk{}
		}
		if len(b.recent) < maxTalks {
			b.recent = append(b.recent, t.conversation)
		} else {
			delete(b.talks, b.recent[b.oldest])
			b.recent[b.oldest] = t.conversation
			b.oldest = (b.oldest + 1) % maxTalks
		}
	}
	b.talks[t.conversation] = talk{route: r, until: now.after(talkLife)}
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
	s.times[s.n%paceWindow] = d
	s.n++
}

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

// hash is FNV-1a of the parts, never 0 for a text that is not empty.
func hash(parts ...string) uint64 {
	h := uint64(14695981039346656037)
	for _, s := range parts {
		for i := range len(s) {
			h = (h ^ uint64(s[i])) * 1099511628211
		}
		h = (h ^ 0xff) * 1099511628211
	}
	return h
}

// mix spreads the difference of two numbers over all their bits.
func mix(h uint64) uint64 {
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}
