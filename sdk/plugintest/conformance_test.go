package plugintest

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"spillway/sdk"
)

// plugin is made of functions; those that are nil do nothing.
type plugin struct {
	sdk.HookFunc
	manifest  func() sdk.Manifest
	configure func(sdk.Config) error
	outcome   func(sdk.Outcome)
	drain     func()
}

func (p *plugin) Manifest() sdk.Manifest {
	if p.manifest != nil {
		return p.manifest()
	}
	return sdk.Manifest{Name: "under-test", Version: "1", Hook: sdk.HookSpec{Decide: 5 * time.Second}}
}

func (p *plugin) Configure(_ context.Context, _ sdk.Host, c sdk.Config) error {
	if p.configure != nil {
		return p.configure(c)
	}
	return nil
}

func (p *plugin) Outcome(o sdk.Outcome) {
	if p.outcome != nil {
		p.outcome(o)
	}
}

func (p *plugin) Drain(context.Context) {
	if p.drain != nil {
		p.drain()
	}
}

func pass(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
	return next(ctx, c.Request)
}

func louder(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
	s, err := next(ctx, c.Request)
	return sdk.Map(s, func(e sdk.Event) sdk.Event {
		e.Text = strings.ToUpper(e.Text)
		return e
	}), err
}

func answerItself(context.Context, *sdk.Call, sdk.Next) (sdk.Stream, error) {
	return sdk.AnswerText("none", "from the cache"), nil
}

// failOver asks again once.
func failOver(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
	s, err := next(ctx, c.Request)
	if err != nil {
		return nil, err
	}
	if f := sdk.AwaitVisible(ctx, s); f != nil && f.Code != sdk.CodeAborted {
		return c.Reenter(ctx, c.Request)
	}
	return s, nil
}

// TestConformance: plugins that are as they should be pass.
func TestConformance(t *testing.T) {
	hook := func(f sdk.HookFunc) func() sdk.Plugin {
		return func() sdk.Plugin { return &plugin{HookFunc: f} }
	}
	const schema = `{"type": "object", "additionalProperties": false, "properties": {"limit": {"type": "integer"}}}`
	tests := map[string]ConformanceOptions{
		"pass-through":  {New: hook(pass)},
		"mapping":       {New: hook(louder), Changes: true},
		"short-circuit": {New: hook(answerItself), Changes: true},
		"failing over":  {New: hook(failOver)},
		"planning":      {New: func() sdk.Plugin { return newPlanner() }, OtherConfig: `{"limit": 2}`},
		"every depth": {New: func() sdk.Plugin {
			return &plugin{HookFunc: pass, manifest: manifestOf(func(m *sdk.Manifest) { m.Hook.MaxDepth = 16 })}
		}},
		"other model":    {New: hook(pass), Request: sdk.Request{Provider: "p", Model: "m"}},
		"refused config": {New: refusing(sdk.Faults{{Path: "limit", Message: "too small"}}), Config: `{"limit": 2}`, BadConfig: `{"limit": 1}`},
		"schema": {
			New: func() sdk.Plugin {
				return &plugin{HookFunc: pass, manifest: manifestOf(func(m *sdk.Manifest) { m.Schema = json.RawMessage(schema) })}
			},
			Config: `{"limit": 1}`, BadConfig: `{"limits": 1}`,
		},
	}
	for name, o := range tests {
		t.Run(name, func(t *testing.T) { Conformance(t, o) })
	}
}

func manifestOf(change func(*sdk.Manifest)) func() sdk.Manifest {
	return func() sdk.Manifest {
		m := (&plugin{}).Manifest()
		change(&m)
		return m
	}
}

// refusing makes plugins that refuse a limit of 1.
func refusing(err error) func() sdk.Plugin {
	return func() sdk.Plugin {
		return &plugin{HookFunc: pass, configure: func(c sdk.Config) error {
			var s struct{ Limit int }
			if faults := c.Decode(&s); faults != nil || s.Limit != 1 {
				return faults
			}
			return err
		}}
	}
}
