package host

import (
	"sync"

	"spillway/host/profile"
	"spillway/host/supervisor"
)

// copies are those that a profile's plugins run from, by module. To hash a file
// takes a core for some time, which the rest of a start need not wait for.
type copies struct {
	of     map[string]func() (supervisor.Binary, error) // waits for the copy
	making sync.WaitGroup
}

// copying begins to make the copies for a graph of the profile. The caller waits
// for all of them in the end, whether it needs them or not.
func (r *Runtime) copying(p *profile.Profile) *copies {
	c := &copies{of: make(map[string]func() (supervisor.Binary, error))}
	if r.opts.VendorsOnly {
		return c
	}
	entries, _ := p.Entries(r.opts.Env)
	for _, e := range entries {
		if e.Err != nil || kindOf(e.Name) != kindPlugin || c.of[e.Name] != nil {
			continue
		}
		made := sync.OnceValues(func() (supervisor.Binary, error) { return r.install(e.Name) })
		c.of[e.Name] = made
		c.making.Go(func() { _, _ = made() })
	}
	return c
}
