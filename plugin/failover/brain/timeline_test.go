package brain

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"spillway/sdk"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write what the timelines give as what they want")

const wantMark = "-- want --\n"

var epochStart = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func moment(d time.Duration) Instant { return Instant{Mono: d, Wall: epochStart.Add(d)} }

// TestTimelines plays each script of testdata and compares what it prints.
// A script has one command a line:
//
//	priority ROUTE...        chain HEAD ROUTE... [budget=NAME]
//	canary SHARE ROUTE...    the canary's priority
//	set NAME=VALUE...        budget NAME FIELD=VALUE...   contract NAME FIELD=VALUE...
//	provider NAME [keys=N|keys=a+b] [loopback] [egress=] [MODEL[:WINDOW[:OUTPUT[:CAP+CAP]]]]...
//	configure                the policy as it now is replaces the brain's
//	at TIME                  the moment of what follows; "wall TIME" moves the wall clock alone
//	call ID HEAD [prompt= conversation= own=KEY tool hosted deadline= budget= contract= ...]
//	                         "limits" and "message" show more of its steps
//	fail ID CODE [scope= status= cause= phase= after= reset= billing acted rule=]   before visible content
//	commit ID                visible content
//	ok ID [first=TIME]       the stream's clean end
//	end ID CODE [...]        the stream's failure
//	refused ID               another process tests the same target
//	moveon ID                is its target out meanwhile?
//	order VERB TARGET [UNTIL]   enable takes an order back
//	clear TARGET [AT]
//	status                   what Snapshot says
//	restart                  a new brain that loads what the old one exported
//
// Providers that are not described have one key and unknown models. Keys are
// shown where there are several.
func TestTimelines(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no timelines: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			given, want, _ := strings.Cut(string(data), wantMark)
			_, script, _ := strings.Cut(given, "-- script --\n")
			p := newPlayer()
			for line := range strings.Lines(script) {
				if f := strings.Fields(line); len(f) > 0 && !strings.HasPrefix(f[0], "#") {
					if err := p.do(f); err != nil {
						t.Fatalf("%s: %v", strings.TrimSpace(line), err)
					}
				}
			}
			if *update {
				want = p.out.String()
				if err := os.WriteFile(file, []byte(given+wantMark+want), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(want, p.out.String()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

type running struct {
	turn    Turn
	step    Step
	limits  bool // show them
	message bool // show that of the failure
}

type player struct {
	policy Policy
	cat    sdk.Catalogue
	orders []sdk.Order
	brain  *Brain
	now    Instant
	wall   time.Duration // the wall clock's lead
	boot   time.Duration // the monotonic clock's, which each process begins anew
	calls  map[string]*running
	out    bytes.Buffer
}

func newPlayer() *player {
	return &player{now: moment(0), calls: map[string]*running{}}
}

func (p *player) do(f []string) error {
	switch f[0] {
	case "priority":
		p.policy.Priority = p.routes(f[1:])
	case "chain":
		p.policy.Chains = append(p.policy.Chains, p.chain(f[1:]))
	case "canary":
		share, err := strconv.ParseFloat(f[1], 64)
		p.policy.Canary = Canary{Share: share, Priority: p.routes(f[2:])}
		return err
	case "set":
		return p.set(f[1:])
	case "budget":
		return p.budget(f[1:])
	case "contract":
		return p.contract(f[1:])
	case "provider":
		return p.provider(f[1:])
	default:
		if p.brain == nil {
			p.brain = New(p.now, p.policy)
		}
		if r := p.calls[f[min(1, len(f)-1)]]; r != nil {
			return p.goOn(r, f)
		}
		return p.event(f)
	}
	return nil
}

// event is something that happens to the brain, or a call that begins.
func (p *player) event(f []string) error {
	switch f[0] {
	case "configure":
		p.print("configure", p.brain.SetPolicy(p.now, p.policy))
	case "at", "wall":
		d, err := time.ParseDuration(f[1])
		if err != nil {
			return err
		}
		mono := d
		if f[0] == "wall" {
			p.wall, mono = d, p.now.Mono-p.boot
		}
		p.now = moment(mono)
		p.now.Wall = p.now.Wall.Add(p.wall)
		p.now.Mono += p.boot
	case "call":
		q, r, err := p.query(f[2:])
		if err != nil {
			return err
		}
		p.calls[f[1]] = r
		p.show(f[1], p.brain.Start(p.now, &r.turn, q, p.cat, nil))
	case "order":
		return p.order(f[1:])
	case "clear":
		t, err := ParseTarget(f[1])
		if err != nil {
			return err
		}
		at := p.now.Wall
		if len(f) > 2 {
			d, err := time.ParseDuration(f[2])
			if err != nil {
				return err
			}
			at = epochStart.Add(d)
		}
		p.print(strings.Join(f, " "), p.brain.Clear(p.now, t, at))
	case "status":
		p.status()
	case "restart":
		old := p.brain
		p.boot += time.Hour
		p.now.Mono += time.Hour
		p.brain = New(p.now, p.policy)
		p.brain.SetOrders(p.now, p.orders)
		for _, c := range old.order {
			if _, err := p.brain.Load(p.now, c.target, old.Export(c.target)); err != nil {
				return err
			}
		}
	default:
		return fmt.Errorf("unknown command")
	}
	return nil
}

// goOn is what happens to a call that has begun.
func (p *player) goOn(r *running, f []string) error {
	id := f[1]
	switch f[0] {
	case "fail":
		failure, err := p.failure(f[2:])
		if err != nil {
			return err
		}
		p.show(id, p.brain.Failed(p.now, &r.turn, failure, 0.5))
	case "commit":
		p.print(id+": commit", p.brain.Committed(p.now, &r.turn))
	case "refused":
		p.show(id, p.brain.Refused(p.now, &r.turn))
	case "moveon":
		s, ok := p.brain.MoveOn(p.now, &r.turn)
		if !ok {
			p.print(id+": stays", nil)
			return nil
		}
		p.show(id, s)
	case "ok", "end":
		o := sdk.Outcome{Route: r.step.Route, Key: r.step.Key, Tag: r.step.Tag, Stream: r.turn.query.Stream}
		if f[0] == "end" {
			failure, err := p.failure(f[2:])
			if err != nil {
				return err
			}
			o.Failure = &failure
		} else {
			opt := parseOptions(f[2:])
			o.FirstContent = opt.time("first")
			if err := opt.done(); err != nil {
				return err
			}
		}
		p.print(id+": "+f[0], p.brain.Settled(p.now, o, p.cat))
	default:
		return fmt.Errorf("unknown command")
	}
	return nil
}

func (p *player) order(f []string) error {
	o := sdk.Order{Verb: sdk.Verb(f[0]), Target: f[1]}
	if len(f) > 2 {
		d, err := time.ParseDuration(f[2])
		if err != nil {
			return err
		}
		o.Until = epochStart.Add(d)
	}
	if err := CheckOrder(o); err != nil {
		return err
	}
	p.orders = slices.DeleteFunc(p.orders, func(old sdk.Order) bool { return old.Target == o.Target })
	p.orders = append(p.orders, o)
	p.brain.SetOrders(p.now, p.orders)
	return nil
}

func (p *player) status() {
	for _, s := range p.brain.Snapshot(p.now) {
		fmt.Fprintf(&p.out, "%v status %s %s %s", p.now.Mono-p.boot, s.Scope, s.Target, s.State)
		if !s.Until.IsZero() {
			fmt.Fprintf(&p.out, " until %v", s.Until.Sub(epochStart))
		}
		fmt.Fprintf(&p.out, " code=%s failures=%d trips=%d\n", s.Code, s.Failures, s.Trips)
	}
}

func (p *player) show(id string, s Step) {
	p.calls[id].step = s
	var b strings.Builder
	if s.Stopped() {
		fmt.Fprintf(&b, "%s: stop %s (%s)", id, s.Failure.Code, s.Reason)
		if !s.RetryAt.IsZero() {
			fmt.Fprintf(&b, " again at %v", s.RetryAt.Sub(epochStart))
		}
		if p.calls[id].message {
			fmt.Fprintf(&b, " %q", s.Failure.Message)
		}
	} else {
		fmt.Fprintf(&b, "%s: %s %s", id, s.Kind, s.Route)
		if pr, _ := p.cat.Provider(s.Route.Provider); len(pr.Keys) > 1 {
			fmt.Fprintf(&b, "#%s", s.Key)
		}
		fmt.Fprintf(&b, " (%s)", s.Reason)
		if s.Delay > 0 {
			fmt.Fprintf(&b, " after %v", s.Delay)
		}
		if p.calls[id].limits {
			fmt.Fprintf(&b, " limit %v", s.Limits.FirstContent)
		}
	}
	for _, k := range s.Skipped {
		fmt.Fprintf(&b, " [%s: %s]", k.Route, k.Reason)
	}
	p.print(b.String(), s.Changes)
}

func (p *player) print(what string, changes []sdk.Change) {
	fmt.Fprintf(&p.out, "%v %s", p.now.Mono-p.boot, what)
	for _, c := range changes {
		fmt.Fprintf(&p.out, " | %s %s->%s", c.Target, c.From, c.To)
		if !c.Until.IsZero() {
			fmt.Fprintf(&p.out, " until %v", c.Until.Sub(epochStart))
		}
	}
	p.out.WriteByte('\n')
}
