package host

import (
	_ "embed"
	"encoding/json"

	"spillway/host/profile"
)

// The built-in modules by which a profile gives the agent its tools. A row of one
// is only checked here: tools are opened by who runs them.
const (
	ModuleFiles = "tools-files" // read, write, edit, list and search files
	ModuleShell = "tools-shell" // commands
	ModuleFetch = "tools-fetch" // pages of listed hosts
	ModuleMCP   = "mcp"         // the tools of an MCP server
)

var (
	//go:embed tools-files.schema.json
	filesSchema []byte
	//go:embed tools-shell.schema.json
	shellSchema []byte
	//go:embed tools-fetch.schema.json
	fetchSchema []byte
	//go:embed mcp.schema.json
	mcpSchema []byte

	toolModules = []string{ModuleFiles, ModuleShell, ModuleFetch, ModuleMCP}
)

func toolSchema(module string) []byte {
	switch module {
	case ModuleFiles:
		return filesSchema
	case ModuleShell:
		return shellSchema
	case ModuleFetch:
		return fetchSchema
	}
	return mcpSchema
}

// Tools is a row that gives the agent tools.
type Tools struct {
	ID     string
	Module string
	// Config is valid by the module's schema and evaluated: it may hold secrets.
	Config json.RawMessage
}

func readTools(e profile.Entry) (*Tools, error) {
	if err := validate(e, toolSchema(e.Name)); err != nil {
		return nil, err
	}
	raw, err := configJSON(e)
	if err != nil {
		return nil, err
	}
	return &Tools{ID: e.ID, Module: e.Name, Config: raw}, nil
}

// Tools are the rows that give the agent tools, in the order of the profile.
func (g *Graph) Tools() []Tools {
	var all []Tools
	for _, u := range g.units {
		if u.tools != nil {
			all = append(all, *u.tools)
		}
	}
	return all
}
