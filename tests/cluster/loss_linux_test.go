package cluster

import (
	"strings"
	"testing"
	"time"

	"spillway/tests/internal/caller"
)

// brisk are settings under which the circuits of a vendor that fails now and then
// change all the time, and the store with them.
var brisk = settings{cooldown: 300 * time.Millisecond, firstContent: 15 * time.Second}

const (
	flaky   = "503; ok*3; repeat"
	callers = 6 // of a load
)

// TestNodeKilled and TestNodeCut: with a node go the calls that it has, and no other.
func TestNodeKilled(t *testing.T) {
	testNodeLost(t, func(n *node) { n.Kill() }, nil)
}

func TestNodeCut(t *testing.T) {
	testNodeLost(t, func(n *node) { n.host.cut() }, func(n *node) { n.host.mend() })
}

func testNodeLost(t *testing.T, lose, find func(*node)) {
	t.Parallel()
	if !alone(t) {
		return
	}
	c := newCluster(t, 3, flaky, brisk)
	l := c.load(callers)
	l.more(40)
	victim := c.nodes[1]
	c.until("the node has calls", func() bool { return c.balancer.underWay(victim.member) > 1 })
	lose(victim)
	died := death{victim.member, time.Now()}
	c.until("the balancer has given the node up", func() bool {
		return !c.balancer.up(victim.member) && c.balancer.underWay(victim.member) == 0
	})
	l.more(40)
	if find != nil {
		find(victim)
		c.until("the node is healthy again", func() bool { return c.balancer.up(victim.member) })
		l.more(40)
	}
	v := l.judge(died)
	if v.broken == 0 {
		t.Error("no call was under way at the node")
	}
	t.Logf("%d calls: %d whole, %d broke with the node that had them, %d were taken by another node, 0 lost",
		v.calls, v.calls-v.broken, v.broken, v.retried)
}

// TestLeaseOfTheDead: a node dies while it alone tests a vendor. Nobody else does
// until its permit is over, and then somebody does.
func TestLeaseOfTheDead(t *testing.T) {
	t.Parallel()
	if !alone(t) {
		return
	}
	const (
		firstContent = time.Second
		permit       = firstContent + 10*time.Second // what the plugin adds
	)
	c := newCluster(t, 2, "503", settings{cooldown: time.Second, firstContent: firstContent})
	dead, living := c.nodes[0], c.nodes[1]
	c.served(dead, "fallback")
	c.until("the living node knows that the route may be tested", func() bool {
		s := c.stands(living)
		return s != nil && time.Now().After(s.Until)
	})
	c.script("hang")
	go c.ask(caller.Chat, dead.URL) // ends with its node
	calls, err := c.vendors.Vendor("primary").Wait(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	dead.Kill()
	c.script("ok")
	served := map[string]int{}
	c.until("the living node tests", func() bool {
		vendor := c.ask(caller.Chat, living.URL).From(words)
		served[vendor]++
		return vendor == "primary"
	})
	tested := c.vendors.Vendor("primary").Calls()[2].Time.Sub(calls[1].Time)
	if tested < permit-time.Second || tested > permit+2*time.Second || served["fallback"] == 0 || len(served) != 2 {
		t.Errorf("the next test came after %v, want about %v; meanwhile %v", tested, permit, served)
	}
	t.Logf("the permit of a dead node was free after %v; %d calls were served meanwhile", tested.Round(10*time.Millisecond), served["fallback"])
}

// TestRedisKilled and TestRedisCut: without the store each node goes on by what it
// knows, and says so once. When it is back they share again.
func TestRedisKilled(t *testing.T) {
	testRedisLost(t, func(c *cluster) { c.redis.Kill() }, func(c *cluster) { c.redis.Start() })
}

func TestRedisCut(t *testing.T) {
	testRedisLost(t, func(c *cluster) { c.redisAt.cut() }, func(c *cluster) { c.redisAt.mend() })
}

func testRedisLost(t *testing.T, lose, find func(*cluster)) {
	t.Parallel()
	if !alone(t) {
		return
	}
	c := newCluster(t, 3, flaky, brisk)
	l := c.load(callers)
	l.more(40)
	lose(c)
	l.more(40)
	find(c)
	l.more(40)
	v := l.judge(death{})
	t.Logf("%d calls, %d lost", v.calls, v.broken)

	c.script("ok")
	c.until("all nodes send calls to the primary again", func() bool { return c.all("primary") })
	c.script("503")
	c.served(c.nodes[0], "fallback")
	t.Logf("the store is back: a trip was known to all after %v", c.hear(c.nodes...))
	for _, n := range c.nodes {
		n.Stop()
		for _, said := range []string{"state store unavailable, going on without it", "state store unavailable: going on from memory"} {
			// A busy machine may have outages of its own, which end.
			outages := 1 + strings.Count(n.Log(), "state store available again")
			if k := strings.Count(n.Log(), said); k == 0 && strings.Contains(said, "without") || k > outages {
				t.Errorf("%s: %q was said %d times in %d outages", n.host.name, said, k, outages)
			}
		}
	}
}

// TestSplit: a node that reaches its vendors but not the store serves by what it
// finds out alone, and hears of everything once the store is in reach.
func TestSplit(t *testing.T) {
	t.Parallel()
	if !alone(t) {
		return
	}
	c := newCluster(t, 3, flaky, brisk)
	with, without := c.nodes[:2], c.nodes[2]
	l := c.load(callers)
	l.more(40)
	c.redisAt.deafen(without.host)
	l.more(40)
	v := l.judge(death{})
	c.script("ok")
	c.until("all nodes send calls to the primary again", func() bool { return c.all("primary") })

	before := c.asked()
	c.script("503")
	c.served(with[0], "fallback")
	c.hear(with[1])
	c.served(without, "fallback") // it had to find out
	if got := c.asked() - before; got != 2 {
		t.Errorf("%d calls reached the vendor, want one from each side", got)
	}
	c.script("ok")
	c.redisAt.hear(without.host)
	c.until("all nodes send calls to the primary again", func() bool { return c.all("primary") })
	c.script("503")
	c.served(with[0], "fallback")
	// What it has found out alone counts as newer until the others have heard of it,
	// so the first trip may pass it by.
	c.until("the node that was cut off hears of a trip", func() bool {
		c.ask(caller.Chat, with[0].URL)
		return c.stands(without) != nil
	})
	t.Logf("%d calls, %d lost", v.calls, v.broken)
}

// TestRollingUpdate: every node is drained and replaced by a new process, under load.
func TestRollingUpdate(t *testing.T) {
	t.Parallel()
	if !alone(t) {
		return
	}
	// Some streams last longer than a node listens after the signal.
	c := newCluster(t, 3, "503; ok gap=60ms; ok*2; repeat", brisk)
	l := c.load(callers)
	late := 0
	for _, n := range c.nodes {
		l.more(30)
		c.until("the node has calls", func() bool { return c.balancer.underWay(n.member) > 1 })
		n.Terminate()
		c.until("the balancer sends calls elsewhere", func() bool { return !c.balancer.up(n.member) })
		late += c.balancer.underWay(n.member)
		n.Stop() // it ends by itself, and with 0
		c.start(n.host, n.Dir, n.member)
		c.until("the new process is healthy", func() bool { return c.balancer.up(n.member) })
	}
	l.more(30)
	v := l.judge(death{})
	t.Logf("%d nodes replaced, %d calls, %d of them ended at a node that drained, %d lost", len(c.nodes), v.calls, late, v.broken)
}
