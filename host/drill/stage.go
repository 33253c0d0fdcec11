package drill

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"spillway/host"
	"spillway/host/llm"
	"spillway/host/profile"
	"spillway/host/sim"
	"spillway/sdk"
)

// stage is a profile that runs against simulated vendors, one for each provider.
type stage struct {
	*host.Runtime
	vendors     map[string]*sim.Server // by provider
	credentials []llm.Credential       // of a client, for vendors that want its own
	keys        map[string]int         // by provider
}

// open starts a profile. script is what a provider's vendor plays.
func open(ctx context.Context, o host.Options, faster int, script func(provider string) string) (*stage, error) {
	s := &stage{vendors: map[string]*sim.Server{}, keys: map[string]int{}}
	o.Watch = false
	o.Rehearsal = &host.Rehearsal{Faster: faster, StandIn: func(r host.Role) (host.Stand, error) {
		return s.standIn(ctx, r, script(r.Provider))
	}}
	var err error
	if s.Runtime, err = host.Open(ctx, o); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// standIn starts the vendor that stands in for a provider.
func (s *stage) standIn(ctx context.Context, r host.Role, script string) (host.Stand, error) {
	v := sim.Vendor{
		Name: fmt.Sprintf("vendor-%d", len(s.vendors)), // marks its words
		Like: r.Vendor, Models: r.Models, Script: script, Strict: true,
		Answer: sim.Answer{Tokens: words, Numbered: true},
	}
	var keys []profile.Secret
	if r.Credentials != nil {
		own := profile.Secret(r.Credentials[0] + "made-up-for-a-drill")
		v.Keys = []string{own.Reveal()}
		s.credentials = append(s.credentials, llm.Credential{Bearer: true, Secret: own})
	} else {
		for i := range r.Keys {
			key := fmt.Sprintf("made-up-key-%d-of-%s", i+1, r.Provider)
			keys, v.Keys = append(keys, profile.Secret(key)), append(v.Keys, key)
		}
	}
	server, err := sim.New(sim.Options{Vendors: []sim.Vendor{v}})
	if err == nil {
		err = server.Start(ctx, "127.0.0.1:0")
	}
	if err != nil {
		return host.Stand{}, err
	}
	s.vendors[r.Provider], s.keys[r.Provider] = server, r.Keys
	return host.Stand{URL: server.Vendors()[0].URL() + "/v1", Keys: keys}, nil
}

func (s *stage) close() {
	if s.Runtime != nil {
		s.Runtime.Close()
	}
	for _, v := range s.vendors {
		v.Close()
	}
}

// calls are the requests for an answer that came to a provider's vendor, for one
// model or all.
func (s *stage) calls(r sdk.Route) []sim.Call {
	v := s.vendors[r.Provider]
	if v == nil {
		return nil
	}
	return slices.DeleteFunc(v.Calls(), func(c sim.Call) bool {
		return c.Model == "" || r.Model != "" && c.Model != r.Model
	})
}

// shut keeps routes closed, so that those after them are asked.
func (s *stage) shut(ctx context.Context, routes []sdk.Route) error {
	for _, r := range routes {
		if err := s.Operate(ctx, sdk.Order{Verb: sdk.VerbDisable, Target: r.String()}); err != nil {
			return err
		}
	}
	return nil
}

// prompt is what is asked in a rehearsal.
const prompt = "Say something. This is a rehearsal."

// ask makes a call and hears it to its end.
func (s *stage) ask(ctx context.Context, to host.Alias) heard {
	payload := llm.PromptPayload(&sdk.Prompt{Messages: []sdk.Message{{Role: sdk.RoleUser, Parts: []sdk.Part{sdk.TextPart(prompt)}}}})
	payload.Credentials = s.credentials
	began := time.Now()
	call, stream := s.Call(ctx, host.Inbound{
		Route: to.Route, Wants: to.Wants, Stream: true, Payload: payload, Conversation: "drill",
		Shape: sdk.Shape{PromptTokens: len(prompt)/4 + 1, Messages: 1},
	})
	h := hear(stream, began)
	if ctx.Err() != nil && errors.Is(context.Cause(ctx), errHangs) {
		h.hung = true
	}
	call.Trace.Finish(h.failure, h.text != "")
	h.record = call.Trace.Record()
	return h
}
