package brain

import (
	"flag"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var enumerateFor = flag.Duration("enumerate.for", 4*time.Second, "how long to walk over the states of the brain")

// node is a state by the inputs that lead to it.
type node struct {
	parent *node
	input  input
}

// world plays the inputs once more, without checks.
func (n *node) world() *world {
	if n.parent == nil {
		return newWorld()
	}
	w := n.parent.world()
	w.path = append(w.path, n.input)
	w.do(n.input)
	return w
}

// TestEnumerate walks breadth first over the states of two vendors with two models
// and two keys each and up to two requests at a time, with every failure, time,
// and what a person may do, and checks the rules that hold in every state.
//
// How far it comes is shown by
//
//	go test -v -run TestEnumerate -enumerate.for 60s ./plugin/failover/brain
func TestEnumerate(t *testing.T) {
	var mu sync.Mutex // guards seen and next
	seen := map[[2]uint64]bool{newWorld().key(): true}
	level, next := []*node{{}}, []*node(nil)
	steps, depth, whole := 0, 0, true
	end := time.Now().Add(*enumerateFor)
	for ; len(level) > 0 && whole && !t.Failed(); depth++ {
		var at, played atomic.Int64
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				for time.Now().Before(end) && !t.Failed() {
					i := at.Add(1) - 1
					if i >= int64(len(level)) {
						return
					}
					found := expand(t, level[i])
					mu.Lock()
					for key, n := range found {
						if !seen[key] {
							seen[key] = true
							next = append(next, n)
						}
					}
					mu.Unlock()
					played.Add(1)
				}
			})
		}
		wg.Wait()
		steps += int(played.Load())
		whole = int(played.Load()) == len(level)
		t.Logf("depth %d: all inputs tried in %d of %d states", depth, played.Load(), len(level))
		level, next = next, nil
	}
	if !whole {
		depth--
	}
	t.Logf("%d states: whatever %d inputs lead to; all inputs tried in %d of them, in %v", len(seen), depth, steps, *enumerateFor)
	if depth < 2 {
		t.Errorf("only the states that %d inputs lead to, want 2", depth)
	}
}

// expand tries all inputs in the state of n and gives the states that follow.
func expand(t *testing.T, n *node) map[[2]uint64]*node {
	w := n.world()
	inputs := w.inputs()
	found := make(map[[2]uint64]*node, len(inputs))
	fail := func(w *world, err error) {
		t.Errorf("%v\nafter %v", err, w.path)
	}
	for _, in := range inputs {
		next := n.world()
		if err := next.apply(in); err != nil {
			fail(next, err)
			return nil
		}
		if key := next.key(); found[key] == nil {
			found[key] = &node{parent: n, input: in}
		}
	}
	if err := w.survives(); err != nil {
		fail(w, err)
	}
	w = n.world()
	if err := w.recover(); err != nil {
		fail(w, err)
	}
	return found
}

// FuzzWalk goes deeper than TestEnumerate, one path at a time: each byte chooses
// one of the inputs that the state allows.
func FuzzWalk(f *testing.F) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		walk := make([]byte, 80)
		for i := range walk {
			walk[i] = byte(rnd.UintN(256))
		}
		f.Add(walk)
	}
	f.Fuzz(func(t *testing.T, walk []byte) {
		w := newWorld()
		check := func(err error) {
			if err != nil {
				t.Fatalf("%v\nafter %v", err, w.path)
			}
		}
		for i, choice := range walk[:min(len(walk), 200)] {
			inputs := w.inputs()
			check(w.apply(inputs[int(choice)%len(inputs)]))
			if i%20 == 19 {
				check(w.survives())
			}
		}
		check(w.recover())
	})
}
