package plugintest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"spillway/sdk"
)

// judging has a method Judge.
type judging struct{ plugin }

func (*judging) Judge(_ context.Context, _ string, f sdk.Failure) sdk.Failure { return f }

// settling refuses every change.
type settling struct{ plugin }

func (*settling) Settings(sdk.Config, []string) error { return errors.New("not now") }

// recorder is a testing.TB that a check may fail without failing the test.
type recorder struct {
	scope
	mu     sync.Mutex
	faults []string
}

func (r *recorder) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.faults = append(r.faults, fmt.Sprintf(format, args...))
}

func (r *recorder) Error(args ...any) { r.Errorf("%s", fmt.Sprint(args...)) }

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

// faults are what a check says of a plugin. release lets go of what the plugin
// is stuck in.
func faults(t *testing.T, name string, o ConformanceOptions, release func()) string {
	t.Helper()
	r := &recorder{scope: scope{TB: t}}
	for _, c := range checks {
		if c.name != name {
			continue
		}
		var wg sync.WaitGroup
		wg.Go(func() { c.run(r, o.withDefaults()) })
		wg.Wait()
	}
	release()
	r.end()
	return strings.Join(r.faults, "\n")
}

// TestConformanceFails: each check fails for a plugin that does what it looks
// for.
func TestConformanceFails(t *testing.T) {
	// stuck is where plugins hang, until their test is over.
	type stuck <-chan struct{}
	type maker func(stuck) sdk.Plugin
	hook := func(f sdk.HookFunc) maker { return func(stuck) sdk.Plugin { return &plugin{HookFunc: f} } }
	manifest := func(change func(*sdk.Manifest)) maker {
		return func(stuck) sdk.Plugin { return &plugin{HookFunc: pass, manifest: manifestOf(change)} }
	}
	configured := func(err error) maker {
		return func(stuck) sdk.Plugin {
			return &plugin{HookFunc: pass, configure: func(sdk.Config) error { return err }}
		}
	}
	planning := func(change func(*planner)) maker {
		return func(stuck) sdk.Plugin {
			p := newPlanner()
			change(p)
			return p
		}
	}
	var versions atomic.Int32

	tests := []struct {
		check string
		name  string
		make  maker
		opts  ConformanceOptions
		want  string
	}{
		{"manifest", "no name", manifest(func(m *sdk.Manifest) { m.Name = "" }), ConformanceOptions{}, `name "", version "1": both must be given`},
		{"manifest", "no version", manifest(func(m *sdk.Manifest) { m.Version = "" }), ConformanceOptions{}, `version ""`},
		{"manifest", "another each time", manifest(func(m *sdk.Manifest) { m.Version = fmt.Sprint(versions.Add(1)) }), ConformanceOptions{}, "a second call gives another manifest"},
		{"manifest", "another each process", func(stuck) sdk.Plugin {
			v := fmt.Sprint(versions.Add(1))
			return &plugin{HookFunc: pass, manifest: manifestOf(func(m *sdk.Manifest) { m.Version = v })}
		}, ConformanceOptions{}, "another process gives another manifest"},
		{"manifest", "schema is not JSON", manifest(func(m *sdk.Manifest) { m.Schema = json.RawMessage("{") }), ConformanceOptions{}, "schema: "},
		{"manifest", "schema is none", manifest(func(m *sdk.Manifest) { m.Schema = json.RawMessage(`{"type": 5}`) }), ConformanceOptions{}, "schema: "},
		{"manifest", "schema refers elsewhere", manifest(func(m *sdk.Manifest) { m.Schema = json.RawMessage(`{"$ref": "https://example.com/x"}`) }), ConformanceOptions{}, "schema: "},
		{"manifest", "schema refuses the configuration", manifest(func(m *sdk.Manifest) { m.Schema = json.RawMessage(`{"maxProperties": 0}`) }), ConformanceOptions{Config: `{"a": 1}`}, "the schema refuses the configuration"},
		{"manifest", "judge promised", manifest(func(m *sdk.Manifest) { m.Judge = true }), ConformanceOptions{}, "Judge is true"},
		{"manifest", "judge concealed", func(stuck) sdk.Plugin { return &judging{plugin{HookFunc: pass}} }, ConformanceOptions{}, "Judge is false"},
		{"manifest", "bad glob", manifest(func(m *sdk.Manifest) { m.Hook.Models = []string{"*/*", "["} }), ConformanceOptions{}, "syntax error in pattern"},
		{"manifest", "another's models", manifest(func(m *sdk.Manifest) { m.Hook.Models = []string{"x/*"} }), ConformanceOptions{}, "leave out vendor/model"},
		{"manifest", "too deep", manifest(func(m *sdk.Manifest) { m.Hook.MaxDepth = 17 }), ConformanceOptions{}, "MaxDepth: got 17"},
		{"manifest", "negative time", manifest(func(m *sdk.Manifest) { m.Hook.Wait = -1 }), ConformanceOptions{}, "Wait -1ns"},
		{"manifest", "unknown policy", manifest(func(m *sdk.Manifest) { m.Hook.OnDown = "panic" }), ConformanceOptions{}, `OnDown: got "panic"`},

		{"configuration", "refused", configured(errors.New("no")), ConformanceOptions{}, "configuration {}: no"},
		{"configuration", "panic", func(stuck) sdk.Plugin {
			return &plugin{HookFunc: pass, configure: func(sdk.Config) error { panic("boom") }}
		}, ConformanceOptions{}, "panic: boom"},
		{"configuration", "refused as a change", func(stuck) sdk.Plugin { return &settling{plugin{HookFunc: pass}} }, ConformanceOptions{}, "as a change: not now"},
		{"bad configuration", "accepted", hook(pass), ConformanceOptions{BadConfig: `{"limit": 1}`}, "got error <nil>, want sdk.Faults"},
		{"bad configuration", "no path", configured(errors.New("no")), ConformanceOptions{BadConfig: `{"limit": 1}`}, "both path and message must be given"},

		{"healthy call", "no finish", hook(func(context.Context, *sdk.Call, sdk.Next) (sdk.Stream, error) {
			return unfinished{}, nil
		}), ConformanceOptions{Changes: true}, "the plugin broke: PLUGIN: the listener's stream ended without a finish event"},
		{"healthy call", "panic", hook(func(context.Context, *sdk.Call, sdk.Next) (sdk.Stream, error) { panic("boom") }), ConformanceOptions{}, "panic: boom"},
		{"healthy call", "next twice", hook(func(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
			_, _ = next(ctx, c.Request)
			return next(ctx, c.Request)
		}), ConformanceOptions{}, "next: used twice"},
		{"healthy call", "changed without saying so", hook(louder), ConformanceOptions{}, "the answer was changed"},
		{"healthy call", "a block without its beginning", hook(func(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
			s, err := next(ctx, c.Request)
			return sdk.Map(s, func(e sdk.Event) sdk.Event {
				if e.Block == sdk.BlockReasoning {
					e.Kind = 0
				}
				return e
			}), err
		}), ConformanceOptions{Changes: true}, "a delta outside its block"},
		{"healthy call", "no decision", func(s stuck) sdk.Plugin {
			return &plugin{
				manifest: manifestOf(func(m *sdk.Manifest) { m.Hook.Decide = 50 * time.Millisecond }),
				HookFunc: func(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
					<-s
					return next(ctx, c.Request)
				},
			}
		}, ConformanceOptions{}, "1 calls went on without the plugin"},

		{"failing vendor", "asks for ever", hook(func(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
			s, err := next(ctx, c.Request)
			for err == nil && sdk.AwaitVisible(ctx, s) != nil && ctx.Err() == nil {
				s, err = c.Reenter(ctx, c.Request)
			}
			return s, err
		}), ConformanceOptions{Patience: 50 * time.Millisecond}, "fails with QUOTA: did not end in time"},
		{"failing vendor", "panic", hook(func(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
			s, err := next(ctx, c.Request)
			if f := sdk.AwaitVisible(ctx, s); f != nil && f.Class() == sdk.ClassLocal {
				panic("boom")
			}
			return s, err
		}), ConformanceOptions{}, "fails with LOCAL_NETWORK: the plugin broke"},
		{"failing vendor", "a success made up", hook(func(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
			s, err := next(ctx, c.Request)
			if sdk.AwaitVisible(ctx, s) != nil {
				return sdk.AnswerText("none", "sorry"), nil
			}
			return s, err
		}), ConformanceOptions{}, "want a failure"},
		{"failure after content", "turned into a success", hook(func(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
			s, err := next(ctx, c.Request)
			return sdk.Map(s, func(e sdk.Event) sdk.Event {
				if e.Failure != nil {
					return sdk.Event{Kind: sdk.KindFinish, Finish: sdk.FinishStop}
				}
				return e
			}), err
		}), ConformanceOptions{Changes: true}, "the failure was turned into a success"},
		{"failure after content", "content kept back", hook(func(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
			s, err := next(ctx, c.Request)
			if err != nil {
				return nil, err
			}
			events, whole := sdk.Peek(s, 100)
			if f := events[len(events)-1].Failure; f != nil {
				return nil, f
			}
			return whole, nil
		}), ConformanceOptions{}, `content before the failure: got ""`},

		{"caller leaves", "before content", func(s stuck) sdk.Plugin {
			return &plugin{HookFunc: func(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
				stream, err := next(ctx, c.Request)
				if f := sdk.AwaitVisible(ctx, stream); f != nil {
					<-s
				}
				return stream, err
			}}
		}, ConformanceOptions{Patience: 300 * time.Millisecond}, "before content: the turn of a caller who is gone goes on"},
		{"caller leaves", "after content", func(s stuck) sdk.Plugin {
			return &plugin{HookFunc: func(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
				stream, err := next(ctx, c.Request)
				return sdk.Map(stream, func(e sdk.Event) sdk.Event {
					if e.Kind == sdk.KindTextDelta {
						go func() { <-s }()
					}
					return e
				}), err
			}}
		}, ConformanceOptions{Patience: 300 * time.Millisecond}, "after content: the turn of a caller who is gone goes on"},

		{"many at once", "one cache for all", func(stuck) sdk.Plugin {
			var mu sync.Mutex
			var first string
			return &plugin{HookFunc: func(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
				mu.Lock()
				defer mu.Unlock()
				if first == "" {
					first = c.Request.Conversation
				}
				return sdk.Answer(healthyEvents(c.Request.Model, first)...), nil
			}}
		}, ConformanceOptions{}, `want "answer to `},
		{"many at once", "a slot that is not given back", func(s stuck) sdk.Plugin {
			slots := make(chan struct{}, 4)
			return &plugin{HookFunc: func(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
				select {
				case slots <- struct{}{}:
				case <-s:
				}
				stream, err := next(ctx, c.Request)
				if f := sdk.AwaitVisible(ctx, stream); f != nil {
					return nil, f
				}
				<-slots
				return stream, err
			}}
		}, ConformanceOptions{Patience: 2 * time.Second}, "calls went on without the plugin"},

		{"re-entered call", "panic", func(stuck) sdk.Plugin {
			return &plugin{
				manifest: manifestOf(func(m *sdk.Manifest) { m.Hook.MaxDepth = 1 }),
				HookFunc: func(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
					r := c.Request
					r.Model = []string{"first"}[c.Depth]
					return next(ctx, r)
				},
			}
		}, ConformanceOptions{}, "a healthy call at depth 1: the plugin broke"},
		{"re-entered call", "without end", func(stuck) sdk.Plugin {
			return &plugin{
				manifest: manifestOf(func(m *sdk.Manifest) { m.Hook.MaxDepth = 16 }),
				HookFunc: func(ctx context.Context, c *sdk.Call, _ sdk.Next) (sdk.Stream, error) {
					return c.Reenter(ctx, c.Request)
				},
			}
		}, ConformanceOptions{}, "depth limit reached"},

		{"outcomes", "never heard", func(s stuck) sdk.Plugin {
			return &plugin{HookFunc: pass, outcome: func(sdk.Outcome) { <-s }}
		}, ConformanceOptions{Patience: 300 * time.Millisecond}, "outcomes were not acknowledged"},
		{"drain", "never done", func(s stuck) sdk.Plugin {
			return &plugin{HookFunc: pass, drain: func() { <-s }}
		}, ConformanceOptions{Patience: 300 * time.Millisecond}, "not drained within"},
		{"drain", "panic", func(stuck) sdk.Plugin {
			return &plugin{HookFunc: pass, drain: func() { panic("boom") }}
		}, ConformanceOptions{Patience: 300 * time.Millisecond}, "not drained within"},
		{"plan", "none", planning(func(p *planner) { p.change = func(s *sdk.Plan) { *s = sdk.Plan{} } }),
			ConformanceOptions{Patience: 100 * time.Millisecond}, "no healthy call was planned within"},
		{"plan", "of another's vendor", planning(func(p *planner) {
			p.change = func(s *sdk.Plan) {
				other := s.Rules[0]
				other.Class.Route.Provider = "elsewhere"
				s.Rules = append(s.Rules, other)
			}
		}), ConformanceOptions{}, "a rule for elsewhere/model: the catalogue has no such provider"},
		{"plan", "for ever", planning(func(p *planner) { p.change = func(s *sdk.Plan) { s.TTL = time.Hour } }),
			ConformanceOptions{}, "TTL: got 1h0m0s"},
		{"plan", "of settings that were", planning(func(p *planner) { p.frozen = true }),
			ConformanceOptions{OtherConfig: `{"limit": 2}`, Patience: 300 * time.Millisecond}, "the plan does not follow changed settings"},
		{"plan", "of vendors that were", planning(func(p *planner) { p.frozen = true }),
			ConformanceOptions{Patience: 100 * time.Millisecond}, "the plan does not follow the catalogue"},
		{"planned failure", "panic", planning(func(p *planner) { p.past = func(c *sdk.Call) { panic("boom") } }),
			ConformanceOptions{}, "a planned attempt that fails with QUOTA: the plugin broke"},
		{"planned failure", "next though it is spent", planning(func(p *planner) {
			p.HookFunc = func(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) { return next(ctx, c.Request) }
		}), ConformanceOptions{}, "next: used twice"},
		{"running attempt", "panic", planning(func(p *planner) { p.running = func(c *sdk.Call) { panic("boom") } }),
			ConformanceOptions{Patience: time.Second}, "a running attempt that fails: the plugin broke"},
		{"running attempt", "taken for one that has ended", planning(func(p *planner) {
			p.running = func(c *sdk.Call) { _ = c.Past[0] }
		}), ConformanceOptions{Patience: time.Second}, "the plugin broke"},
		{"running attempt", "kept", func(s stuck) sdk.Plugin {
			p := newPlanner()
			p.running = func(*sdk.Call) { <-s }
			return p
		}, ConformanceOptions{Patience: 300 * time.Millisecond}, "a running attempt that answers: its turn goes on"},
		{"planned outcomes", "never heard", func(s stuck) sdk.Plugin {
			p := newPlanner()
			p.outcome = func(sdk.Outcome) { <-s }
			return p
		}, ConformanceOptions{Patience: 300 * time.Millisecond}, "outcomes of planned calls were not acknowledged"},
		{"planned outcomes", "panic", planning(func(p *planner) { p.outcome = func(sdk.Outcome) { panic("boom") } }),
			ConformanceOptions{}, "times over outcomes of planned calls"},
		{"nothing left", "a worker", func(s stuck) sdk.Plugin {
			return &plugin{HookFunc: pass, configure: func(sdk.Config) error {
				go func() { <-s }()
				return nil
			}}
		}, ConformanceOptions{Patience: 300 * time.Millisecond}, "goroutines are left after the session's end"},
	}
	proved := map[string]bool{}
	for _, tt := range tests {
		proved[tt.check] = true
		t.Run(tt.check+"/"+tt.name, func(t *testing.T) {
			s := make(chan struct{})
			tt.opts.New = func() sdk.Plugin { return tt.make(s) }
			got := faults(t, tt.check, tt.opts, func() { close(s) })
			if !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want it to contain %q", got, tt.want)
			}
		})
	}
	for _, c := range checks {
		if !proved[c.name] {
			t.Errorf("check %q is not shown to fail", c.name)
		}
	}
}

// unfinished is an author's stream that just ends.
type unfinished struct{}

func (unfinished) Close() error { return nil }
func (unfinished) Events() iter.Seq2[sdk.Event, error] {
	return func(yield func(sdk.Event, error) bool) { yield(sdk.Event{Kind: sdk.KindStart}, nil) }
}
