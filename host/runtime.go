package host

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"spillway/host/dialect"
	"spillway/host/llm"
	"spillway/host/profile"
	"spillway/host/provider"
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
	// Memory keeps what is learned in memory, for what nobody comes back to.
	Memory bool
	// Known is put into the plugins' part of the state at the start, by their entries;
	// for a state in memory. See Measurements.
	Known map[string][]sdk.Item
	// VendorsOnly runs providers and aliases and nothing else: who asks a vendor asks
	// that one. What is learned is kept in memory.
	VendorsOnly bool
	// Rehearsal, if set, puts others in the place of the profile's vendors.
	Rehearsal *Rehearsal

	terminal llm.Terminal // in the place of the vendors, for a dry run
}

// Runtime is a running profile. It is safe for concurrent use.
type Runtime struct {
	opts   Options
	log    *slog.Logger
	store  *state.Store
	shared []byte // config of the entry that shares the store with other machines, nil for none
	graph  atomic.Pointer[Graph]
	traces llm.Traces
	seals  *provider.Seals
	owner  string // of leases in the store
	began  time.Time
	// askAlways keeps no plan of any plugin's.
	askAlways bool

	followers followers

	life       context.Context
	end        context.CancelFunc
	background sync.WaitGroup
	entering   sync.RWMutex // held by calls for a moment, and while another graph is put in force
	reloading  sync.Mutex
	drained    chan struct{} // closed when the calls of all replaced graphs are decided; guarded by reloading
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
	always, err := askAlways()
	if err != nil {
		return nil, err
	}
	r := &Runtime{opts: o, log: o.Log, owner: rand.Text(), began: time.Now(), askAlways: always, asking: map[string]bool{}}
	r.life, r.end = context.WithCancel(context.Background())
	r.drained = make(chan struct{})
	close(r.drained) // none yet
	var w *watcher
	if o.Watch {
		if w, err = r.watcher(); err != nil { // before anything is read, so that no change is missed
			return nil, err
		}
	}
	if err := r.open(ctx); err != nil {
		if w != nil {
			w.Close()
		}
		return nil, err
	}
	if w != nil {
		r.background.Go(w.run)
	}
	return r, nil
}

// open starts the profile. On error nothing runs.
func (r *Runtime) open(ctx context.Context) error {
	composed, err := profile.Load(r.opts.Dir, r.layers())
	if err != nil {
		return err
	}
	ready := r.prepare(composed)
	defer ready.making.Wait()
	options := state.Options{Log: r.log}
	alone := r.opts.Rehearsal != nil || r.opts.VendorsOnly
	if !alone {
		options.Redis, r.shared = r.opts.shared(composed)
	}
	if r.opts.Memory || alone {
		r.store = state.NewMemory(options)
	} else if r.store, err = openState(r.opts.Dir, options); err != nil {
		return err
	}
	r.recall(ctx)
	r.openSeals(ctx)
	b, err := r.build(ctx, ready, nil)
	if err != nil {
		r.end()
		r.background.Wait()
		r.store.Close()
		return err
	}
	r.graph.Store(b.graph)
	r.reloaded.Store(&Reloaded{At: time.Now()})
	r.probeUnlisted()
	return nil
}

// openState opens the store of a profile, whose folder it makes.
func openState(dir string, o state.Options) (*state.Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return state.Open(filepath.Join(dir, profile.StateDir), o)
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
	ID           string // of the request, as NewID makes them; "" for a new one
	Route        sdk.Route
	Payload      *llm.Payload
	Stream       bool
	MaxTokens    int
	Effort       string
	Conversation string
	Shape        sdk.Shape
	Wants        sdk.Wants
	// Notice hears of each attempt, and of the one before it; must not block.
	Notice func(a record.Attempt, before *record.Attempt)
}

// Call runs a model call. The caller ranges over the stream, and then calls
// Finish of the call's trace with what it told its own caller.
func (r *Runtime) Call(ctx context.Context, in Inbound) (*llm.Call, sdk.Stream) {
	id := cmp.Or(in.ID, NewID())
	name := ""
	if in.Payload.Dialect != nil {
		name = in.Payload.Dialect.Name()
	}
	g := r.enter()
	rec := record.Request{
		ID: id, Dialect: name, Stream: in.Stream, Head: in.Route, Graph: g.number,
		Shape: in.Shape, Wants: in.Wants, MaxTokens: in.MaxTokens,
	}
	if in.Conversation != "" {
		rec.Conversation = profile.Secret(in.Conversation).Fingerprint()
	}
	if len(in.Payload.Hosted) > 0 {
		p := g.providers.Provider(in.Route.Provider)
		in.Shape.HostedTools = p == nil || p.Acts(in.Payload.Hosted)
		rec.Shape = in.Shape
	}
	c := &llm.Call{
		ID: id, Payload: in.Payload,
		Trace: llm.NewTrace(rec, r.finished, in.Notice),
		Request: sdk.Request{
			Provider: in.Route.Provider, Model: in.Route.Model, MaxTokens: in.MaxTokens, Effort: in.Effort,
			Stream: in.Stream, Conversation: in.Conversation, Shape: in.Shape, Wants: in.Wants, Own: g.providers.Own(in.Payload.Credentials),
		},
	}
	r.traces.Add(id, c.Trace)
	c.Trace.On(g.calls.opened, g.calls.decided, r.traced(g, c))
	return c, g.waterfall.Resuming(ctx, c, g.waterfall.Stream(ctx, c))
}

// ErrNoRoute is returned by Resolve.
var ErrNoRoute = errors.New("no route")

// Resolve finds what a client's model name means: an alias, provider/model, a
// model that a provider lists, a provider and thereby its first model, else the
// first provider that speaks the client's dialect, which knows best what to say to
// a name that nobody lists. "" and "auto" mean the first of Graph.Priority that
// runs, else the profile's first route.
func (r *Runtime) Resolve(model string, d dialect.Dialect) (Alias, error) {
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

// probeUnlisted fetches the model lists of providers that have none.
func (r *Runtime) probeUnlisted() {
	for _, p := range r.Graph().Catalogue().Providers {
		if len(p.Models) == 0 {
			r.probe(p.Name)
		}
	}
}

// probe fetches a provider's model list in the background, once at a time.
func (r *Runtime) probe(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.asking[name] || r.life.Err() != nil || r.opts.terminal != nil || r.opts.VendorsOnly {
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
		models, err := g.providers.Models(ctx, name, "")
		if err != nil {
			r.log.Debug("model list not fetched", "provider", name, "err", err)
			return
		}
		g.advertise(ctx, name, models)
		r.followers.statusChanged()
	})
}

const probeTimeout = 10 * time.Second

// Models asks a provider's vendor which models it has, with the key of a
// fingerprint; see [spillway/host/provider.Set.Models].
func (r *Runtime) Models(ctx context.Context, name, key string) ([]string, error) {
	return r.graph.Load().providers.Models(ctx, name, key)
}

// Began is when the runtime was opened.
func (r *Runtime) Began() time.Time { return r.began }
