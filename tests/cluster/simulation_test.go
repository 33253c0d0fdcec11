package cluster

import (
	"context"
	"flag"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"spillway/host/state"
	"spillway/host/state/statetest"
	"spillway/sdk"
)

var simulated = flag.Int("cluster.nodes", 0, "simulate so many nodes, in the place of two smaller numbers")

// circuit is a record as the failover plugin stores it, of about the usual length.
const circuit = `{"v":12345,"n":12345,"t":12345,"f":2,"l":[{"n":0,"u":0},{"n":2,"u":1796000000000},{"n":0,"u":0}],"u":1796000000000,"c":"OVERLOADED","w":"openai.status.503","s":1795999000000}`

// fleet is nodes as a Redis sees them: the store of each with its own connections,
// and the watches that its host and its plugin have.
type fleet struct {
	t      *testing.T
	server *statetest.Redis
	nodes  []*state.Namespace
	heard  chan sdk.Item // of circuits, by every node
}

// watched are the parts of the store of which every node hears.
var watched = []struct{ namespace, prefix string }{
	{"failover", "circuit/"}, {"failover", "order/"}, {"failover", sdk.MeasurementPrefix}, {"host/seals", ""},
}

// newFleet starts nodes, as they start: watch, then list.
func newFleet(t *testing.T, nodes int) *fleet {
	t.Helper()
	f := &fleet{t: t, server: statetest.NewRedis(t), heard: make(chan sdk.Item, 1000*nodes)}
	r, err := state.ParseRedis(f.server.URL(""), prefix)
	if err != nil {
		t.Fatal(err)
	}
	for i := range nodes {
		s := state.NewMemory(state.Options{Redis: r, Limit: patience})
		t.Cleanup(s.Close)
		owner := fmt.Sprint("node", i)
		f.nodes = append(f.nodes, s.Namespace("failover", owner))
		for _, w := range watched {
			space := s.Namespace(w.namespace, owner)
			hear := func(it sdk.Item) { f.heard <- it }
			if w.prefix != "circuit/" {
				hear = func(sdk.Item) {}
			}
			if err := space.Watch(t.Context(), w.prefix, hear); err != nil {
				t.Fatal(err)
			}
			if _, err := space.List(t.Context(), w.prefix); err != nil {
				t.Fatal(err)
			}
		}
	}
	channel := "{" + prefix + "}:v1:changes"
	for f.server.Client.PubSubNumSub(t.Context(), channel).Val()[channel] < int64(nodes) {
		if t.Context().Err() != nil {
			t.Fatal("not all nodes listen")
		}
	}
	return f
}

// trip stores a circuit, as the node does that has found it out, and waits until
// all have heard of it.
func (f *fleet) trip(n *state.Namespace, route string) {
	f.t.Helper()
	rev, err := n.Put(f.t.Context(), "circuit/"+route, []byte(circuit), time.Hour)
	if err != nil {
		f.t.Fatal(err)
	}
	f.until(rev, len(f.nodes))
}

// until waits until so many nodes have heard of a revision or a later one.
func (f *fleet) until(rev uint64, nodes int) {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), patience)
	defer cancel()
	for nodes > 0 {
		select {
		case it := <-f.heard:
			if it.Revision >= rev {
				nodes--
			}
		case <-ctx.Done():
			f.t.Fatalf("%d nodes have not heard of revision %d", nodes, rev)
		}
	}
}

// probe is what happens when the cooldown of a route ends everywhere: every node
// asks for the lease, and the one that gets it tests and tells.
func (f *fleet) probe(route string) {
	f.t.Helper()
	var wg sync.WaitGroup
	granted := make(chan sdk.Lease, len(f.nodes))
	holder := make(chan *state.Namespace, len(f.nodes))
	for _, n := range f.nodes {
		wg.Go(func() {
			if l, err := n.Acquire(f.t.Context(), "probe/"+route, time.Minute); err == nil {
				granted <- l
				holder <- n
			}
		})
	}
	wg.Wait()
	if len(granted) != 1 {
		f.t.Fatalf("%d nodes got the lease", len(granted))
	}
	n := <-holder
	if _, err := n.Get(f.t.Context(), "circuit/"+route); err != nil {
		f.t.Fatal(err)
	}
	f.trip(n, route) // with the permit
	f.trip(n, route) // with the outcome
	if err := n.Release(f.t.Context(), <-granted); err != nil {
		f.t.Fatal(err)
	}
}

// usage is what the server has done.
type usage struct {
	scripts, pings float64
	messages       float64 // that it was told to send to everybody
	bytes          float64 // both ways
	cpu            float64 // microseconds of the thread that serves
}

func (u usage) by(n float64) usage {
	return usage{u.scripts / n, u.pings / n, u.messages / n, u.bytes / n, u.cpu / n}
}

// measure is what the server does for something.
func (f *fleet) measure(do func()) usage {
	f.t.Helper()
	f.server.Do("CONFIG", "RESETSTAT")
	_, cpu, length := f.info()
	do()
	bytes, after, _ := f.info()
	return usage{
		scripts: float64(f.server.Scripts()), pings: float64(f.server.Calls("ping")),
		messages: float64(f.server.Calls("publish")), bytes: bytes - length, cpu: after - cpu,
	}
}

// info reads what the server counts, and how long its answer was.
func (f *fleet) info() (bytes, cpu, length float64) {
	f.t.Helper()
	text, err := f.server.Client.Info(f.t.Context(), "stats", "cpu").Result()
	if err != nil {
		f.t.Fatal(err)
	}
	number := func(key string) float64 {
		_, v, _ := strings.Cut(text, "\n"+key+":")
		v, _, _ = strings.Cut(v, "\r")
		n, err := strconv.ParseFloat(v, 64)
		if err != nil {
			f.t.Fatalf("INFO: %s: %v", key, err)
		}
		return n
	}
	bytes = number("total_net_input_bytes") + number("total_net_output_bytes")
	cpu = 1e6 * (number("used_cpu_user_main_thread") + number("used_cpu_sys_main_thread"))
	return bytes, cpu, float64(len(text))
}

