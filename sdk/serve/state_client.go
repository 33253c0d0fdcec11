package serve

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
	"unicode/utf8"

	"spillway/sdk"
	wirepb "spillway/sdk/serve/proto"
)

// stateClient is sdk.State as a plugin sees it: requests over the session.
type stateClient struct {
	link *link[*wirepb.ToHost]

	mu      sync.Mutex
	last    uint64
	waiting map[uint64]chan *wirepb.Reply
	watches map[uint64]*watch
}

var _ sdk.State = (*stateClient)(nil)

// watch keeps the newest change of each key for a watcher that is slow.
type watch struct {
	mu    sync.Mutex
	items []sdk.Item
	wake  chan struct{} // capacity 1
}

func (c *stateClient) init(l *link[*wirepb.ToHost]) {
	c.link = l
	c.waiting = map[uint64]chan *wirepb.Reply{}
	c.watches = map[uint64]*watch{}
}

// stateErrors is how errors of sdk.State are spelt on the wire.
var stateErrors = []struct {
	word string
	err  error
}{
	{"not_found", sdk.ErrNotFound},
	{"conflict", sdk.ErrConflict},
	{"held", sdk.ErrHeld},
	{"too_large", sdk.ErrTooLarge},
	{"unavailable", sdk.ErrUnavailable},
}

func stateErrorToWire(err error) string {
	if err == nil {
		return ""
	}
	for _, e := range stateErrors {
		if errors.Is(err, e.err) {
			return e.word
		}
	}
	return valid(err.Error())
}

func stateErrorFromWire(word string) error {
	if word == "" {
		return nil
	}
	for _, e := range stateErrors {
		if e.word == word {
			return e.err
		}
	}
	return errors.New("state: " + word)
}

func (c *stateClient) reply(r *wirepb.Reply) {
	c.mu.Lock()
	ch := c.waiting[r.Id]
	delete(c.waiting, r.Id)
	c.mu.Unlock()
	if ch != nil {
		ch <- r
	}
}

func (c *stateClient) change(ch *wirepb.Change) {
	c.mu.Lock()
	w := c.watches[ch.Id]
	c.mu.Unlock()
	if w != nil && ch.Item != nil {
		w.put(itemFromWire(ch.Item))
	}
}

func (w *watch) put(i sdk.Item) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for n := range w.items {
		if w.items[n].Key == i.Key {
			w.items[n] = i
			return
		}
	}
	w.items = append(w.items, i)
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// ask sends one request and waits for its reply.
func (c *stateClient) ask(ctx context.Context, s *wirepb.Service) (*wirepb.Reply, error) {
	if !utf8.ValidString(s.Key) {
		return nil, fmt.Errorf("state: key %q is not UTF-8", s.Key)
	}
	ch := make(chan *wirepb.Reply, 1)
	c.mu.Lock()
	c.last++
	s.Id = c.last
	c.waiting[s.Id] = ch
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.waiting, s.Id)
		c.mu.Unlock()
	}()
	if err := c.link.send(ctx, &wirepb.ToHost{Frame: &wirepb.ToHost_Service{Service: s}}); err != nil {
		return nil, err
	}
	select {
	case r := <-ch:
		return r, stateErrorFromWire(r.Error)
	case <-c.link.ended:
		return nil, c.link.err()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (c *stateClient) Get(ctx context.Context, key string) (sdk.Item, error) {
	r, err := c.ask(ctx, &wirepb.Service{Op: wirepb.Service_GET, Key: key})
	if err != nil {
		return sdk.Item{}, err
	}
	if len(r.Items) == 0 {
		return sdk.Item{}, sdk.ErrNotFound
	}
	return itemFromWire(r.Items[0]), nil
}

func (c *stateClient) Put(ctx context.Context, key string, data []byte, ttl time.Duration) (uint64, error) {
	return c.write(ctx, &wirepb.Service{Op: wirepb.Service_PUT, Key: key, Data: data, Ttl: int64(ttl)})
}

func (c *stateClient) CompareAndSwap(ctx context.Context, key string, rev uint64, data []byte, ttl time.Duration) (uint64, error) {
	return c.write(ctx, &wirepb.Service{Op: wirepb.Service_CAS, Key: key, Data: data, Revision: rev, Ttl: int64(ttl)})
}

func (c *stateClient) write(ctx context.Context, s *wirepb.Service) (uint64, error) {
	if len(s.Data) > sdk.MaxStateValue {
		return 0, sdk.ErrTooLarge
	}
	r, err := c.ask(ctx, s)
	if err != nil {
		return 0, err
	}
	return r.Revision, nil
}

func (c *stateClient) Delete(ctx context.Context, key string) error {
	_, err := c.ask(ctx, &wirepb.Service{Op: wirepb.Service_DELETE, Key: key})
	return err
}

func (c *stateClient) List(ctx context.Context, prefix string) ([]sdk.Item, error) {
	r, err := c.ask(ctx, &wirepb.Service{Op: wirepb.Service_LIST, Key: prefix})
	if err != nil {
		return nil, err
	}
	return convert(r.Items, itemFromWire), nil
}

func (c *stateClient) Watch(ctx context.Context, prefix string, f func(sdk.Item)) error {
	w := &watch{wake: make(chan struct{}, 1)}
	s := &wirepb.Service{Op: wirepb.Service_WATCH, Key: prefix}
	// The id must be known before the first change can arrive.
	c.mu.Lock()
	c.last++
	id := c.last
	c.watches[id] = w
	c.mu.Unlock()
	s.Revision = id
	if _, err := c.ask(ctx, s); err != nil {
		c.unwatch(id)
		return err
	}
	go func() {
		defer c.unwatch(id)
		c.deliver(ctx, w, f)
	}()
	return nil
}

func (c *stateClient) unwatch(id uint64) {
	c.mu.Lock()
	delete(c.watches, id)
	c.mu.Unlock()
	c.link.offer(&wirepb.ToHost{Frame: &wirepb.ToHost_Service{Service: &wirepb.Service{Op: wirepb.Service_UNWATCH, Revision: id}}})
}

// deliver calls f for what has come in, until the watch or the session ends.
func (c *stateClient) deliver(ctx context.Context, w *watch, f func(sdk.Item)) {
	for {
		select {
		case <-w.wake:
		case <-c.link.ended:
			return
		case <-ctx.Done():
			return
		}
		w.mu.Lock()
		items := w.items
		w.items = nil
		w.mu.Unlock()
		for _, i := range items {
			f(i)
		}
	}
}

func (c *stateClient) Acquire(ctx context.Context, name string, ttl time.Duration) (sdk.Lease, error) {
	r, err := c.ask(ctx, &wirepb.Service{Op: wirepb.Service_ACQUIRE, Key: name, Ttl: int64(ttl)})
	if err != nil {
		return sdk.Lease{}, err
	}
	return sdk.Lease{Name: name, Generation: r.Revision, Expires: moment(r.Expires)}, nil
}

func (c *stateClient) Renew(ctx context.Context, l sdk.Lease, ttl time.Duration) error {
	_, err := c.ask(ctx, &wirepb.Service{Op: wirepb.Service_RENEW, Key: l.Name, Revision: l.Generation, Ttl: int64(ttl)})
	return err
}

func (c *stateClient) Release(ctx context.Context, l sdk.Lease) error {
	_, err := c.ask(ctx, &wirepb.Service{Op: wirepb.Service_RELEASE, Key: l.Name, Revision: l.Generation})
	return err
}
