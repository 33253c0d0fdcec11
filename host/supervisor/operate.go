package supervisor

import (
	"context"

	"spillway/sdk"
)

// Operate gives the plugin a person's order. Manifest.Operator says whether it
// takes any.
func (p *Plugin) Operate(ctx context.Context, o sdk.Order) error {
	s, release, err := p.Acquire(ctx, startTimeout)
	if err != nil {
		return err
	}
	defer release()
	return s.Operate(ctx, o)
}
