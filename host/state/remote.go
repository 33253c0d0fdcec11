package state

import (
	"context"
	"crypto/tls"
	_ "embed"
	"errors"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"

	"spillway/sdk"
)

const (
	// layout is a part of every key: a spillway that arranges its keys in
	// another way counts it up, and the two leave each other alone.
	layout = "v1"
	latest = "latest" // the key of the latest revision
	told   = "told"   // and of the latest that is for watchers

	poolSize = 4
	// connectLimit bounds a connection that is being made, with TLS. Operations
	// do not wait that long for it; the next ones find it ready.
	connectLimit = time.Second
)

//go:embed lua/common.lua
var luaCommon string

//go:embed lua/get.lua
var luaGet string

//go:embed lua/list.lua
var luaList string

//go:embed lua/since.lua
var luaSince string

//go:embed lua/tell.lua
var luaTell string

//go:embed lua/update.lua
var luaUpdate string

// remote is the backend in a Redis. Every operation is one round trip, but for a
// server that has not seen our scripts yet.
type remote struct {
	at      Redis
	client  *redis.Client
	keys    []string // as lua/common.lua names them
	channel string   // gets every change of an item
	signal  signal
	heard   heard

	untold  atomic.Uint64 // the latest revision that is still to be told
	telling chan struct{} // holds one while there is one

	scripts struct{ get, list, since, update, tell *redis.Script }

	end context.CancelFunc
	wg  sync.WaitGroup
}

var _ backend = (*remote)(nil)

// openRemote starts the backend, and waits for no connection.
func openRemote(at Redis, limit time.Duration) *remote {
	logging.Disable() // it would write to standard error; whatever matters comes back as an error
	r := &remote{
		at:      at,
		client:  redis.NewClient(at.options(limit)),
		channel: at.name("changes"),
		telling: make(chan struct{}, 1),
	}
	r.scripts.get = redis.NewScript(luaCommon + luaGet)
	r.scripts.list = redis.NewScript(luaCommon + luaList)
	r.scripts.since = redis.NewScript(luaCommon + luaSince)
	r.scripts.update = redis.NewScript(luaCommon + luaUpdate)
	r.scripts.tell = redis.NewScript(luaCommon + luaTell)
	for _, part := range []string{"data", "names", "revisions", "ends", latest, told, "burst"} {
		r.keys = append(r.keys, at.name(part))
	}
	life, end := context.WithCancel(context.Background())
	r.end = end
	// The first operation should find a connection; of its failure the
	// operations will tell.
	r.wg.Go(func() { _ = r.client.Ping(life) })
	r.wg.Go(func() { r.listen(life) })
	r.wg.Go(func() { r.tell(life) })
	return r
}

// name returns one of our keys. The braces put all of them into one slot, for
// the sake of proxies that stand before a cluster.
func (r Redis) name(part string) string { return "{" + r.prefix + "}:" + layout + ":" + part }

func (r Redis) options(limit time.Duration) *redis.Options {
	dialer := &net.Dialer{Timeout: connectLimit}
	dial := dialer.DialContext
	if r.tls != nil {
		dial = (&tls.Dialer{NetDialer: dialer, Config: r.tls}).DialContext
	}
	return &redis.Options{
		Dialer:   func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx, r.network, r.address) },
		Network:  r.network,
		Addr:     r.address,
		Username: r.username,
		Password: r.password,
		DB:       r.db,
		Protocol: 2, // nothing that we use needs more

		PoolSize:              poolSize,
		PoolTimeout:           limit,
		DialTimeout:           connectLimit,
		DialerRetries:         1,
		ReadTimeout:           max(limit, connectLimit), // the guard's contexts are shorter
		ContextTimeoutEnabled: true,
		// What failed for want of time may have been done: a second try would
		// see its own write as somebody else's.
		MaxRetries: -1,

		DisableIdentity:          true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
}

// close ends the backend. Operations fail from then on.
func (r *remote) close() {
	r.end()
	r.client.Close()
	r.wg.Wait()
}

func (r *remote) changed() <-chan struct{} { return r.signal.next() }

func (r *remote) get(ctx context.Context, key string) (sdk.Item, error) {
	items, err := r.items(ctx, r.scripts.get, key)
	if err != nil {
		return sdk.Item{}, err
	}
	if len(items) == 0 || items[0].Deleted {
		return sdk.Item{}, sdk.ErrNotFound
	}
	return items[0], nil
}

