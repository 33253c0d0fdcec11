package story

import (
	"encoding/json"
	"time"

	"spillway/host/state/record"
	"spillway/sdk"
)

// StatusView is what "spillway status" shows, and as JSON what "status --json"
// prints. Its keys stay, and no list of this package's types is null.
type StatusView struct {
	Listen    string          `json:"listen,omitempty"`   // the gateway's address, "" without one
	Uptime    record.Duration `json:"uptime_ms,omitzero"` // of the host; zero: none is running
	Refused   string          `json:"refused,omitempty"`  // why the profile on disk is not in force
	Store     string          `json:"store,omitempty"`    // why the state store could not be read
	Plugins   []PluginView    `json:"plugins"`            // in the order of the chain
	Entries   []EntryView     `json:"entries"`            // of the profile
	Providers []sdk.Provider  `json:"providers"`          // the catalogue
}

// PluginView is one plugin and what it reported last.
type PluginView struct {
	Entry    string             `json:"entry"`
	Name     string             `json:"name,omitempty"`
	Version  string             `json:"version,omitempty"`
	SHA256   string             `json:"sha256,omitempty"` // of the file that runs
	PID      string             `json:"pid,omitempty"`
	Up       bool               `json:"up"`
	Since    time.Time          `json:"since,omitzero"` // of the present process
	Restarts int                `json:"restarts"`
	Bypassed uint64             `json:"bypassed"`          // calls that went on without it
	Planned  uint64             `json:"planned,omitempty"` // calls that its standing plan served without asking it
	Down     string             `json:"down,omitempty"`    // why it is off for good
	Reported time.Time          `json:"reported,omitzero"` // when it reported Targets and Orders
	Targets  []sdk.TargetStatus `json:"targets"`
	Orders   []sdk.Order        `json:"orders"` // of a person, in force
	Output   []string           `json:"output"` // its last lines, the newest last; JSON has them harmless
}

// EntryView is one row of the profile.
type EntryView struct {
	ID     string `json:"id"`
	Module string `json:"module,omitempty"`
	Kind   string `json:"kind,omitempty"`  // "provider", "plugin", or "" if it could not be told
	Error  string `json:"error,omitempty"` // why it does not run
}

// MarshalJSON writes empty lists for nil ones.
func (s StatusView) MarshalJSON() ([]byte, error) {
	type view StatusView
	s.Plugins = list(s.Plugins)
	s.Entries = list(s.Entries)
	s.Providers = list(s.Providers)
	return json.Marshal(view(s))
}

// MarshalJSON writes empty lists for nil ones, and the plugin's lines as Status
// does.
func (p PluginView) MarshalJSON() ([]byte, error) {
	type view PluginView
	p.Targets, p.Orders = list(p.Targets), list(p.Orders)
	lines := make([]string, len(p.Output))
	for i, l := range p.Output {
		lines[i] = sentence(l)
	}
	p.Output = lines
	return json.Marshal(view(p))
}

func list[T any](l []T) []T {
	if l == nil {
		return []T{}
	}
	return l
}
