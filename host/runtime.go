package host

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fsnotify/fsnotify"

	"spillway/host/dialect"
	"spillway/host/llm"
	"spillway/host/profile"
	"spillway/host/state"
	"spillway/host/state/record"
	"spillway/sdk"
)

// Options say which profile to run. The zero value of each field is usable but
// for Dir.
type Options struct {
	Dir        string   // the profile's folder
	Home       string   // of the home layer; "" for none
	Overlays   []string // further patch files
	PluginDirs []string // where binaries are looked for after the profile's own plugins folder
	Env        profile.Lookup
	Log        *slog.Logger
	// Watch reloads the profile when its files change.
	Watch bool
	// Memory keeps what is learned in memory, for tests and measurements.
	Memory bool
}

// Runtime is a running profile. It is safe for concurrent use.
type Runtime struct {
	opts   Options
	log    *slog.Logger
	store  *state.Store
	graph  atomic.Pointer[Graph]
	traces llm.Traces
	owner  string // of leases in the store
	began  time.Time

	life       context.Context
	end        context.CancelFunc
	background sync.WaitGroup
	reloading  sync.Mutex
	reloaded   atomic.Pointer[Reloaded]

	mu     sync.Mutex
	asking map[string]bool // providers whose model list is being fetched
}

// Open starts a profile. Faults of single entries do not fail it; see Entries.
func Open(ctx context.Context, o Options) (*Runtime, error) {
	if o.Env == nil {
		o.Env = os.LookupEnv
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	composed, err := profile.Load(o.Dir, profile.Options{Home: o.Home, Overlays: o.Overlays})
	if err != nil {
		return nil, err
	}
	r := &Runtime{opts: o, log: o.Log, owner: rand.Text(), began: time.Now(), asking: map[string]bool{}}
	r.life, r.end = context.WithCancel(context.Background())
	if o.Memory {
		r.store = state.NewMemory(state.Options{Log: o.Log})
	} else if r.store, err = openState(o); err != nil {
		return nil, err
	}
	b, err := r.build(ctx, composed, nil)
	if err != nil {
		r.store.Close()
		return nil, err
	}
	r.graph.Store(b.graph)
	r.reloaded.Store(&Reloaded{At: time.Now()})
	for _, p := range b.graph.Catalogue().Providers {
		if len(p.Models) == 0 {
			r.probe(p.Name)
		}
	}
	if o.Watch {
		w, err := fsnotify.NewWatcher()
		if err != nil {
			r.Close()
			return nil, fmt.Errorf("watch the profile: %w", err)
		}
		r.follow(w)
		r.background.Go(func() { r.watch(w) })
	}
	return r, nil
}

// openState opens the store of a profile, whose folder it makes.
func openState(o Options) (*state.Store, error) {
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, err
	}
	return state.Open(filepath.Join(o.Dir, profile.StateDir), state.Options{Log: o.Log})
}

// Close stops everything. Calls under way are cut by their own contexts, not by
// Close: let them end first.
func (r *Runtime) Close() {
	r.end()
	r.background.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), closePatience)
	defer cancel()
	for _, u := range slices.Backward(r.graph.Load().units) {
		u.stop(ctx)
	}
	r.store.Close()
}

// closePatience is how long plugins' turns are waited for at the end.
const closePatience = time.Second

// Dir is the profile's folder.
func (r *Runtime) Dir() string { return r.opts.Dir }

// Graph is what is running now.
func (r *Runtime) Graph() *Graph { return r.graph.Load() }

// Records are the stories of requests.
func (r *Runtime) Records() *state.Records { return r.store.Records() }

// Statuses is what each plugin reported last.
func (r *Runtime) Statuses(ctx context.Context) ([]state.PluginStatus, error) {
	return r.store.Statuses(ctx)
}

// Inbound is a model call as it comes in. Either Payload.Body is set, as the
// client sent it, or its prompt.
type Inbound struct {
	Route        sdk.Route
	Payload      *llm.Payload
	Stream       bool
	MaxTokens    int
	Effort       string
	Conversation string
	Shape        sdk.Shape
	// Notice hears of each attempt, and of the one before it; must not block.
	Notice func(a record.Attempt, before *record.Attempt)
}

// Call runs a model call. The caller ranges over the stream, and then calls
// Finish of the call's trace with what it told its own caller.
func (r *Runtime) Call(ctx context.Context, in Inbound) (*llm.Call, sdk.Stream) {
	id := NewID()
	name := ""
	if in.Payload.Dialect != nil {
		name = in.Payload.Dialect.Name()
	}
	rec := record.Request{ID: id, Dialect: name, Stream: in.Stream, Head: in.Route}
	if in.Conversation != "" {
		rec.Conversation = profile.Secret(in.Conversation).Fingerprint()
	}
	c := &llm.Call{
		ID: id, Payload: in.Payload,
		Trace: llm.NewTrace(rec, r.store.Records().Put, in.Notice),
		Request: sdk.Request{
			Provider: in.Route.Provider, Model: in.Route.Model, MaxTokens: in.MaxTokens, Effort: in.Effort,
			Stream: in.Stream, Conversation: in.Conversation, Shape: in.Shape,
		},
	}
	r.traces.Add(id, c.Trace)
	g := r.current()
	c.Trace.OnDecided(g.leave)
	return c, g.waterfall.Stream(ctx, c)
}

// current is the graph that runs now, entered.
func (r *Runtime) current() *Graph {
	for {
		g := r.graph.Load()
		g.enter()
		if g == r.graph.Load() {
			return g
		}
		g.leave() // it was replaced in between
	}
}

// NewID returns the id of a new request.
func NewID() string { return "req_" + strings.ToLower(rand.Text()[:20]) }

// ErrNoRoute is returned by Resolve.
var ErrNoRoute = errors.New("no route")

// Resolve finds the route that a client's model name means: provider/model, a
// model that a provider lists, else the first provider that speaks the client's
// dialect, which knows best what to say to a name that nobody lists. "" and
// "auto" mean the profile's first route.
func (r *Runtime) Resolve(model string, d dialect.Dialect) (sdk.Route, error) {
	return r.graph.Load().resolve(model, d)
}

// Judge asks the profile's plugins to refine a failure, in the order of the
// chain.
func (r *Runtime) Judge(ctx context.Context, vendor string, f sdk.Failure) (sdk.Failure, error) {
	var err error
	for _, p := range r.graph.Load().plugins() {
		if f, err = p.Judge(ctx, vendor, f); err != nil {
			return f, fmt.Errorf("plugin %q: %w", p.Info().Entry, err)
		}
	}
	return f, nil
}

// probe fetches a provider's model list in the background, once at a time.
func (r *Runtime) probe(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.asking[name] || r.life.Err() != nil {
		return
	}
	r.asking[name] = true
	r.background.Go(func() {
		defer func() {
			r.mu.Lock()
			delete(r.asking, name)
			r.mu.Unlock()
		}()
		g := r.graph.Load()
		if g == nil {
			return
		}
		ctx, cancel := context.WithTimeout(r.life, probeTimeout)
		defer cancel()
		models, err := g.providers.Models(ctx, name)
		if err != nil {
			r.log.Debug("model list not fetched", "provider", name, "err", err)
			return
		}
		g.advertise(ctx, name, models)
	})
}

const probeTimeout = 10 * time.Second

// Began is when the runtime was opened.
func (r *Runtime) Began() time.Time { return r.began }
