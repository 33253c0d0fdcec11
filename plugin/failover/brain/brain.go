package brain

import (
	"slices"
	"time"

	"spillway/sdk"
)

// Brain is the health of all targets and the policy that judges them. Its owner
// serialises all calls.
type Brain struct {
	policy *Policy
	origin int64  // names this brain in tags and permits: when its clock began
	epoch  uint64 // rises with every charge and every recovery, also with loaded ones

	permits uint64             // the last one given out
	ended   [16]permitID       // the last permits of other brains that came back here
	ends    int                // how many came back
	vendors map[string]*vendor // all circuits, by provider
	order   []*circuit         // the same ones, oldest first: nothing depends on the order of a map

	plain lease  // of an attempt without a permit, as things are now
	tag   string // its tag, made once for all attempts until the next charge

	orders   []order         // of a person
	talks    map[uint64]talk // by the hash of the conversation
	recent   []uint64        // the same ones; from oldest on, they make room
	oldest   int
	served   map[sdk.Route]int     // by how many of them
	sweep    time.Duration         // on Instant.Mono, when to look for those that are over
	strides  map[sdk.Route]*stride // how fast routes begin
	repaced  bool                  // one of them begins at another pace, and nobody has asked
	measured measured              // what routes have shown
	spins    map[string]uint64     // by provider: turns without a conversation, which take the keys in turn

	touched []*circuit // by the call under way
	unsent  []*circuit // changed since TakeChanged
	answers [2]answer
}

// maxCircuits bounds the memory for targets; model names come from clients. The
// one that has changed longest ago makes room, a closed one first.
const maxCircuits = 4096

// suspendGap is how far the two clocks may part during an attempt. Beyond it
// the machine slept, and what the attempt met says nothing about the vendor.
const suspendGap = 10 * time.Second

// New returns a brain to which every target is healthy. The moment must not be
// that of another brain of the same state: it names this one.
func New(now Instant, p Policy) *Brain {
	p = p.WithDefaults()
	return &Brain{policy: &p, origin: now.offset(), vendors: map[string]*vendor{}, spins: map[string]uint64{}, measured: measured{}}
}

// SetPolicy replaces the policy for turns that start from now on. Models that
// were unavailable are asked again: the new configuration may have cured that.
func (b *Brain) SetPolicy(now Instant, p Policy) []sdk.Change {
	p = p.WithDefaults()
	b.policy = &p
	for _, c := range b.order {
		if c.code == sdk.CodeModelUnavailable {
			b.heal(now, c)
		}
	}
	return b.flush(now)
}

// heal forgets all that stands against c, if anything does.
func (b *Brain) heal(now Instant, c *circuit) {
	if c == nil || c.fails == 0 && !c.climbed() && c.belief == (belief{}) {
		return
	}
	b.touch(now, c)
	b.epoch++
	c.heal()
	c.version = b.epoch
}

// circuit is the circuit of t, made if need be.
func (b *Brain) circuit(now Instant, t Target) *circuit {
	if c := b.get(t); c != nil {
		return c
	}
	if len(b.order) >= maxCircuits {
		b.evict(now)
	}
	c := &circuit{target: t}
	b.put(c)
	b.order = append(b.order, c)
	return c
}

func (b *Brain) evict(now Instant) {
	victim, quiet := -1, false
	for i, c := range b.order {
		q := !c.story(now)
		if c.listed || quiet && !q {
			continue
		}
		if victim < 0 || q && !quiet || c.version < b.order[victim].version {
			victim, quiet = i, q
		}
	}
	b.drop(b.order[victim].target)
	b.order = slices.Delete(b.order, victim, victim+1)
}

// touch notes how c was before this call first changes it.
func (b *Brain) touch(now Instant, c *circuit) {
	if c.listed {
		return
	}
	c.listed, c.before = true, c.view(now)
	b.touched = append(b.touched, c)
}

// flush ends a call: it returns what moved.
func (b *Brain) flush(now Instant) []sdk.Change {
	var changes []sdk.Change
	for _, c := range b.touched {
		c.listed = false
		if v := c.view(now); v != c.before {
			changes = append(changes, sdk.Change{Target: c.target.String(), From: c.before.state, To: v.state, Until: v.until})
		}
		if !c.unsent {
			c.unsent = true
			b.unsent = append(b.unsent, c)
		}
	}
	b.touched = b.touched[:0]
	return changes
}

// TakeChanged names the targets whose Export has changed since the last call,
// in the order of the changes. It is nil on the healthy path.
func (b *Brain) TakeChanged() []Target {
	if len(b.unsent) == 0 {
		return nil
	}
	targets := make([]Target, len(b.unsent))
	for i, c := range b.unsent {
		c.unsent = false
		targets[i] = c.target
	}
	b.unsent = b.unsent[:0]
	return targets
}

// lease is what an attempt without a permit takes along from now.
func (b *Brain) lease(now Instant) (lease, string) {
	offset := now.offset() - b.origin
	// The clocks drift; a tenth of a second is no reason for another tag.
	if drift := offset - b.plain.offset; b.tag == "" || b.plain.epoch != b.epoch || drift > 100 || drift < -100 {
		b.plain = lease{origin: b.origin, offset: offset, epoch: b.epoch}
		b.tag = b.plain.tag()
	}
	return b.plain, b.tag
}

// slept reports whether the machine was suspended since the attempt was
// decided. Of an attempt of another process nobody can say.
func (b *Brain) slept(now Instant, l lease) bool {
	if l.origin != b.origin {
		return false
	}
	gap := time.Duration(now.offset()-b.origin-l.offset) * time.Millisecond
	return max(gap, -gap) > suspendGap
}
