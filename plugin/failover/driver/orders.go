package driver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"spillway/plugin/failover/brain"
	"spillway/sdk"
)

const (
	// orders is the prefix of stored orders, by verb's kind and target.
	orders = "order/"
	// keepClear is for how long the order to clear a target is stored: long
	// enough for every process that is there, and for one that is starting.
	keepClear = time.Hour
	maxOrders = 256
)

// Operate implements sdk.Operator. What stands against a target and what a
// person ordered are kept in the store, which other processes watch.
func (p *Plugin) Operate(ctx context.Context, o sdk.Order) error {
	if err := p.check(o); err != nil {
		return err
	}
	key := orderKey(o)
	if err := patiently(ctx, func() error { return p.keep(ctx, key, o) }); err != nil {
		return fmt.Errorf("%s %s: not stored: %w", o.Verb, o.Target, err)
	}
	p.obey(key, o)
	p.host.Log().Info("order", "verb", string(o.Verb), "target", o.Target, "until", until(o.Until))
	p.report()
	return nil
}

// keep stores an order, or forgets the one that it ends.
func (p *Plugin) keep(ctx context.Context, key string, o sdk.Order) error {
	if o.Verb == sdk.VerbEnable {
		return p.host.State().Delete(ctx, key)
	}
	data, err := json.Marshal(o)
	if err == nil {
		_, err = p.host.State().Put(ctx, key, data, lifetime(o))
	}
	return err
}

// patience is how long somebody who waits for the store lets it try again: a
// person's order, or the start of the plugin. Requests never do.
const patience = 3 * time.Second

// patiently repeats f while the store is unavailable.
func patiently(ctx context.Context, f func() error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		err := f()
		if !errors.Is(err, sdk.ErrUnavailable) {
			return err
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return err
		}
	}
}

// check says what is wrong with an order, and what there is.
func (p *Plugin) check(o sdk.Order) error {
	if err := brain.CheckOrder(o); err != nil {
		return err
	}
	if !o.Until.IsZero() && !o.Until.After(time.Now()) {
		return fmt.Errorf("%s %s: until %s: that has passed", o.Verb, o.Target, until(o.Until))
	}
	if strings.HasPrefix(o.Target, "policy:") {
		return nil
	}
	t, err := brain.ParseTarget(o.Target)
	if err != nil {
		return err
	}
	provider, ok := p.host.Catalogue().Provider(t.Provider)
	switch {
	case o.Verb == sdk.VerbEnable || o.Verb == sdk.VerbClear: // also of what is there no more
	case !ok:
		var names []string
		for _, c := range p.host.Catalogue().Providers {
			names = append(names, c.Name)
		}
		return fmt.Errorf("%s %s: no provider %q (there are: %s)", o.Verb, o.Target, t.Provider, strings.Join(names, ", "))
	case t.Key != "" && !slices.Contains(provider.Keys, t.Key):
		return fmt.Errorf("%s %s: %s has no key %q (there are: %s)", o.Verb, o.Target, t.Provider, t.Key, strings.Join(provider.Keys, ", "))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.orders) >= maxOrders {
		return fmt.Errorf("%s %s: %d orders are in force, that is the most", o.Verb, o.Target, maxOrders)
	}
	return nil
}

// orderKey is where an order is stored. A target has one order besides clear.
func orderKey(o sdk.Order) string {
	if o.Verb == sdk.VerbClear {
		return orders + "clear/" + o.Target
	}
	return orders + "rule/" + o.Target
}

func lifetime(o sdk.Order) time.Duration {
	switch {
	case o.Verb == sdk.VerbClear:
		return keepClear
	case o.Until.IsZero():
		return 0
	}
	return max(time.Until(o.Until), time.Second)
}

// loadOrder takes in a stored order.
func (p *Plugin) loadOrder(i sdk.Item) {
	o := sdk.Order{Verb: sdk.VerbEnable}
	if !i.Deleted {
		if err := errors.Join(json.Unmarshal(i.Data, &o), brain.CheckOrder(o)); err != nil {
			p.host.Log().Warn("stored order ignored", "key", i.Key, "err", err.Error())
			return
		}
	}
	p.obey(i.Key, o)
}

// obey puts an order in force; one to enable ends the order that is stored under
// the key.
func (p *Plugin) obey(key string, o sdk.Order) {
	var changes []sdk.Change
	p.think(func(now brain.Instant) {
		switch o.Verb {
		case sdk.VerbClear:
			if t, err := brain.ParseTarget(o.Target); err == nil {
				changes = p.brain.Clear(now, t, o.At)
			}
			return
		case sdk.VerbEnable:
			delete(p.orders, key)
		case sdk.VerbDisable, sdk.VerbPin, sdk.VerbDrain:
			if len(p.orders) < maxOrders {
				p.orders[key] = o
			}
		}
		p.brain.SetOrders(now, p.standing(now))
	})
	p.moved(changes)
	p.replan(false)
}

// standing is the orders in force, in the order of their targets.
func (p *Plugin) standing(now brain.Instant) []sdk.Order {
	var list []sdk.Order
	for _, key := range slices.Sorted(maps.Keys(p.orders)) {
		if o := p.orders[key]; o.Until.IsZero() || o.Until.After(now.Wall) {
			list = append(list, o)
		} else {
			delete(p.orders, key)
		}
	}
	return list
}