// cost is what nodes cost their server.
type cost struct {
	idle   usage   // a node and second
	trip   usage   // a node that hears of one
	probe  usage   // a node, where the cooldown of a route ends
	storm  usage   // a node, where all find a trip at once
	bursts float64 // that the server may have told of meanwhile
	script usage   // a script that reads
}

func (f *fleet) cost() (c cost) {
	f.t.Helper()
	const (
		route = "primary/large"
		rest  = 6 * time.Second
		trips = 5  // in a moment: more would be a storm
		reads = 40 // of each node
	)
	nodes := float64(len(f.nodes))
	all := func(do func(*state.Namespace) error) {
		var wg sync.WaitGroup
		for _, n := range f.nodes {
			wg.Go(func() {
				if err := do(n); err != nil {
					f.t.Error(err)
				}
			})
		}
		wg.Wait()
	}
	f.trip(f.nodes[0], route)            // scripts are known from here on,
	all(func(n *state.Namespace) error { // and every node has connections
		_, err := n.Get(f.t.Context(), "circuit/"+route)
		return err
	})
	c.idle = f.measure(func() {
		timer := time.NewTimer(rest)
		defer timer.Stop()
		<-timer.C
	}).by(nodes * rest.Seconds())
	c.trip = f.measure(func() {
		for range trips {
			f.trip(f.nodes[0], route)
		}
	}).by(trips * nodes)
	c.probe = f.measure(func() { f.probe(route) }).by(nodes)
	began := time.Now()
	c.storm = f.measure(func() {
		all(func(n *state.Namespace) error {
			_, err := n.Put(f.t.Context(), "circuit/"+route, []byte(circuit), time.Hour)
			return err
		})
		f.trip(f.nodes[0], route)
	}).by(nodes)
	c.bursts = float64(1 + time.Since(began)/(200*time.Millisecond))
	c.script = f.measure(func() {
		all(func(n *state.Namespace) error {
			for range reads {
				if _, err := n.Get(f.t.Context(), "circuit/"+route); err != nil {
					return err
				}
			}
			return nil
		})
	}).by(reads * nodes)
	return c
}

// TestThousandNodes counts what nodes cost the server, at two sizes, holds each
// node to its budget, and says what a thousand cost: that is a thousand times as
// much if a node costs the same at both sizes, which is checked.
func TestThousandNodes(t *testing.T) {
	sizes := []int{50, 200}
	if *simulated > 0 {
		sizes = []int{*simulated}
	}
	var costs []cost
	for _, nodes := range sizes {
		t.Run(fmt.Sprint(nodes), func(t *testing.T) {
			c := newFleet(t, nodes).cost()
			costs = append(costs, c)
			for _, b := range []struct {
				what        string
				got, budget float64
			}{
				{"commands a second at rest", c.idle.pings + c.idle.scripts, 0.6},
				{"bytes a second at rest", c.idle.bytes, 20},
				{"scripts of a trip", c.trip.scripts * float64(nodes), 1},
				{"bytes of a trip", c.trip.bytes, 350},
				{"scripts of a probe, but for four", c.probe.scripts - 4/float64(nodes), 1},
				{"bytes of a probe", c.probe.bytes, 1300},
				// Of a burst eight changes are told and then that there were others. A node
				// asks after that, and on a slow machine, where it misses more, after each.
				{"messages of a storm", c.storm.messages * float64(nodes), 9 * c.bursts},
				{"scripts of a storm", c.storm.scripts, 3 + c.storm.messages*float64(nodes)},
				{"bytes of a storm", c.storm.bytes, 2_000 + 4_000*c.bursts},
			} {
				t.Logf("%s: %.2f a node, at most %g", b.what, b.got, b.budget)
				if b.got > b.budget {
					t.Errorf("%s: %.2f a node, at most %g", b.what, b.got, b.budget)
				}
			}
		})
	}
	if t.Failed() || len(costs) == 0 {
		return
	}
	few, many := costs[0], costs[len(costs)-1]
	for _, linear := range []struct {
		what      string
		few, many float64
	}{
		{"bytes of a trip", few.trip.bytes, many.trip.bytes},
		{"bytes of a probe", few.probe.bytes, many.probe.bytes},
	} {
		if linear.many > 1.2*linear.few {
			t.Errorf("%s: %.0f a node among %d, %.0f among %d: more nodes make each dearer",
				linear.what, linear.few, sizes[0], linear.many, sizes[len(sizes)-1])
		}
	}
	t.Logf("the server does %.0f scripts or %.0f messages a second of its processor's time", 1e6/many.script.cpu, 1e6/many.trip.cpu)
	t.Logf("1 000 nodes at rest: %.0f commands and %.0f KB a second, %.1f %% of the server's thread",
		1000*(many.idle.pings+many.idle.scripts), many.idle.bytes, many.idle.cpu/10)
	t.Logf("1 000 nodes hear of a trip: 1 script, 1 000 messages, %.0f KB, %.0f ms of the server's thread", many.trip.bytes, many.trip.cpu)
	t.Logf("1 000 nodes ask for a probe: 1 004 scripts, %.0f KB, %.0f ms", many.probe.bytes, many.probe.cpu)
	t.Logf("%d nodes find a trip at once: %.0f scripts a node in %.0f bursts, %.0f KB, %.0f us of the server's thread",
		sizes[len(sizes)-1], many.storm.scripts, many.bursts, many.storm.bytes/1000, many.storm.cpu)
}
