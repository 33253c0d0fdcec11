package host

import (
	"slices"
	"sync"

	"spillway/host/profile"
	"spillway/host/supervisor"
)

// prepared is a profile whose entries are evaluated, and whose plugins' copies
// are being made. To hash a file takes a core for some time, which the rest of a
// start need not wait for.
type prepared struct {
	entries  []profile.Entry
	warnings []profile.Warning
	copies   map[string]func() (supervisor.Binary, error) // by module; waits for the copy
	making   sync.WaitGroup
}

// prepare begins to make the copies for a graph of the profile. The caller waits
// for all of them in the end, whether it needs them or not.
func (r *Runtime) prepare(p *profile.Profile) *prepared {
	entries, warnings := p.Entries(r.opts.Env)
	ready := &prepared{
		entries: entries, warnings: slices.Concat(p.Warnings, warnings),
		copies: make(map[string]func() (supervisor.Binary, error)),
	}
	for _, e := range entries {
		if kindOf(e.Name) != kindPlugin || r.opts.VendorsOnly || ready.copies[e.Name] != nil {
			continue
		}
		made := sync.OnceValues(func() (supervisor.Binary, error) { return r.install(e.Name) })
		ready.copies[e.Name] = made
		ready.making.Go(func() { _, _ = made() })
	}
	return ready
}
