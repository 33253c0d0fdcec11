package cluster

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"spillway/host/control"
	"spillway/host/sim"
	"spillway/host/state/statetest"
	"spillway/sdk"
	"spillway/tests/internal/caller"
	"spillway/tests/internal/rig"
)

const (
	// words is the length of every answer, and gap what a vendor waits before each:
	// a stream lasts long enough to be under way when something dies.
	words = 30
	gap   = 15 * time.Millisecond

	token  = "token-of-the-cluster"
	prefix = "spillway:cluster"
	port   = "8790"

	// patience is how long anything is waited for that comes soon, but for the test of
	// a target that a node was making when it was lost: until its permit ends, which is
	// some seconds after its first content's limit, nobody else tests that target.
	patience = 45 * time.Second
	// known is how soon one node knows what another one has learned.
	known = time.Second
)

// The routes.
const (
	large = "primary/large"
	small = "fallback/small"
)

// settings are the failover plugin's, with times that a test can wait for.
type settings struct {
	cooldown     time.Duration // of a route
	firstContent time.Duration
}

func (s settings) row() string {
	return fmt.Sprintf(`- id: failover
  name: failover
  config:
    priority: [%s, %s]
    failureThreshold: 1
    cooldownMs: %[3]d
    transientCooldownMs: %[3]d
    budget: {deadlineMs: 60000, firstContentMs: %[4]d, idleMs: 10000, connectMs: 1000, backoffMs: 50, maxBackoffMs: 800}
`, large, small, s.cooldown.Milliseconds(), s.firstContent.Milliseconds())
}

// cluster is nodes that share vendors and a Redis, and a balancer before them.
type cluster struct {
	t        *testing.T
	net      *network
	vendors  *sim.Server
	redis    *statetest.Redis
	redisAt  *host
	balancer *balancer
	nodes    []*node
	rows     string
}

// node is one machine that serves.
type node struct {
	*rig.Server
	host   *host
	member *member
	client *control.Client
}

// newCluster starts everything. The primary does what its script says.
func newCluster(t *testing.T, nodes int, script string, with settings) *cluster {
	t.Helper()
	c := &cluster{t: t, net: newNetwork(t)}
	c.redisAt = c.net.host("redis")
	c.redis = statetest.NewRedisAt(t, c.redisAt.enter, "--bind", c.redisAt.address, "--protected-mode", "no")
	answer := sim.Answer{Tokens: words, Numbered: true, Gap: gap}
	var err error
	c.vendors, err = sim.New(sim.Options{Vendors: []sim.Vendor{
		{Name: "primary", Like: "openai", Models: []string{"large"}, Script: script, Keys: []string{"key"}, Answer: answer},
		{Name: "fallback", Like: "openai", Models: []string{"small"}, Keys: []string{"key"}, Answer: answer},
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.vendors.Close)
	if err := c.vendors.Start(t.Context(), "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	for _, v := range c.vendors.Vendors() {
		c.rows += fmt.Sprintf("- {id: %s, name: provider, config: {endpoints: {openai: %s/v1}, models: [%s], keys: [key]}}\n",
			v.Name(), atHub(t, v.URL()), strings.Join(v.Models(), ", "))
	}
	c.rows += with.row() + fmt.Sprintf("- {id: state, name: state-redis, config: {url: \"redis://%s\", prefix: %q}}\n", c.redisAt.address, prefix)
	c.balancer = newBalancer(t, token)
	for i := range nodes {
		c.nodes = append(c.nodes, c.start(c.net.host(fmt.Sprintf("node%d", i+1)), rig.Profile(t, c.rows), nil))
	}
	t.Cleanup(func() { // all at once, before each is waited for
		for _, n := range c.nodes {
			n.Terminate()
		}
	})
	c.until("all nodes are healthy and hear each other", func() bool {
		for _, n := range c.nodes {
			if !c.balancer.up(n.member) {
				return false
			}
		}
		return c.hearing() == nodes
	})
	return c
}

// atHub makes a vendor, which listens on loopback only, known at the bridge.
func atHub(t *testing.T, url string) string {
	t.Helper()
	l, err := net.Listen("tcp", hub+":0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	t.Cleanup(func() {
		l.Close()
		wg.Wait()
	})
	pass := func(to, from net.Conn) {
		_, _ = io.Copy(to, from)
		to.Close()
		from.Close()
	}
	wg.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			vendor, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
			if err != nil {
				client.Close()
				continue
			}
			wg.Go(func() { pass(vendor, client) })
			wg.Go(func() { pass(client, vendor) })
		}
	})
	return "http://" + l.Addr().String()
}

