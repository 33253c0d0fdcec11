package host

import (
	_ "embed"
	"encoding/json"
	"slices"
	"time"

	"spillway/host/profile"
)

//go:embed agent.schema.json
var agentSchema []byte

// moduleAgent is the built-in module by which a profile says how the agent works.
const moduleAgent = "agent"

// Agent is how the agent works.
type Agent struct {
	Model  string // what is asked first; "" for the profile's first route
	System string // takes the place of the built-in instructions
	// MaxTurns bounds the model calls that follow one message of the user.
	MaxTurns int
	// MaxWait bounds how long the agent waits, all in all and for one message,
	// while nobody can serve.
	MaxWait time.Duration
}

func defaultAgent() Agent { return Agent{MaxTurns: 100, MaxWait: 10 * time.Minute} }

// readAgent reads the config of an entry.
func readAgent(e profile.Entry) (*Agent, error) {
	if err := validate(e, agentSchema); err != nil {
		return nil, err
	}
	raw, err := configJSON(e)
	if err != nil {
		return nil, err
	}
	var c struct {
		Model    string `json:"model"`
		System   string `json:"system"`
		MaxTurns int    `json:"maxTurns"`
		MaxWait  *int64 `json:"maxWaitMs"`
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return nil, err
	}
	a := defaultAgent()
	a.Model, a.System = c.Model, c.System
	if c.MaxTurns > 0 {
		a.MaxTurns = c.MaxTurns
	}
	if c.MaxWait != nil {
		a.MaxWait = time.Duration(*c.MaxWait) * time.Millisecond
	}
	return &a, nil
}

// Agent is how the agent works; of several entries the last counts.
func (g *Graph) Agent() Agent {
	for _, u := range slices.Backward(g.units) {
		if u.agent != nil {
			return *u.agent
		}
	}
	return defaultAgent()
}
