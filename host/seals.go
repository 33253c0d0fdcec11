package host

import (
	"context"
	"strconv"
	"time"

	"spillway/host/dialect"
	"spillway/host/provider"
	"spillway/host/state"
	"spillway/sdk"
)

// sealsSpace is the part of the store where seals are. Other parts are named after
// entries, which have no slash in their ids: it divides a route.
const sealsSpace = "host/seals"

// A conversation may be taken up again after weeks. Writes that the store does
// not take in time are given up: the memory is a help, not a ledger.
const (
	keepSeals    = 30 * 24 * time.Hour
	waitingSeals = 256
)

// keptSeal is a seal with its vendor.
type keptSeal struct {
	seal   dialect.Seal
	vendor string
}

// openSeals makes the memory of seals. Those of failovers are in the store too,
// so that a conversation goes home after a restart, or by way of another process
// of the profile. What was stored before is known when it returns, if the store
// is in reach.
func (r *Runtime) openSeals(ctx context.Context) {
	waiting := make(chan keptSeal, waitingSeals)
	r.seals = provider.NewSeals(func(s dialect.Seal, vendor string) {
		select {
		case waiting <- keptSeal{s, vendor}:
		default:
		}
	})
	space := r.store.Namespace(sealsSpace, r.owner)
	learn := func(it sdk.Item) {
		if s, err := strconv.ParseUint(it.Key, 16, 64); err == nil && !it.Deleted {
			r.seals.Learn(dialect.Seal(s), string(it.Data))
		}
	}
	if err := space.Watch(r.life, "", learn); err != nil {
		r.log.Warn("seals of other processes are not heard of", "err", err)
	}
	known, err := space.List(ctx, "")
	if err != nil {
		r.log.Warn("seals of earlier runs are not known", "err", err)
	}
	for _, it := range known {
		learn(it)
	}
	r.background.Go(func() { r.storeSeals(space, waiting) })
}

// storeSeals writes down what is waiting until the runtime ends, and the rest
// then.
func (r *Runtime) storeSeals(space *state.Namespace, waiting <-chan keptSeal) {
	put := func(k keptSeal) {
		if _, err := space.Put(context.Background(), strconv.FormatUint(uint64(k.seal), 16), []byte(k.vendor), keepSeals); err != nil {
			r.log.Debug("seal not stored", "err", err)
		}
	}
	for {
		select {
		case k := <-waiting:
			put(k)
		case <-r.life.Done():
			for len(waiting) > 0 {
				put(<-waiting)
			}
			return
		}
	}
}
