package cluster

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spillway/tests/internal/caller"
)

// TestTwoNodes and TestThreeNodes: what one node finds out the others know within a
// second, and after the cooldown one of all their callers tests the vendor.
func TestTwoNodes(t *testing.T) { testShared(t, 2) }

func TestThreeNodes(t *testing.T) { testShared(t, 3) }

func testShared(t *testing.T, nodes int) {
	if !alone(t) {
		return
	}
	const callers = 6 // at each node
	c := newCluster(t, nodes, "503", settings{cooldown: 4 * time.Second, firstContent: 15 * time.Second})
	c.redis.Do("CONFIG", "RESETSTAT")
	c.served(c.nodes[0], "fallback")
	t.Logf("%d nodes: a trip was known to all after %v, by %d scripts of the server", nodes, c.hear(c.nodes...), c.redis.Scripts())
	for _, n := range c.nodes[1:] {
		c.served(n, "fallback")
	}
	if n := c.asked(); n != 1 {
		t.Errorf("%d calls reached the vendor, want the one that failed", n)
	}

	c.script("ok after=2s")
	wait := time.NewTimer(time.Until(c.stands(c.nodes[0]).Until))
	defer wait.Stop()
	<-wait.C
	var mu sync.Mutex
	from := map[string]int{}
	var wg sync.WaitGroup
	for _, n := range c.nodes {
		for i := range callers {
			d := caller.Dialects()[i%len(caller.Dialects())]
			wg.Go(func() {
				vendor := c.ask(d, n.URL).From(words)
				mu.Lock()
				defer mu.Unlock()
				from[vendor]++
			})
		}
	}
	wg.Wait()
	if d := cmp.Diff(map[string]int{"primary": 1, "fallback": nodes*callers - 1}, from); d != "" {
		t.Errorf("who served after the cooldown (-want +got):\n%s", d)
	}
	t.Logf("%d nodes, %d callers after the cooldown: %d reached the vendor", nodes, nodes*callers, c.asked()-1)
	c.script("ok")
	for _, n := range c.nodes {
		c.until(fmt.Sprint(n.host.name, " sends calls to the primary again"), func() bool {
			return c.ask(caller.Chat, n.URL).From(words) == "primary"
		})
	}
}
