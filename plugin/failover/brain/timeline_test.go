package brain

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
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
//	priority ROUTE...        chain HEAD ROUTE...      set NAME VALUE
//	provider NAME [key=N] [loopback] [MODEL[:WINDOW]...]   (the last one of a name counts)
//	at TIME                  the moment of what follows; "wall TIME" moves the wall clock alone
//	call ID HEAD [prompt=N] [deadline=TIME]
//	fail ID CODE [scope= status= cause= phase= after= reset= billing=]   before visible content
//	commit ID                visible content
//	ok ID                    the stream's clean end
//	end ID CODE [...]        the stream's failure
//	status                   what Snapshot says
//	restart                  a new brain that loads what the old one exported
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
	turn Turn
	step Step
}

type player struct {
	policy Policy
	cat    sdk.Catalogue
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
	if p.brain == nil && !strings.Contains(" priority chain set provider ", " "+f[0]+" ") {
		p.brain = New(p.now, p.policy)
	}
	switch f[0] {
	case "priority":
		p.policy.Priority = p.routes(f[1:])
	case "chain":
		rs := p.routes(f[1:])
		p.policy.Chains = append(p.policy.Chains, Chain{For: rs[0], Routes: rs[1:]})
	case "set":
		return p.set(f[1], f[2])
	case "provider":
		p.provider(f[1:])
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
		r := &running{}
		p.calls[f[1]] = r
		q := Query{Head: p.routes(f[2:3])[0]}
		for _, opt := range f[3:] {
			k, v, _ := strings.Cut(opt, "=")
			switch k {
			case "prompt":
				q.Shape.PromptTokens, _ = strconv.Atoi(v)
			case "deadline":
				d, err := time.ParseDuration(v)
				if err != nil {
					return err
				}
				q.Deadline = p.now.Mono + d
			}
		}
		p.show(f[1], p.brain.Start(p.now, &r.turn, q, p.cat, nil))
	case "fail":
		failure, err := p.failure(f[2:])
		if err != nil {
			return err
		}
		p.show(f[1], p.brain.Failed(p.now, &p.calls[f[1]].turn, failure, 0.5))
	case "commit":
		p.print(f[1]+": commit", p.brain.Committed(p.now, &p.calls[f[1]].turn))
	case "ok", "end":
		s := p.calls[f[1]].step
		o := sdk.Outcome{Route: s.Route, Tag: s.Tag}
		if f[0] == "end" {
			failure, err := p.failure(f[2:])
			if err != nil {
				return err
			}
			o.Failure = &failure
		}
		p.print(strings.Join(f[1:2], "")+": "+f[0], p.brain.Settled(p.now, o, p.cat))
	case "status":
		for _, s := range p.brain.Snapshot(p.now) {
			fmt.Fprintf(&p.out, "%v status %s %s %s", p.now.Mono-p.boot, s.Scope, s.Target, s.State)
			if !s.Until.IsZero() {
				fmt.Fprintf(&p.out, " until %v", s.Until.Sub(epochStart))
			}
			fmt.Fprintf(&p.out, " code=%s failures=%d trips=%d\n", s.Code, s.Failures, s.Trips)
		}
	case "restart":
		old := p.brain
		p.boot += time.Hour
		p.now.Mono += time.Hour
		p.brain = New(p.now, p.policy)
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

func (p *player) routes(names []string) []sdk.Route {
	var rs []sdk.Route
	for _, n := range names {
		provider, model, _ := strings.Cut(n, "/")
		rs = append(rs, sdk.Route{Provider: provider, Model: model})
		if _, known := p.cat.Provider(provider); !known && !strings.HasPrefix(provider, "?") {
			p.cat.Providers = append(p.cat.Providers, sdk.Provider{Name: provider, Keys: []string{"k1"}})
		}
	}
	return rs
}

func (p *player) provider(f []string) {
	pr := sdk.Provider{Name: f[0], Keys: []string{"k1"}}
	for _, w := range f[1:] {
		if n, ok := strings.CutPrefix(w, "key="); ok {
			pr.Keys = make([]string, int(n[0]-'0'))
		} else if w == "loopback" {
			pr.Loopback = true
		} else {
			id, win, _ := strings.Cut(w, ":")
			n, _ := strconv.Atoi(win)
			pr.Models = append(pr.Models, sdk.Model{ID: id, Context: n})
		}
	}
	for i := range p.cat.Providers {
		if p.cat.Providers[i].Name == pr.Name {
			p.cat.Providers[i] = pr
			return
		}
	}
	p.cat.Providers = append(p.cat.Providers, pr)
}

func (p *player) set(name, value string) error {
	d, _ := time.ParseDuration(value)
	n, _ := strconv.Atoi(value)
	switch name {
	case "cooldown":
		p.policy.Cooldown = d
	case "maxCooldown":
		p.policy.MaxCooldown = d
	case "transientCooldown":
		p.policy.TransientCooldown = d
	case "waitUpTo":
		p.policy.WaitUpTo = d
	case "failureThreshold":
		p.policy.FailureThreshold = n
	case "maxSameTarget":
		p.policy.MaxSameTarget = n
	case "maxAttempts":
		p.policy.MaxAttempts = n
	case "maxRoutes":
		p.policy.MaxRoutes = n
	case "fatal":
		p.policy.FatalCodes = append(p.policy.FatalCodes, sdk.Code(value))
	case "transient":
		p.policy.TransientCodes = append(p.policy.TransientCodes, sdk.Code(value))
	default:
		return fmt.Errorf("unknown setting")
	}
	return nil
}

func (p *player) failure(f []string) (sdk.Failure, error) {
	failure := *sdk.NewFailure(sdk.Code(f[0]), "", "")
	failure.Phase = sdk.PhaseResponse
	switch failure.Code {
	case sdk.CodeTransport, sdk.CodeTimeout, sdk.CodeLocalNetwork, sdk.CodeAborted:
		failure.Phase = sdk.PhaseTransport
	}
	for _, opt := range f[1:] {
		k, v, _ := strings.Cut(opt, "=")
		switch k {
		case "scope":
			failure.Scope = sdk.Scope(v)
		case "cause":
			failure.Cause = sdk.Cause(v)
		case "phase":
			failure.Phase = sdk.Phase(v)
		case "billing":
			failure.Billing = v == "yes"
		case "status":
			failure.Status, _ = strconv.Atoi(v)
		case "after", "reset":
			d, err := time.ParseDuration(v)
			if err != nil {
				return failure, err
			}
			if k == "after" {
				failure.RetryAfter = d
			} else {
				failure.ResetAt = p.now.Wall.Add(d)
			}
		default:
			return failure, fmt.Errorf("unknown option %q", opt)
		}
	}
	return failure, nil
}

func (p *player) show(id string, s Step) {
	p.calls[id].step = s
	var b strings.Builder
	if s.Stopped() {
		fmt.Fprintf(&b, "%s: stop %s (%s)", id, s.Failure.Code, s.Reason)
		if !s.RetryAt.IsZero() {
			fmt.Fprintf(&b, " again at %v", s.RetryAt.Sub(epochStart))
		}
	} else {
		fmt.Fprintf(&b, "%s: %s %s (%s)", id, s.Kind, s.Route, s.Reason)
		if s.Delay > 0 {
			fmt.Fprintf(&b, " after %v", s.Delay)
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