func (r *remote) list(ctx context.Context, prefix string) ([]sdk.Item, error) {
	return r.items(ctx, r.scripts.list, prefix, beyond(prefix))
}

// since asks the server only for what was not heard. Leases are not told of.
func (r *remote) since(ctx context.Context, prefix string, after uint64) ([]sdk.Item, uint64, error) {
	if strings.HasPrefix(prefix, itemRoot) {
		if items, latest, ok := r.heard.since(prefix, after, time.Now()); ok {
			return items, latest, nil
		}
	}
	return r.ask(ctx, prefix, after)
}

// ask asks the server for the changes of items under prefix.
func (r *remote) ask(ctx context.Context, prefix string, after uint64) ([]sdk.Item, uint64, error) {
	reply, err := r.scripts.since.Run(ctx, r.client, r.keys, prefix, after).Slice()
	if err != nil {
		return nil, 0, r.explain(err)
	}
	if len(reply) != 2 {
		return nil, 0, r.explain(errReply)
	}
	latest, ok1 := reply[0].(int64)
	changes, ok2 := reply[1].([]any)
	items, err := readItems(changes, time.Now())
	if !ok1 || !ok2 || latest < 0 || err != nil {
		return nil, 0, r.explain(errReply)
	}
	return items, uint64(latest), nil
}

func (r *remote) items(ctx context.Context, s *redis.Script, args ...any) ([]sdk.Item, error) {
	reply, err := s.Run(ctx, r.client, r.keys, args...).Slice()
	if err != nil {
		return nil, r.explain(err)
	}
	items, err := readItems(reply, time.Now())
	if err != nil {
		return nil, r.explain(err)
	}
	return items, nil
}

func (r *remote) update(ctx context.Context, key string, c change) (uint64, error) {
	at, channel := "", ""
	if c.only {
		at = strconv.FormatUint(c.at, 10)
	}
	if strings.HasPrefix(key, itemRoot) { // leases have no watchers
		channel = r.channel
	}
	reply, err := r.scripts.update.Run(ctx, r.client, r.keys, key, c.verb.String(), at, c.data,
		milliseconds(c.ttl), milliseconds(tombstoneLife), channel).Result()
	if err != nil {
		return 0, r.explain(err)
	}
	switch reply := reply.(type) {
	case int64:
		if reply < 0 {
			reply = -reply
			r.tellSoon(uint64(reply))
		}
		if c.verb != extend {
			r.signal.fire()
		}
		return uint64(reply), nil
	case string:
		switch reply {
		case "CONFLICT":
			return 0, sdk.ErrConflict
		case "ABSENT":
			return 0, sdk.ErrNotFound
		}
	}
	return 0, r.explain(errReply)
}

func (r *remote) revision(ctx context.Context) (uint64, error) {
	rev, err := r.client.Get(ctx, r.at.name(latest)).Uint64()
	switch {
	case errors.Is(err, redis.Nil):
		return 0, nil
	case err != nil:
		return 0, r.explain(err)
	}
	return rev, nil
}

// milliseconds is d rounded up.
func milliseconds(d time.Duration) int64 {
	return int64((d + time.Millisecond - 1) / time.Millisecond)
}

// readItems reads what lua/common.lua collects, at the time now.
func readItems(reply []any, now time.Time) ([]sdk.Item, error) {
	const fields = 4
	if len(reply)%fields != 0 {
		return nil, errReply
	}
	var items []sdk.Item
	for f := range slices.Chunk(reply, fields) {
		key, ok1 := f[0].(string)
		rev, ok2 := f[1].(int64)
		left, ok3 := f[2].(int64)
		data, ok4 := f[3].(string)
		if !ok1 || !ok2 || !ok3 || !ok4 && f[3] != nil || rev <= 0 || left < 0 {
			return nil, errReply
		}
		it := sdk.Item{Key: key, Revision: uint64(rev), Deleted: !ok4}
		if ok4 {
			it.Data = []byte(data)
		}
		if left > 0 {
			it.Expires = now.Add(time.Duration(left) * time.Millisecond)
		}
		items = append(items, it)
	}
	return items, nil
}
