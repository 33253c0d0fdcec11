package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"spillway/host/profile"
	"spillway/tests/bench/load"
)

// The gateways that are always measured.
const (
	direct    = "direct"                       // no gateway
	floor     = "Go reverse proxy (floor)"     // the least that a gateway can cost
	plain     = "spillway"                     // without a plugin
	failover  = "spillway + failover"          // with the plugin
	unplanned = "spillway + failover, no plan" // the plugin is asked about every call
)

// model is what vendor a has; b has another, so that a name says who is meant, with
// a window that takes what is too long for a.
const model = "bench"

// gateway is one that is measured.
type gateway struct {
	name  string
	fails bool // it has both vendors, and moves on when the first fails
	// start runs it with an empty past in a folder; settings are further ones of
	// the failover plugin. It is nil for those that run already.
	start  func(ctx context.Context, dir, settings string) (*process, error)
	target load.Target // of those
	pid    int         // of those, or 0
}

// run has the gateway running, and is to be stopped.
func (g *gateway) run(ctx context.Context, dir, settings string) (load.Target, *process, error) {
	if g.start == nil {
		return g.target, &process{pid: g.pid, stop: func() {}}, nil
	}
	p, err := g.start(ctx, dir, settings)
	if err != nil {
		return load.Target{}, nil, fmt.Errorf("%s: %w", g.name, err)
	}
	return load.Target{BaseURL: p.url + "/v1", Model: model}, p, nil
}

// ours are the gateways that are always measured; self is this program, bin the
// folder with spillway, vendors the URLs of the vendors.
func ours(self, bin string, vendors map[string]string) []*gateway {
	serve := func(rows func(settings string) string, env ...string) func(context.Context, string, string) (*process, error) {
		return func(ctx context.Context, dir, settings string) (*process, error) {
			return startSpillway(ctx, filepath.Join(bin, "spillway"), dir, rows(settings), env...)
		}
	}
	providers := fmt.Sprintf(`- {id: a, name: provider-openai, config: {base_url: "%s/v1", key: bench, models: [%s]}}
- {id: b, name: provider-openai, config: {base_url: "%s/v1", key: bench, models: [{id: %s-b, context: 1000000}]}}
`, vendors["a"], model, vendors["b"], model)
	alone := func(string) string { return providers }
	with := func(settings string) string {
		return providers + fmt.Sprintf("- {id: failover, name: failover, config: {priority: [a/%s, b/%s-b]%s}}\n", model, model, settings)
	}
	return []*gateway{
		{name: direct, target: load.Target{BaseURL: vendors["a"] + "/v1", Model: model}},
		{name: floor, start: func(ctx context.Context, dir, _ string) (*process, error) {
			return startProcess(ctx, dir, nil, self, roleFloor, vendors["a"])
		}},
		{name: plain, start: serve(alone)},
		{name: failover, fails: true, start: serve(with)},
		{name: unplanned, fails: true, start: serve(with, "SPILLWAY_PLAN=off")},
	}
}

// startSpillway serves a profile of the rows. What the folder has from an earlier
// start is kept.
func startSpillway(ctx context.Context, program, dir, rows string, env ...string) (*process, error) {
	folder := filepath.Join(dir, "profile")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(folder, profile.BaseFile), []byte(rows), 0o600); err != nil {
		return nil, err
	}
	env = append([]string{"HOME=" + dir, "SPILLWAY_HOME=" + dir}, env...)
	return startProcess(ctx, dir, env, program, "serve", "--listen", "127.0.0.1:0", "--profile", folder+"/")
}

// readGateways reads the gateways of others from a file; without one there are none.
func readGateways(path string) ([]*gateway, error) {
	if path == "" {
		return nil, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var entries []struct {
		Name     string            `json:"name"`
		BaseURL  string            `json:"base_url"`
		Model    string            `json:"model"`
		Headers  map[string]string `json:"headers"`
		PID      int               `json:"pid"`
		Failover bool              `json:"failover"`
	}
	if err := json.Unmarshal(text, &entries); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var all []*gateway
	for i, e := range entries {
		if e.Name == "" || e.BaseURL == "" {
			return nil, fmt.Errorf("%s: gateway %d: want a name and a base_url", path, i+1)
		}
		all = append(all, &gateway{
			name: e.Name, fails: e.Failover, pid: e.PID,
			target: load.Target{BaseURL: e.BaseURL, Model: e.Model, Headers: e.Headers},
		})
	}
	return all, nil
}
