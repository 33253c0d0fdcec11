package sdk

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"
)

// Plugin is a program that listens to the hook. The optional interfaces below
// add to it; a runtime looks for them with a type assertion.
type Plugin interface {
	Hook
	// Manifest says what the plugin is and wants. It must not depend on
	// anything outside the binary: hosts cache it by the binary's hash.
	Manifest() Manifest
}

// Configurer is a Plugin with settings, or one that needs the host's services.
//
// Configure is called once, before the first call. The configuration has
// passed the manifest's schema. An error of type [Faults] names what is wrong
// where; with any error the plugin does not enter the chain.
type Configurer interface {
	Configure(ctx context.Context, host Host, config Config) error
}

// SettingsObserver is a Plugin whose volatile settings change while it runs.
// changed lists the paths that differ. An error leaves the old settings in
// force and is shown to the user.
type SettingsObserver interface {
	Settings(config Config, changed []string) error
}

// OutcomeObserver hears how attempts end that the plugin returned.
type OutcomeObserver interface{ Outcome(o Outcome) }

// CatalogueObserver hears of providers and models. The first catalogue is
// there before Configure.
type CatalogueObserver interface{ Catalogue(c Catalogue) }

// Judge refines a failure by its wording. Manifest.Judge must be set.
type Judge interface {
	Judge(ctx context.Context, provider string, f Failure) Failure
}

// Operator is a Plugin that obeys a person's orders about its targets.
// Manifest.Operator must be set. An order is in force, and will survive a
// restart, once Operate has returned nil; an error says what is wrong with it.
type Operator interface {
	Operate(ctx context.Context, o Order) error
}

// Drainer is told that no further call will come, before the process ends.
// It returns when everything it has to write is written.
type Drainer interface{ Drain(ctx context.Context) }

// Config is a plugin's settings: its entry's config as JSON.
type Config struct {
	Entry    string // the entry's id, also the plugin's namespace in the state store
	Revision uint64
	JSON     json.RawMessage // "{}" when the entry has none
}

// Host is what the runtime does for a plugin.
type Host interface {
	// Log writes to the host's log under the plugin's name.
	Log() *slog.Logger
	// State is the plugin's corner of the store.
	State() State
	// Catalogue is the present list of providers and models.
	Catalogue() Catalogue
	// Probe asks the host to fetch a provider's model list anew. The result
	// arrives as a new catalogue.
	Probe(provider string)
	// Record adds a decision to the request's record. It does not block.
	Record(d Decision)
	// Report replaces the plugin's status. It does not block.
	Report(s Status)
	// Plan replaces the plugin's standing plan. It does not block. Manifest.Plan
	// must be set; a host that keeps no plans asks about every call.
	Plan(p Plan)
}

// Manifest describes a plugin.
type Manifest struct {
	Name    string
	Version string
	Hook    HookSpec
	// Schema is the JSON Schema (2020-12) of the configuration. Beyond the
	// standard, "x-volatile": true marks a field that changes while the plugin
	// runs, and "x-provider": true one that names a provider; "format": "regex"
	// is checked. "x-defines": "budget" at a mapping says that its keys are names of
	// that kind, besides those that "x-defined": [...] lists; a text with "x-names":
	// "budget", of any entry, is then to be one of them.
	Schema   json.RawMessage
	Judge    bool // implements Judge
	Operator bool // implements Operator
	Plan     bool // publishes a standing [Plan]
}

// HookSpec says how a plugin takes part in llm/stream.
type HookSpec struct {
	MaxDepth int           // calls re-entered deeper than this pass it by
	Models   []string      // globs on provider/model as path.Match has them; none means all
	OnDown   OnDown        // what the host does while the plugin is not there
	Wait     time.Duration // for OnDownWait: how long a call waits for it; default 500 ms
	Decide   time.Duration // how long it may hold the turn; default 500 ms
}

// OnDown is what becomes of a call while a plugin is not there.
type OnDown string

const (
	OnDownBypass OnDown = "bypass" // go on without it
	OnDownWait   OnDown = "wait"   // wait for it up to HookSpec.Wait, then bypass
	OnDownFail   OnDown = "fail"   // fail the call: for a plugin that enforces a rule
)

// Catalogue lists providers in the profile's order.
type Catalogue struct {
	Revision  uint64     `json:"revision"`
	Providers []Provider `json:"providers"`
}

// Provider is one named endpoint.
type Provider struct {
	Name     string   `json:"name"`
	Models   []Model  `json:"models,omitempty"` // in the order the vendor advertises them
	Keys     []string `json:"keys,omitempty"`   // fingerprints, in the pool's order
	Egress   string   `json:"egress,omitempty"` // where prompts go, in the user's words: "eu", "local"; "" unknown
	Loopback bool     `json:"loopback,omitempty"`
	// Passthrough: it has no keys; callers' own credentials are sent, and it serves
	// nobody else (Request.Own).
	Passthrough bool `json:"passthrough,omitempty"`
}

// Model is what a provider offers.
type Model struct {
	ID           string   `json:"id"`
	Context      int      `json:"context,omitempty"`      // tokens, 0 unknown
	MaxOutput    int      `json:"max_output,omitempty"`   // tokens, 0 unknown
	Capabilities []string `json:"capabilities,omitempty"` // of the Cap constants; nil unknown
}

// What a model can do, as [Model].Capabilities names it.
const (
	CapTools         = "tools"
	CapParallelTools = "parallel_tools"
	CapVision        = "vision"    // images
	CapDocuments     = "documents" // PDF and the like
	CapReasoning     = "reasoning"
	CapStructured    = "structured" // answers that follow a JSON schema
	CapStreaming     = "streaming"
)

// Provider finds a provider by name.
func (c Catalogue) Provider(name string) (Provider, bool) {
	for _, p := range c.Providers {
		if p.Name == name {
			return p, true
		}
	}
	return Provider{}, false
}
