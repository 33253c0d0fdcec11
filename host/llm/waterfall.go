package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"

	"spillway/sdk"
)

// MaxDepth bounds re-entry: far above any sensible chain, far below a loop.
const MaxDepth = 16

// Listener is a hook with its name, which errors and records use.
type Listener struct {
	Name string
	Hook sdk.Hook
}

// Terminal makes the attempts. Dispatch returns a lazy stream and cannot fail:
// an unknown provider is a stream that ends in NO_ADAPTER.
type Terminal interface {
	Dispatch(ctx context.Context, c *Call, r sdk.Request, p *Payload) sdk.Stream
}

// Waterfall is a chain of listeners with its terminal. It is immutable and safe
// for concurrent use.
type Waterfall struct {
	terminal  Terminal
	listeners []Listener
	log       *slog.Logger
}

// New returns a waterfall whose listeners run in the given order.
func New(log *slog.Logger, terminal Terminal, listeners ...Listener) *Waterfall {
	return &Waterfall{terminal: terminal, listeners: listeners, log: log}
}

// Stream runs the call. ctx bounds the whole of it, to the end of the answer.
func (w *Waterfall) Stream(ctx context.Context, c *Call) sdk.Stream {
	return w.run(ctx, c, c.Payload, c.Request, 0, 0)
}

// run calls listener i, or the terminal after the last.
func (w *Waterfall) run(ctx context.Context, c *Call, p *Payload, r sdk.Request, depth, i int) sdk.Stream {
	if i == len(w.listeners) {
		return w.terminal.Dispatch(ctx, c, r, p)
	}
	l := w.listeners[i]
	t := &turn{waterfall: w, call: c, payload: p, depth: depth, index: i}
	s, err := t.listen(ctx, l, r)
	switch {
	case err != nil:
		return sdk.Fail(failureOf(l.Name, err))
	case s == nil:
		return sdk.Fail(sdk.NewFailure(sdk.CodePlugin, "llm.stream", fmt.Sprintf("plugin %q returned neither a stream nor an error", l.Name)))
	}
	if h, ok := s.(*handle); ok {
		return h.resolve()
	}
	return sdk.Hold(s, r.Dispatch.Visible)
}

// failureOf is the failure that a listener's error stands for.
func failureOf(name string, err error) *sdk.Failure {
	if f, ok := errors.AsType[*sdk.Failure](err); ok {
		return f
	}
	return sdk.NewFailure(sdk.CodePlugin, "llm.stream", fmt.Sprintf("plugin %q: %v", name, err))
}

// turn is one listener's call, as sdk.CallCore.
type turn struct {
	waterfall *Waterfall
	call      *Call
	payload   *Payload
	depth     int
	index     int

	mu    sync.Mutex
	spent bool
}

func (t *turn) listen(ctx context.Context, l Listener, r sdk.Request) (s sdk.Stream, err error) {
	defer func() {
		if v := recover(); v != nil {
			t.waterfall.log.Error("plugin panic", "plugin", l.Name, "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
			s, err = nil, fmt.Errorf("panic: %v", v)
		}
	}()
	call := sdk.NewCall(t, t.call.ID, t.depth, r)
	if t.depth == 0 { // of a re-entry the listener that made it knows
		call.Past = slices.Clone(t.call.Past)
	}
	return l.Hook.LLMStream(ctx, call, t.next)
}

// next implements sdk.Next.
func (t *turn) next(ctx context.Context, r sdk.Request) (sdk.Stream, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.spent {
		return nil, fmt.Errorf("plugin %q: %w", t.waterfall.listeners[t.index].Name, sdk.ErrNextSpent)
	}
	t.spent = true
	return t.handle(ctx, r, t.depth, t.index+1), nil
}

// Reenter implements sdk.CallCore.
func (t *turn) Reenter(ctx context.Context, r sdk.Request) (sdk.Stream, error) {
	if t.depth == MaxDepth {
		return nil, fmt.Errorf("plugin %q: %w", t.waterfall.listeners[t.index].Name, sdk.ErrTooDeep)
	}
	return t.handle(ctx, r, t.depth+1, 0), nil
}

// Prompt implements sdk.CallCore. The listener gets a copy of its own.
func (t *turn) Prompt(context.Context) (*sdk.Prompt, error) {
	shared, err := t.payload.Prompt()
	if err != nil {
		return nil, err
	}
	b, err := json.Marshal(shared)
	if err != nil {
		return nil, fmt.Errorf("prompt: %w", err)
	}
	own := new(sdk.Prompt)
	if err := json.Unmarshal(b, own); err != nil {
		return nil, fmt.Errorf("prompt: %w", err)
	}
	return own, nil
}

func (t *turn) handle(ctx context.Context, r sdk.Request, depth, i int) *handle {
	p := t.payload
	if r.Prompt != nil {
		p = p.reworded(r.Prompt)
		r.Prompt = nil
	}
	h := &handle{cancel: func() {}}
	if i < len(t.waterfall.listeners) { // a terminal's stream is there at once, and closing that is enough
		ctx, h.cancel = context.WithCancel(ctx)
	}
	h.start = func() sdk.Stream { return t.waterfall.run(ctx, t.call, p, r, depth, i) }
	return h
}

// handle is what a listener gets from next: the rest of the chain, not yet run.
// It changes no event.
type handle struct {
	cancel context.CancelFunc
	once   sync.Once
	start  func() sdk.Stream
	s      sdk.Stream

	mu       sync.Mutex
	resolved sdk.Stream // s, once it is there
	closed   bool
}

var (
	_ sdk.Stream    = (*handle)(nil)
	_ sdk.Awaiter   = (*handle)(nil)
	_ sdk.Unwrapper = (*handle)(nil)
)

// resolve runs the following listener, which does not send anything upstream
// unless that listener awaits or reads.
func (h *handle) resolve() sdk.Stream {
	h.once.Do(func() {
		h.s = h.start()
		h.mu.Lock()
		h.resolved = h.s
		closed := h.closed
		h.mu.Unlock()
		if closed {
			h.s.Close()
		}
	})
	return h.s
}

func (h *handle) Unwrap() sdk.Stream { return h.resolve() }
func (h *handle) AwaitVisible(ctx context.Context) *sdk.Failure {
	return sdk.AwaitVisible(ctx, h.resolve())
}
func (h *handle) Events() iter.Seq2[sdk.Event, error] { return h.resolve().Events() }

// Close ends the rest of the chain wherever it is. It does not wait for it: the
// listener that runs at this moment may take its time.
func (h *handle) Close() error {
	h.cancel()
	h.mu.Lock()
	h.closed = true
	s := h.resolved
	h.mu.Unlock()
	if s != nil {
		return s.Close()
	}
	return nil
}
