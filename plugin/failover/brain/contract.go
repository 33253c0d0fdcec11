package brain

import (
	"fmt"
	"slices"

	"spillway/sdk"
)

// Contract is what an alias promises, and so what another model must declare to
// stand in for the one that was chosen. Zero fields demand nothing.
type Contract struct {
	Version   int
	Needs     []string // capabilities, as sdk's Cap constants name them
	Context   int      // tokens
	MaxOutput int
	Egress    []string // where prompts may go; holds for every candidate
	SameModel bool     // no other model at all
	Gates     *Gates   // nil: nothing need be measured
}

// unfit is why r, a route of p, cannot do what the request uses or its contract demands, "" if
// it can. What is not declared is believed of the request's own model and of
// what the request merely uses; a contract wants it declared.
func (t *Turn) unfit(p *sdk.Provider, r sdk.Route) string {
	if p.Name == "" {
		return "unknown provider"
	}
	if p.Passthrough && len(p.Keys) == 0 {
		return "no credential of the caller's"
	}
	if t.contract != nil && len(t.contract.Egress) > 0 && !slices.Contains(t.contract.Egress, p.Egress) {
		return t.clause("egress " + orUnknown(p.Egress))
	}
	if t.query.Wants.SameProvider && r.Provider != t.query.Head.Provider {
		return "another provider"
	}
	alternative := r.Model != t.query.Head.Model
	if alternative && (t.sameModel || t.contract != nil && t.contract.SameModel) {
		return "another model"
	}
	m, known := model(p, r.Model)
	if known {
		if lack := t.query.lack(m, r == t.query.Head); lack != "" {
			return lack
		}
	}
	if t.contract != nil && alternative {
		lack := t.contract.lack(m)
		if lack == "" {
			lack = t.contract.Gates.lack(t.measured, r)
		}
		if lack != "" {
			return t.clause(lack)
		}
	}
	if t.window > 0 && m.Context <= t.window {
		return "window not larger"
	}
	return ""
}

// clause names the contract that is not kept.
func (t *Turn) clause(lack string) string {
	return fmt.Sprintf("contract %s@%d: %s", t.query.Wants.Contract, t.contract.Version, lack)
}

func model(p *sdk.Provider, id string) (sdk.Model, bool) {
	for _, m := range p.Models {
		if m.ID == id {
			return m, true
		}
	}
	return sdk.Model{}, false
}

// lack is what m does not declare of the contract's demands.
func (c *Contract) lack(m sdk.Model) string {
	for _, need := range c.Needs {
		if !slices.Contains(m.Capabilities, need) {
			return "no " + need
		}
	}
	switch {
	case m.Context < c.Context:
		return fmt.Sprintf("context %s, %d wanted", orUnknown(m.Context), c.Context)
	case m.MaxOutput < c.MaxOutput:
		return fmt.Sprintf("max_output %s, %d wanted", orUnknown(m.MaxOutput), c.MaxOutput)
	}
	return ""
}

func orUnknown[T comparable](v T) string {
	var zero T
	if v == zero {
		return "unknown"
	}
	return fmt.Sprint(v)
}

// tooSmall is how a lack begins that is one of the window.
const tooSmall = "context "

// lack is what m declares not to have of what the request uses. Prompt sizes are
// estimates: the route that the caller chose is asked unless they leave no doubt,
// since it knows best; another one must have room for the estimate.
//
// A limit on the answer's length is no use: a model that cannot write as much
// stops earlier.
func (q *Query) lack(m sdk.Model, head bool) string {
	if m.Capabilities != nil {
		for _, use := range [...]struct {
			used bool
			name string
		}{
			{q.Shape.Tools > 0, sdk.CapTools},
			{q.Shape.Images > 0, sdk.CapVision},
			{q.Shape.Documents > 0, sdk.CapDocuments},
			{q.Shape.Structured, sdk.CapStructured},
			{q.Shape.ParallelTools, sdk.CapParallelTools},
			{q.Shape.Reasoning, sdk.CapReasoning},
		} {
			if use.used && !slices.Contains(m.Capabilities, use.name) {
				return "no " + use.name
			}
		}
	}
	size := q.Shape.PromptTokens
	if head {
		size -= size / 4
	}
	if m.Context > 0 && size > m.Context {
		return fmt.Sprintf(tooSmall+"%d, about %d needed", m.Context, q.Shape.PromptTokens)
	}
	return ""
}
