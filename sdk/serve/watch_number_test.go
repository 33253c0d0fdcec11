package serve_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"

	"spillway/sdk"
	"spillway/sdk/plugintest"
	"spillway/sdk/serve"
	wirepb "spillway/sdk/serve/proto"
)

// watchCounter counts the watches of a store.
type watchCounter struct {
	sdk.State
	mu sync.Mutex
	n  int
}

func (c *watchCounter) Watch(ctx context.Context, prefix string, f func(sdk.Item)) error {
	c.mu.Lock()
	c.n++
	c.mu.Unlock()
	return c.State.Watch(ctx, prefix, f)
}

// TestWatchNumberTaken: a plugin that gives one number to all its watches gets
// one watch. Each further one would have lived as long as the session, beyond
// the bound on watches, and nothing could have ended it.
func TestWatchNumberTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &watchCounter{State: plugintest.NewMemory()}
		var errs []string
		plugin := func(_ string, e *end) {
			for id := range uint64(3) {
				w := &wirepb.Service{Id: id, Op: wirepb.Service_WATCH, Revision: 7}
				_ = e.SendMsg(&wirepb.ToHost{Frame: &wirepb.ToHost_Service{Service: w}})
			}
			for {
				in := new(wirepb.ToPlugin)
				if e.RecvMsg(in) != nil {
					return
				}
				if r := in.GetReply(); r != nil {
					errs = append(errs, r.Error)
				}
			}
		}
		s, err := serve.Open(t.Context(), dialled{plugin}, sdk.Manifest{}, serve.SessionOptions{State: store})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		s.Close()
		synctest.Wait()
		refused := 0
		for _, e := range errs {
			if e == "unavailable" {
				refused++
			}
		}
		if store.n != 1 || len(errs) != 3 || refused != 2 {
			t.Errorf("%d watches, answers %q; want 1, and two refusals", store.n, errs)
		}
	})
}
