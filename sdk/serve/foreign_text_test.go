package serve_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"spillway/sdk"
	"spillway/sdk/plugintest"
)

// Bytes that are no text, as clients and vendors send them, and what listeners
// and callers see.
const foreign, readable = "a\xff\xfeb", "a\uFFFDb"

// TestForeignTextOfClients: whatever a client calls its model and conversation,
// the call is made and the session lives.
func TestForeignTextOfClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen sdk.Request
		h := newLosable(t, &hookPlugin{HookFunc: func(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
			seen = c.Request
			p, err := c.Prompt(ctx)
			if err != nil {
				return nil, err
			}
			r := c.Request
			r.Prompt = p
			return next(ctx, r)
		}})
		r := saying(foreign)
		r.Provider, r.Model, r.Effort, r.Conversation = foreign, foreign, foreign, foreign
		text, f := h.ask(t.Context(), r)
		checkAnswer(t, text, f, "bypassed", "", "")
		want := sdk.Request{
			Provider: readable, Model: readable, Effort: readable, Conversation: readable,
		}
		if d := cmp.Diff(want, seen); d != "" {
			t.Errorf("the listener's view (-want +got):\n%s", d)
		}
		checkAlive(t, h)
	})
}

// TestForeignTextOfVendors: whatever a vendor says, in a failure or in an
// answer, reaches listener and caller, and the session lives.
func TestForeignTextOfVendors(t *testing.T) {
	refusal := sdk.NewFailure(sdk.CodeServer, foreign, foreign)
	refusal.VendorCode, refusal.VendorType, refusal.HintSource = foreign, foreign, foreign
	answer := []sdk.Event{
		{Kind: sdk.KindStart, ID: foreign, Model: foreign},
		{Kind: sdk.KindBlockStart, Block: sdk.BlockToolCall, ID: foreign, Name: foreign},
		{Kind: sdk.KindToolCallDelta, Text: foreign},
		{Kind: sdk.KindBlockEnd, Signature: foreign},
		sdk.FailEvent(refusal),
	}
	t.Run("a failure before content", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var heard *sdk.Failure
			h := newLosable(t, &hookPlugin{HookFunc: func(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
				s, err := next(ctx, c.Request)
				if err != nil {
					return nil, err
				}
				heard = sdk.AwaitVisible(ctx, s)
				return nil, heard
			}})
			h.upstream = func(context.Context, sdk.Request, int) sdk.Stream { return sdk.Fail(refusal) }
			text, f := h.ask(t.Context(), primary)
			checkAnswer(t, text, f, "", sdk.CodeServer, readable)
			if heard == nil || heard.Message != readable || heard.VendorCode != readable || heard.VendorType != readable {
				t.Errorf("the listener heard %+v", heard)
			}
			checkAlive(t, h)
		})
	})
	t.Run("a relayed answer", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			h := newLosable(t, &hookPlugin{HookFunc: mapped})
			h.upstream = func(context.Context, sdk.Request, int) sdk.Stream { return sdk.Answer(answer...) }
			var got []sdk.Event
			for e, err := range h.call(t.Context(), primary).Events() {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, e)
			}
			want := []sdk.Event{
				{Kind: sdk.KindStart, ID: readable, Model: readable},
				{Kind: sdk.KindBlockStart, Block: sdk.BlockToolCall, ID: readable, Name: readable},
				{Kind: sdk.KindToolCallDelta, Text: readable},
				{Kind: sdk.KindBlockEnd, Signature: readable},
				{Kind: sdk.KindFinish, Finish: sdk.FinishError, Failure: &sdk.Failure{
					Code: sdk.CodeServer, Scope: sdk.ScopeRoute, Rule: readable, Message: readable,
					VendorCode: readable, VendorType: readable, HintSource: readable,
				}},
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			checkAlive(t, h)
		})
	})
	t.Run("an event without one rune start", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			h := newLosable(t, &hookPlugin{HookFunc: mapped})
			h.upstream = func(context.Context, sdk.Request, int) sdk.Stream {
				return sdk.Answer(sdk.Event{Kind: sdk.KindTextDelta, Text: strings.Repeat("\x80", 1<<20)})
			}
			if text, f := h.ask(t.Context(), primary); f != nil || text == "" {
				t.Errorf("got %d bytes, %v", len(text), f)
			}
			checkAlive(t, h)
		})
	})
}

// spoilt is a store that has errors which are no text.
type spoilt struct{ sdk.State }

func (spoilt) Get(context.Context, string) (sdk.Item, error) {
	return sdk.Item{}, errors.New(foreign)
}

// TestForeignTextOfStores: a key that another program has written is passed over,
// in a list and by a watch, and the session lives.
func TestForeignTextOfStores(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var host sdk.Host
		store := spoilt{plugintest.NewMemory()}
		put := func(key string) {
			if _, err := store.Put(t.Context(), key, []byte("1"), 0); err != nil {
				t.Error(err)
			}
		}
		put("kept/" + foreign)
		put("kept/good")
		plugintest.Start(t, &statePlugin{host: &host}, plugintest.Options{State: store})
		if items, err := host.State().List(t.Context(), "kept/"); err != nil || len(items) != 1 || items[0].Key != "kept/good" {
			t.Errorf("list: %v, %v", items, err)
		}
		var seen []string
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { _ = host.State().Watch(ctx, "told/", func(i sdk.Item) { seen = append(seen, i.Key) }) })
		synctest.Wait()
		put("told/" + foreign)
		put("told/good")
		synctest.Wait()
		cancel()
		wg.Wait()
		if d := cmp.Diff([]string{"told/good"}, seen); d != "" {
			t.Errorf("watch (-want +got):\n%s", d)
		}
		if _, err := host.State().Get(t.Context(), "x"); err == nil || !strings.Contains(err.Error(), readable) {
			t.Errorf("get: %v", err)
		}
	})
}

// checkAlive fails if the session of every call has ended.
func checkAlive(t *testing.T, h *losable) {
	t.Helper()
	synctest.Wait()
	if err := h.wire(0).session.Err(); err != nil {
		t.Errorf("the session of every call has ended: %v", err)
	}
}
