package host

import (
	"context"
	"errors"
	"fmt"
	"time"

	"spillway/sdk"
)

// Operate gives a person's order to every plugin that takes orders. It is in
// force, and survives a restart, once Operate has returned nil.
func (r *Runtime) Operate(ctx context.Context, o sdk.Order) error {
	o.At = time.Now()
	taken := false
	for _, p := range r.graph.Load().plugins() {
		if !p.Manifest().Operator {
			continue
		}
		taken = true
		if err := p.Operate(ctx, o); err != nil {
			return fmt.Errorf("plugin %q: %w", p.Info().Entry, err)
		}
	}
	if !taken {
		return errors.New("no plugin of this profile takes orders (the failover plugin does: is its entry in the profile, and running?)")
	}
	return nil
}
