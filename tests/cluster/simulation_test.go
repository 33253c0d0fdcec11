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
	scripts, pings float64 // commands of ours, not those within scripts
	in, out        float64 // bytes
	cpu            float64 // microseconds of the thread that serves
}

// measure is what the server does for something.
func (f *fleet) measure(do func()) usage {
	f.t.Helper()
	before, told := f.info()
	do()
	after, _ := f.info()
	return usage{
		scripts: after.scripts - before.scripts, pings: after.pings - before.pings,
		in: after.in - before.in, out: after.out - before.out - told, cpu: after.cpu - before.cpu,
	}
}

// info reads what the server counts, and how long its answer was.
func (f *fleet) info() (u usage, length float64) {
	f.t.Helper()
	text, err := f.server.Client.InfoMap(f.t.Context(), "stats", "commandstats", "cpu").Result()
	if err != nil {
		f.t.Fatal(err)
	}
	number := func(section, key string) float64 {
		v, err := strconv.ParseFloat(text[section][key], 64)
		if err != nil {
			f.t.Fatalf("INFO: %s: %v", key, err)
		}
		return v
	}
	calls := func(command string) float64 {
		_, rest, _ := strings.Cut(text["Commandstats"]["cmdstat_"+command], "calls=")
		n, _, _ := strings.Cut(rest, ",")
		v, _ := strconv.ParseFloat(n, 64) // none yet
		return v
	}
	u = usage{
		scripts: calls("evalsha") + calls("eval"), pings: calls("ping"),
		in: number("Stats", "total_net_input_bytes"), out: number("Stats", "total_net_output_bytes"),
		cpu: 1e6 * (number("CPU", "used_cpu_user_main_thread") + number("CPU", "used_cpu_sys_main_thread")),
	}
	for _, section := range text {
		for key, value := range section {
			length += float64(len(key) + len(value) + 3)
		}
	}
	return u, length
}

func TestThousandNodes(t *testing.T) {
	sizes := []int{50, 200}
	if *simulated > 0 {
		sizes = []int{*simulated}
	}
	for _, nodes := range sizes {
		var f *fleet
		f = newFleet(t, nodes)
		f.trip(f.nodes[0], "primary/large") // scripts are known from here on
		idle := f.measure(func() {
			timer := time.NewTimer(6 * time.Second)
			defer timer.Stop()
			<-timer.C
		})
		trip := f.measure(func() { f.trip(f.nodes[0], "primary/large") })
		probe := f.measure(func() { f.probe("primary/large") })
		storm := f.measure(func() {
			var wg sync.WaitGroup
			for _, n := range f.nodes {
				wg.Go(func() { n.Put(t.Context(), "circuit/primary/large", []byte(circuit), time.Hour) })
			}
			wg.Wait()
			rev, _ := f.nodes[0].Put(t.Context(), "circuit/primary/large", []byte(circuit), time.Hour)
			f.until(rev, nodes)
		})
		t.Logf("%d nodes: idle 6s %+v", nodes, idle)
		t.Logf("%d nodes: trip %+v", nodes, trip)
		t.Logf("%d nodes: probe %+v", nodes, probe)
		t.Logf("%d nodes: storm %+v", nodes, storm)
	}
}
