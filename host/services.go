package host

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"spillway/host/profile"
	"spillway/host/state"
	"spillway/sdk"
)

// The built-in modules that are no vendor:
//
//	aliases      names that a client may give in the place of a model's
//	state-redis  several machines share what is learned, on a Redis or Valkey

//go:embed aliases.schema.json
var aliasesSchema []byte

//go:embed redis.schema.json
var redisSchema []byte

const (
	moduleAliases = "aliases"
	moduleRedis   = "state-redis"
)

// Alias is what a client's name for a model means: a route, and what whoever
// serves in its place must respect.
type Alias struct {
	Route sdk.Route
	Wants sdk.Wants
}

// readAliases reads the config of an entry.
func readAliases(e profile.Entry) (map[string]Alias, error) {
	if err := validate(e, aliasesSchema); err != nil {
		return nil, err
	}
	raw, err := configJSON(e)
	if err != nil {
		return nil, err
	}
	var c map[string]struct {
		Route              string `json:"route"`
		Contract           string `json:"contract"`
		Budget             string `json:"budget"`
		Strict             bool   `json:"strict"`
		CrossModelFallback *bool  `json:"crossModelFallback"`
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return nil, err
	}
	aliases := map[string]Alias{}
	for name, a := range c {
		provider, model, _ := strings.Cut(a.Route, "/")
		aliases[name] = Alias{
			Route: sdk.Route{Provider: provider, Model: model},
			Wants: sdk.Wants{
				Budget: a.Budget, Contract: a.Contract, Strict: a.Strict,
				SameModel: a.CrossModelFallback != nil && !*a.CrossModelFallback,
			},
		}
	}
	return aliases, nil
}

// Aliases lists the names that clients may give besides models' own.
func (g *Graph) Aliases() []string {
	all := map[string]bool{}
	for _, u := range g.units {
		for name := range u.aliases {
			all[name] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// alias finds an alias; the later entry wins.
func (g *Graph) alias(name string) (Alias, bool) {
	for _, u := range slices.Backward(g.units) {
		if a, ok := u.aliases[name]; ok {
			return a, true
		}
	}
	return Alias{}, false
}

// readRedis reads the config of an entry. Profiles of the same folder name share
// their state unless a prefix says otherwise.
func readRedis(dir string, e profile.Entry) (*state.Redis, error) {
	if err := validate(e, redisSchema); err != nil {
		return nil, err
	}
	raw, err := configJSON(e)
	if err != nil {
		return nil, err
	}
	var c struct {
		URL    profile.Secret `json:"url"`
		Prefix string         `json:"prefix"`
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return nil, err
	}
	if c.URL == "" {
		return nil, errors.New("url: missing (allowed: redis://, rediss:// or unix://)")
	}
	if c.Prefix == "" {
		c.Prefix = "spillway:" + filepath.Base(filepath.Clean(dir))
	}
	redis, err := state.ParseRedis(c.URL.Reveal(), c.Prefix)
	if err != nil {
		return nil, fmt.Errorf("url: %w", err)
	}
	return redis, nil
}

// shared is the store that a profile shares with other machines, with the config
// that says so, or nil. A row that is wrong shares nothing; building says why.
func (o Options) shared(p *profile.Profile) (*state.Redis, []byte) {
	entries, _ := p.Entries(o.Env)
	for _, e := range entries {
		if e.Name != moduleRedis || e.Err != nil {
			continue
		}
		if redis, err := readRedis(o.Dir, e); err == nil {
			config, _ := configJSON(e)
			return redis, config
		}
	}
	return nil, nil
}

// errStore is why another store is not in force.
var errStore = errors.New("the store is opened once, at the start: restart to change it")
