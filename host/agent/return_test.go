package agent_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spillway/host"
	"spillway/host/agent"
	"spillway/host/dialect"
	"spillway/host/llm"
	"spillway/host/state/record"
	"spillway/sdk"
)

// dispatches answers each call after the attempts that a test has written down.
type dispatches struct {
	calls [][]sdk.Request
}

func (*dispatches) Graph() *host.Graph { return new(host.Graph) }

func (*dispatches) Resolve(string, dialect.Dialect) (host.Alias, error) {
	return host.Alias{Route: sdk.Route{Provider: "first", Model: "m"}}, nil
}

func (d *dispatches) Call(_ context.Context, in host.Inbound) (*llm.Call, sdk.Stream) {
	c := &llm.Call{ID: "req", Payload: in.Payload, Trace: llm.NewTrace(record.Request{}, nil, in.Notice)}
	for _, r := range d.calls[0] {
		c.Trace.Begin(r)
	}
	d.calls = d.calls[1:]
	return c, sdk.AnswerText("m", "done")
}

// A route that was left and answers again is told, once, however it comes back.
func TestReturn(t *testing.T) {
	on := func(provider string, k sdk.AttemptKind) sdk.Request {
		return sdk.Request{Provider: provider, Model: "m", Dispatch: sdk.Dispatch{Kind: k}}
	}
	primary, retry, probe := on("first", sdk.KindPrimary), on("first", sdk.KindRetry), on("first", sdk.KindProbe)
	second := on("second", sdk.KindFallback)
	for _, tt := range []struct {
		name  string
		calls [][]sdk.Request
		want  []string // routes, of each message
	}{
		{"never left", [][]sdk.Request{{primary}, {primary, retry}, {probe}}, []string{"", "", ""}},
		{"asked first again", [][]sdk.Request{{primary, second}, {second}, {primary}, {primary}}, []string{"", "", "first/m", ""}},
		{"back with the second try", [][]sdk.Request{{primary, second}, {primary, retry}, {primary}}, []string{"", "first/m", ""}},
		{"tested", [][]sdk.Request{{primary, second}, {probe, second}, {probe}, {primary}}, []string{"", "", "first/m", ""}},
		{"left again", [][]sdk.Request{{second}, {primary}, {second}, {primary}}, []string{"", "first/m", "", "first/m"}},
		{"answered by a plugin", [][]sdk.Request{{second}, {}, {primary}}, []string{"", "", "first/m"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesk(t)
			d.options.Models = &dispatches{calls: tt.calls}
			a := d.agent(t)
			var got []string
			for range tt.calls {
				d.events = nil
				if err := a.Send(t.Context(), sdk.TextPart("go")); err != nil {
					t.Fatal(err)
				}
				var back []string
				for _, e := range d.told(agent.EventReturn) {
					back = append(back, e.Attempt.Route.String())
				}
				got = append(got, strings.Join(back, " "))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("returns (-want +got):\n%s", diff)
			}
		})
	}
}

// Who chooses a route knows whom to expect.
func TestNoReturnAfterAChoice(t *testing.T) {
	d := newDesk(t)
	fallback := sdk.Request{Provider: "second", Model: "m", Dispatch: sdk.Dispatch{Kind: sdk.KindFallback}}
	d.options.Models = &dispatches{calls: [][]sdk.Request{{fallback}, {{Provider: "first", Model: "m"}}}}
	a := d.agent(t)
	for range 2 {
		if err := a.Send(t.Context(), sdk.TextPart("go")); err != nil {
			t.Fatal(err)
		}
		a.SetModel("first/m")
	}
	if got := d.told(agent.EventReturn); len(got) != 0 {
		t.Errorf("told %v", got)
	}
}