// start starts a node on a machine, for a member that the balancer knows or a new
// one.
func (c *cluster) start(at *host, dir string, known *member) *node {
	c.t.Helper()
	n := &node{host: at, client: control.NewClient(dir), member: known}
	n.Server = rig.ServeAt(c.t, rig.Place{
		Enter: at.enter, Listen: net.JoinHostPort(at.address, port), Flags: []string{"--drain", "500ms"},
	}, dir, "SPILLWAY_TOKEN="+token)
	if n.member == nil {
		n.member = c.balancer.add(at.name, n.URL)
	}
	return n
}

// hearing is how many nodes hear of changes.
func (c *cluster) hearing() int {
	channel := "{" + prefix + "}:v1:changes"
	return int(c.redis.Client.PubSubNumSub(c.t.Context(), channel).Val()[channel])
}

// until waits for something that comes soon.
func (c *cluster) until(what string, cond func() bool) {
	c.t.Helper()
	if !rig.Within(patience, cond) {
		c.t.Fatalf("did not happen: %s", what)
	}
}

// ask makes a streamed call in a dialect at a node or the balancer.
func (c *cluster) ask(d caller.Dialect, url string) caller.Answer {
	return caller.Ask(c.t.Context(), http.DefaultClient, url, d, d.Body(caller.Question{Model: large}), "Authorization", "Bearer "+token)
}

// served checks that a node serves a call by a vendor.
func (c *cluster) served(n *node, vendor string) {
	c.t.Helper()
	if got := c.ask(caller.Chat, n.URL).From(words); got != vendor {
		c.t.Errorf("%s: answer: got %s, want that of %s", n.host.name, got, vendor)
	}
}

// script changes what the primary does from now on.
func (c *cluster) script(text string) {
	c.t.Helper()
	if err := c.vendors.Vendor("primary").SetScript(text); err != nil {
		c.t.Fatal(err)
	}
}

// asked is how many calls have reached the primary.
func (c *cluster) asked() int { return len(c.vendors.Vendor("primary").Calls()) }

// stands is what a node knows against the primary's route, nil if that is nothing.
func (c *cluster) stands(n *node) *sdk.TargetStatus {
	v, err := n.client.Status(c.t.Context())
	if err != nil || len(v.Plugins) != 1 {
		return nil
	}
	for _, t := range v.Plugins[0].Targets {
		if t.Target == large {
			return &t
		}
	}
	return nil
}

// hear checks that every one of the nodes comes to know soon enough that the primary
// is out, and returns how long it took.
func (c *cluster) hear(nodes ...*node) time.Duration {
	c.t.Helper()
	began := time.Now()
	for _, n := range nodes {
		if !rig.Within(known-time.Since(began), func() bool { return c.stands(n) != nil }) {
			c.t.Errorf("%s does not know of the trip after %v", n.host.name, known)
		}
	}
	return time.Since(began).Round(time.Millisecond)
}

// all reports whether each node now serves a call by a vendor.
func (c *cluster) all(vendor string) bool {
	for _, n := range c.nodes {
		if c.ask(caller.Chat, n.URL).From(words) != vendor {
			return false
		}
	}
	return true
}
