package mcp

import (
	"context"
	"sync/atomic"
)

// delivery is what became of a call's request. It travels in the call's context
// to the transport, which alone knows.
type delivery struct {
	sent    atomic.Bool // some of it may have reached the server
	refused atomic.Bool // the server turned it away unread
	taken   atomic.Bool // by its HTTP request
}

// begun reports whether the server may have begun the call.
func (d *delivery) begun() bool { return d.sent.Load() && !d.refused.Load() }

type deliveryKey struct{}

func withDelivery(ctx context.Context) (context.Context, *delivery) {
	d := &delivery{}
	return context.WithValue(ctx, deliveryKey{}, d), d
}

// deliveryOf is nil for what is no call.
func deliveryOf(ctx context.Context) *delivery {
	d, _ := ctx.Value(deliveryKey{}).(*delivery)
	return d
}
