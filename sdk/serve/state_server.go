package serve

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"spillway/sdk"
	wirepb "spillway/sdk/serve/proto"
)

// stateServer answers a plugin's requests to the store. Each runs in its own
// goroutine, bounded in number and time, so that a slow store blocks nobody.
type stateServer struct {
	state  sdk.State
	link   *link[*wirepb.ToPlugin]
	slots  chan struct{}
	life   context.Context
	cancel context.CancelFunc

	mu      sync.Mutex
	watches map[uint64]context.CancelFunc
}

const (
	maxServices    = 64
	maxWatches     = 64
	serviceTimeout = time.Second
)

func newStateServer(st sdk.State, l *link[*wirepb.ToPlugin]) *stateServer {
	life, cancel := context.WithCancel(context.Background())
	return &stateServer{state: st, link: l, slots: make(chan struct{}, maxServices),
		life: life, cancel: cancel, watches: map[uint64]context.CancelFunc{}}
}

func (v *stateServer) close() { v.cancel() }

func (v *stateServer) serve(q *wirepb.Service) {
	switch q.Op {
	case wirepb.Service_WATCH:
		v.watch(q)
		return
	case wirepb.Service_UNWATCH:
		v.mu.Lock()
		if cancel := v.watches[q.Revision]; cancel != nil {
			cancel()
			delete(v.watches, q.Revision)
		}
		v.mu.Unlock()
		return
	}
	select {
	case v.slots <- struct{}{}:
	default:
		v.refuse(q)
		return
	}
	go func() {
		defer func() { <-v.slots }()
		ctx, cancel := context.WithTimeout(v.life, serviceTimeout)
		defer cancel()
		r := &wirepb.Reply{}
		err := sdk.ErrUnavailable
		if v.state != nil {
			err = v.run(ctx, q, r)
		}
		r.Id, r.Error = q.Id, stateErrorToWire(err)
		v.reply(r)
	}()
}

func (v *stateServer) reply(r *wirepb.Reply) {
	f := &wirepb.ToPlugin{Frame: &wirepb.ToPlugin_Reply{Reply: r}}
	if v.link.check(f) != nil { // a list of more than a frame holds
		f = &wirepb.ToPlugin{Frame: &wirepb.ToPlugin_Reply{Reply: &wirepb.Reply{Id: r.Id, Error: stateErrorToWire(sdk.ErrTooLarge)}}}
	}
	_ = v.link.send(v.life, f)
}

// refuse answers without waiting: it runs in the reading goroutine.
func (v *stateServer) refuse(q *wirepb.Service) {
	v.link.offer(&wirepb.ToPlugin{Frame: &wirepb.ToPlugin_Reply{Reply: &wirepb.Reply{Id: q.Id, Error: stateErrorToWire(sdk.ErrUnavailable)}}})
}

func (v *stateServer) run(ctx context.Context, q *wirepb.Service, r *wirepb.Reply) error {
	ttl := time.Duration(q.Ttl)
	lease := sdk.Lease{Name: q.Key, Generation: q.Revision}
	var err error
	switch q.Op {
	case wirepb.Service_GET:
		var i sdk.Item
		if i, err = v.state.Get(ctx, q.Key); err == nil {
			r.Items = []*wirepb.Item{itemToWire(i)}
		}
	case wirepb.Service_PUT:
		r.Revision, err = v.state.Put(ctx, q.Key, q.Data, ttl)
	case wirepb.Service_CAS:
		r.Revision, err = v.state.CompareAndSwap(ctx, q.Key, q.Revision, q.Data, ttl)
	case wirepb.Service_DELETE:
		err = v.state.Delete(ctx, q.Key)
	case wirepb.Service_LIST:
		var items []sdk.Item
		items, err = v.state.List(ctx, q.Key)
		r.Items = convert(slices.DeleteFunc(items, foreign), itemToWire)
	case wirepb.Service_ACQUIRE:
		if lease, err = v.state.Acquire(ctx, q.Key, ttl); err == nil {
			r.Revision, r.Expires = lease.Generation, nanos(lease.Expires)
		}
	case wirepb.Service_RENEW:
		err = v.state.Renew(ctx, lease, ttl)
	case wirepb.Service_RELEASE:
		err = v.state.Release(ctx, lease)
	default:
		err = fmt.Errorf("unknown operation %d", q.Op)
	}
	return err
}

// foreign reports whether an item has a key that no plugin can give one. Whoever
// else writes to a store may, and a frame with it could not be sent.
func foreign(i sdk.Item) bool { return !utf8.ValidString(i.Key) }

func (v *stateServer) watch(q *wirepb.Service) {
	v.mu.Lock()
	defer v.mu.Unlock()
	id := q.Revision
	if v.state == nil || len(v.watches) == maxWatches || v.watches[id] != nil {
		v.refuse(q)
		return
	}
	ctx, cancel := context.WithCancel(v.life)
	v.watches[id] = cancel
	go func() {
		err := v.state.Watch(ctx, q.Key, func(i sdk.Item) {
			if foreign(i) {
				return
			}
			_ = v.link.send(ctx, &wirepb.ToPlugin{Frame: &wirepb.ToPlugin_Change{Change: &wirepb.Change{Id: id, Item: itemToWire(i)}}})
		})
		v.reply(&wirepb.Reply{Id: q.Id, Error: stateErrorToWire(err)})
	}()
}
