package cli

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"

	"spillway/host"
	"spillway/host/agent/mcp"
	"spillway/host/agent/tool"
	"spillway/host/agent/tools"
	"spillway/host/profile"
)

// toolbox is the tools of a profile's rows, for one working folder.
type toolbox struct {
	env    profile.Lookup
	log    *slog.Logger
	folder string
	closed []string // what the tools for files leave alone

	own     [][]tool.Tool // of each row that is no server
	servers []*mcp.Server
}

// open opens the tools of all rows. A row that cannot be used is told, and left
// out: the others may be all that is needed. slow hears once of the servers that
// take longer to start than a person is left without a word.
func (b *toolbox) open(ctx context.Context, rows []host.Tools, tell func(entry string, err error), slow func(servers []string)) {
	// Servers may take their time to start, each.
	b.own, b.servers = make([][]tool.Tool, len(rows)), make([]*mcp.Server, len(rows))
	errs, opened := make([]error, len(rows)), make([]atomic.Bool, len(rows))
	var wg sync.WaitGroup
	for i, row := range rows {
		wg.Go(func() {
			errs[i] = b.openRow(ctx, i, row)
			opened[i].Store(true)
		})
	}
	patiently(wg.Wait, func() {
		var servers []string
		for i, row := range rows {
			if row.Module == host.ModuleMCP && !opened[i].Load() {
				servers = append(servers, row.ID)
			}
		}
		if servers != nil {
			slow(servers)
		}
	})
	for i, err := range errs {
		if err != nil {
			tell(rows[i].ID, err)
		}
	}
}

func (b *toolbox) openRow(ctx context.Context, i int, row host.Tools) (err error) {
	switch row.Module {
	case host.ModuleFiles:
		b.own[i], err = tools.Files(row.Config, b.folder, b.closed...)
	case host.ModuleShell:
		b.own[i], err = tools.Shell(row.Config, b.folder, b.env)
	case host.ModuleFetch:
		b.own[i], err = tools.Fetch(row.Config)
	case host.ModuleMCP:
		b.servers[i], err = mcp.Open(ctx, mcp.Options{ID: row.ID, Config: row.Config, Folder: b.folder, LookupEnv: b.env, Version: Version, Log: b.log})
	}
	return err
}

// tools are the present ones: a server's may change.
func (b *toolbox) tools(which string) []tool.Tool {
	var all []tool.Tool
	for i := range b.own {
		all = append(all, b.own[i]...)
		if b.servers[i] != nil {
			all = append(all, b.servers[i].Tools()...)
		}
	}
	if which == toolsReadOnly {
		all = slices.DeleteFunc(all, func(t tool.Tool) bool { return t.Spec().Effect != tool.ReadOnly })
	}
	return all
}

// Close ends the servers.
func (b *toolbox) Close() error {
	for _, s := range b.servers {
		if s != nil {
			s.Close()
		}
	}
	return nil
}
