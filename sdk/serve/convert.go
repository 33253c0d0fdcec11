package serve

import (
	"strings"
	"time"
	"unicode/utf8"

	"spillway/sdk"
	wirepb "spillway/sdk/serve/proto"
)

// The two directions of every type that crosses. Enumerations are strings on
// both sides, so a value from a newer peer passes through unharmed.

func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func moment(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n)
}

// valid makes s what a protobuf string must be. Clients and vendors send what
// they like, and one frame that cannot be encoded would end the session of
// every call.
func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

func convert[A, B any](in []A, f func(A) B) []B {
	if len(in) == 0 {
		return nil
	}
	out := make([]B, len(in))
	for i, v := range in {
		out[i] = f(v)
	}
	return out
}

func routeToWire(r sdk.Route) *wirepb.Route {
	return &wirepb.Route{Provider: valid(r.Provider), Model: valid(r.Model)}
}

func routeFromWire(r *wirepb.Route) sdk.Route {
	return sdk.Route{Provider: r.GetProvider(), Model: r.GetModel()}
}

func failureToWire(f *sdk.Failure) *wirepb.Failure {
	if f == nil {
		return nil
	}
	return &wirepb.Failure{
		Code: valid(string(f.Code)), Cause: valid(string(f.Cause)), Scope: valid(string(f.Scope)), Phase: valid(string(f.Phase)),
		Status: int32(f.Status), VendorCode: valid(f.VendorCode), VendorType: valid(f.VendorType),
		Message: valid(sdk.ClipMessage(f.Message)), RetryAfter: int64(f.RetryAfter), ResetAt: nanos(f.ResetAt),
		HintSource: valid(f.HintSource), Rule: valid(f.Rule), Matched: valid(sdk.ClipMessage(f.Matched)),
		Generic: f.Generic, Billing: f.Billing, Acted: f.Acted, Attempt: int32(f.Attempt),
	}
}

func failureFromWire(f *wirepb.Failure) *sdk.Failure {
	if f == nil {
		return nil
	}
	return &sdk.Failure{
		Code: sdk.Code(f.Code), Cause: sdk.Cause(f.Cause), Scope: sdk.Scope(f.Scope), Phase: sdk.Phase(f.Phase),
		Status: int(f.Status), VendorCode: f.VendorCode, VendorType: f.VendorType,
		Message: sdk.ClipMessage(f.Message), RetryAfter: time.Duration(f.RetryAfter), ResetAt: moment(f.ResetAt),
		HintSource: f.HintSource, Rule: f.Rule, Matched: sdk.ClipMessage(f.Matched),
		Generic: f.Generic, Billing: f.Billing, Acted: f.Acted, Attempt: int(f.Attempt),
	}
}

func usageToWire(u sdk.Usage) *wirepb.Usage {
	if u == (sdk.Usage{}) {
		return nil
	}
	return &wirepb.Usage{
		Input: int64(u.Input), Output: int64(u.Output), Reasoning: int64(u.Reasoning),
		CacheRead: int64(u.CacheRead), CacheWrite: int64(u.CacheWrite),
	}
}

func usageFromWire(u *wirepb.Usage) sdk.Usage {
	return sdk.Usage{
		Input: int(u.GetInput()), Output: int(u.GetOutput()), Reasoning: int(u.GetReasoning()),
		CacheRead: int(u.GetCacheRead()), CacheWrite: int(u.GetCacheWrite()),
	}
}

func eventToWire(e sdk.Event) *wirepb.Event {
	w := &wirepb.Event{
		Kind: uint32(e.Kind), Index: int32(e.Index), Block: uint32(e.Block), Text: valid(e.Text),
		Id: valid(e.ID), Name: valid(e.Name), Model: valid(e.Model), Signature: valid(e.Signature),
		Finish: string(e.Finish), Failure: failureToWire(e.Failure),
	}
	if e.Usage != nil {
		w.Usage = usageToWire(*e.Usage)
	}
	return w
}

// maxEventText keeps a relayed event far below the limit on a message: a tool
// call's arguments may come in one piece of any size.
const maxEventText = 256 << 10

// pieces hands the wire form of e to send, in several events if its text is
// long.
func pieces(e sdk.Event, send func(*wirepb.Event) error) error {
	for len(e.Text) > maxEventText {
		n := maxEventText
		for n > maxEventText-utf8.UTFMax && !utf8.RuneStart(e.Text[n]) {
			n--
		}
		part := e
		part.Text = e.Text[:n]
		if err := send(eventToWire(part)); err != nil {
			return err
		}
		e.Text = e.Text[n:]
	}
	return send(eventToWire(e))
}

func eventFromWire(w *wirepb.Event) sdk.Event {
	e := sdk.Event{
		Kind: sdk.EventKind(w.Kind), Index: int(w.Index), Block: sdk.BlockKind(w.Block), Text: w.Text,
		ID: w.Id, Name: w.Name, Model: w.Model, Signature: w.Signature,
		Finish: sdk.Finish(w.Finish), Failure: failureFromWire(w.Failure),
	}
	if w.Usage != nil {
		u := usageFromWire(w.Usage)
		e.Usage = &u
	}
	return e
}

func skipToWire(s sdk.Skip) *wirepb.Skip {
	return &wirepb.Skip{Route: routeToWire(s.Route), Reason: valid(s.Reason)}
}

func skipFromWire(s *wirepb.Skip) sdk.Skip {
	return sdk.Skip{Route: routeFromWire(s.Route), Reason: s.Reason}
}

func dispatchToWire(d sdk.Dispatch) *wirepb.Dispatch {
	return &wirepb.Dispatch{
		Kind: valid(string(d.Kind)), Reason: valid(d.Reason), Key: valid(d.Key), Delay: int64(d.Delay),
		Connect: int64(d.Limits.Connect), FirstContent: int64(d.Limits.FirstContent),
		Idle: int64(d.Limits.Idle), Total: int64(d.Limits.Total),
		Visible: uint32(d.Visible), Tag: valid(d.Tag), Skipped: convert(d.Skipped, skipToWire), Buffer: d.Buffer, Resume: d.Resume,
	}
}

func dispatchFromWire(d *wirepb.Dispatch) sdk.Dispatch {
	return sdk.Dispatch{
		Kind: sdk.AttemptKind(d.GetKind()), Reason: d.GetReason(), Key: d.GetKey(), Delay: time.Duration(d.GetDelay()),
		Limits: sdk.Limits{
			Connect: time.Duration(d.GetConnect()), FirstContent: time.Duration(d.GetFirstContent()),
			Idle: time.Duration(d.GetIdle()), Total: time.Duration(d.GetTotal()),
		},
		Visible: sdk.Visible(d.GetVisible()), Tag: d.GetTag(), Skipped: convert(d.GetSkipped(), skipFromWire), Buffer: d.GetBuffer(), Resume: d.GetResume(),
	}
}

func viewToWire(r sdk.Request) *wirepb.View {
	return &wirepb.View{
		Route: routeToWire(r.Route()), MaxTokens: int64(r.MaxTokens), Effort: valid(r.Effort),
		Stream: r.Stream, Conversation: valid(r.Conversation), Metadata: r.Metadata, Own: r.Own,
		Shape: &wirepb.Shape{
			PromptTokens: int64(r.Shape.PromptTokens), Messages: int32(r.Shape.Messages),
			Tools: int32(r.Shape.Tools), Images: int32(r.Shape.Images), Documents: int32(r.Shape.Documents),
			ParallelTools: r.Shape.ParallelTools, Structured: r.Shape.Structured,
			Reasoning: r.Shape.Reasoning, ToolResult: r.Shape.ToolResult, HostedTools: r.Shape.HostedTools,
		},
		Dispatch: dispatchToWire(r.Dispatch),
		Wants:    wantsToWire(r.Wants),
	}
}

func wantsToWire(w sdk.Wants) *wirepb.Wants {
	return &wirepb.Wants{
		Budget: valid(w.Budget), Contract: valid(w.Contract), Strict: w.Strict, SameModel: w.SameModel, Stream: valid(w.Stream),
		SameProvider: w.SameProvider,
	}
}

func wantsFromWire(w *wirepb.Wants) sdk.Wants {
	return sdk.Wants{Budget: w.GetBudget(), Contract: w.GetContract(), Strict: w.GetStrict(), SameModel: w.GetSameModel(), Stream: w.GetStream(), SameProvider: w.GetSameProvider()}
}

func viewFromWire(v *wirepb.View) sdk.Request {
	s := v.GetShape()
	return sdk.Request{
		Provider: v.GetRoute().GetProvider(), Model: v.GetRoute().GetModel(),
		MaxTokens: int(v.GetMaxTokens()), Effort: v.GetEffort(),
		Stream: v.GetStream(), Conversation: v.GetConversation(), Metadata: v.GetMetadata(), Own: v.GetOwn(),
		Shape: sdk.Shape{
			PromptTokens: int(s.GetPromptTokens()), Messages: int(s.GetMessages()),
			Tools: int(s.GetTools()), Images: int(s.GetImages()), Documents: int(s.GetDocuments()),
			ParallelTools: s.GetParallelTools(), Structured: s.GetStructured(),
			Reasoning: s.GetReasoning(), ToolResult: s.GetToolResult(), HostedTools: s.GetHostedTools(),
		},
		Dispatch: dispatchFromWire(v.GetDispatch()),
		Wants:    wantsFromWire(v.GetWants()),
	}
}

// patch is base with what an attempt may change.
func patch(base sdk.Request, a *wirepb.Attempt) sdk.Request {
	base.Provider, base.Model = a.GetRoute().GetProvider(), a.GetRoute().GetModel()
	base.Dispatch = dispatchFromWire(a.Dispatch)
	return base
}

func attemptedToWire(a sdk.Attempted) *wirepb.Attempted {
	return &wirepb.Attempted{
		Route: routeToWire(a.Route), Key: valid(a.Key), Kind: valid(string(a.Kind)), Tag: valid(a.Tag),
		Started: nanos(a.Started), Failure: failureToWire(a.Failure), Committed: a.Committed, Planned: a.Planned,
	}
}

func attemptedFromWire(a *wirepb.Attempted) sdk.Attempted {
	return sdk.Attempted{
		Route: routeFromWire(a.Route), Key: a.Key, Kind: sdk.AttemptKind(a.Kind), Tag: a.Tag,
		Started: moment(a.Started), Failure: failureFromWire(a.Failure), Committed: a.Committed, Planned: a.Planned,
	}
}

func outcomeToWire(o sdk.Outcome) *wirepb.Outcome {
	return &wirepb.Outcome{
		Seq: o.Seq, Id: o.Call, Attempt: int32(o.Attempt), Route: routeToWire(o.Route), Key: valid(o.Key),
		Kind: valid(string(o.Kind)), Tag: valid(o.Tag), Committed: o.Committed, Failure: failureToWire(o.Failure),
		Finish: string(o.Finish), Started: nanos(o.Started), FirstContent: int64(o.FirstContent),
		Took: int64(o.Took), Usage: usageToWire(o.Usage), Stream: o.Stream, PromptTokens: int64(o.PromptTokens),
		Planned: o.Planned, Conversation: valid(o.Conversation),
	}
}

func outcomeFromWire(o *wirepb.Outcome) sdk.Outcome {
	return sdk.Outcome{
		Seq: o.Seq, Call: o.Id, Attempt: int(o.Attempt), Route: routeFromWire(o.Route), Key: o.Key,
		Kind: sdk.AttemptKind(o.Kind), Tag: o.Tag, Committed: o.Committed, Failure: failureFromWire(o.Failure),
		Finish: sdk.Finish(o.Finish), Started: moment(o.Started), FirstContent: time.Duration(o.FirstContent),
		Took: time.Duration(o.Took), Usage: usageFromWire(o.Usage), Stream: o.Stream, PromptTokens: int(o.PromptTokens),
		Planned: o.Planned, Conversation: o.Conversation,
	}
}

func catalogueToWire(c sdk.Catalogue) *wirepb.Catalogue {
	return &wirepb.Catalogue{Revision: c.Revision, Providers: convert(c.Providers, func(p sdk.Provider) *wirepb.Provider {
		return &wirepb.Provider{Name: p.Name, Keys: p.Keys, Loopback: p.Loopback, Egress: p.Egress, Passthrough: p.Passthrough,
			Models: convert(p.Models, func(m sdk.Model) *wirepb.Model {
				return &wirepb.Model{Id: m.ID, Context: int64(m.Context), MaxOutput: int64(m.MaxOutput), Capabilities: m.Capabilities}
			})}
	})}
}

func catalogueFromWire(c *wirepb.Catalogue) sdk.Catalogue {
	return sdk.Catalogue{Revision: c.Revision, Providers: convert(c.Providers, func(p *wirepb.Provider) sdk.Provider {
		return sdk.Provider{Name: p.Name, Keys: p.Keys, Loopback: p.Loopback, Egress: p.Egress, Passthrough: p.Passthrough,
			Models: convert(p.Models, func(m *wirepb.Model) sdk.Model {
				return sdk.Model{ID: m.Id, Context: int(m.Context), MaxOutput: int(m.MaxOutput), Capabilities: m.Capabilities}
			})}
	})}
}

func decisionToWire(d sdk.Decision) *wirepb.Decision {
	w := &wirepb.Decision{
		Id: valid(d.Call), Attempt: int32(d.Attempt), Code: valid(string(d.Code)), Scope: valid(string(d.Scope)), Rule: valid(d.Rule),
		Action: valid(string(d.Action)), Reason: valid(d.Reason), Skipped: convert(d.Skipped, skipToWire),
		Delay: int64(d.Delay), Left: int64(d.Left),
		Changes: convert(d.Changes, func(c sdk.Change) *wirepb.CircuitChange {
			return &wirepb.CircuitChange{Target: valid(c.Target), From: valid(string(c.From)), To: valid(string(c.To)), Until: nanos(c.Until)}
		}),
	}
	if d.Target != nil {
		w.Target = routeToWire(*d.Target)
	}
	return w
}

func decisionFromWire(w *wirepb.Decision) sdk.Decision {
	d := sdk.Decision{
		Call: w.Id, Attempt: int(w.Attempt), Code: sdk.Code(w.Code), Scope: sdk.Scope(w.Scope), Rule: w.Rule,
		Action: sdk.Action(w.Action), Reason: w.Reason, Skipped: convert(w.Skipped, skipFromWire),
		Delay: time.Duration(w.Delay), Left: time.Duration(w.Left),
		Changes: convert(w.Changes, func(c *wirepb.CircuitChange) sdk.Change {
			return sdk.Change{Target: c.Target, From: sdk.CircuitState(c.From), To: sdk.CircuitState(c.To), Until: moment(c.Until)}
		}),
	}
	if w.Target != nil {
		r := routeFromWire(w.Target)
		d.Target = &r
	}
	return d
}

func statusToWire(s sdk.Status) *wirepb.Status {
	return &wirepb.Status{Targets: convert(s.Targets, func(t sdk.TargetStatus) *wirepb.TargetStatus {
		return &wirepb.TargetStatus{
			Scope: valid(string(t.Scope)), Target: valid(t.Target), State: valid(string(t.State)), Since: nanos(t.Since), Until: nanos(t.Until),
			Code: valid(string(t.Code)), Reason: valid(t.Reason), Failures: int32(t.Failures), Trips: int32(t.Trips),
		}
	}), Orders: convert(s.Orders, orderToWire)}
}

func statusFromWire(s *wirepb.Status) sdk.Status {
	return sdk.Status{Targets: convert(s.Targets, func(t *wirepb.TargetStatus) sdk.TargetStatus {
		return sdk.TargetStatus{
			Scope: sdk.Scope(t.Scope), Target: t.Target, State: sdk.CircuitState(t.State), Since: moment(t.Since), Until: moment(t.Until),
			Code: sdk.Code(t.Code), Reason: t.Reason, Failures: int(t.Failures), Trips: int(t.Trips),
		}
	}), Orders: convert(s.Orders, orderFromWire)}
}

func orderToWire(o sdk.Order) *wirepb.Order {
	return &wirepb.Order{Verb: valid(string(o.Verb)), Target: valid(o.Target), At: nanos(o.At), Until: nanos(o.Until), Note: valid(o.Note)}
}

func orderFromWire(o *wirepb.Order) sdk.Order {
	return sdk.Order{Verb: sdk.Verb(o.Verb), Target: o.Target, At: moment(o.At), Until: moment(o.Until), Note: o.Note}
}

func faultToWire(f sdk.Fault) *wirepb.Fault {
	return &wirepb.Fault{Path: valid(f.Path), Value: valid(f.Value), Message: valid(f.Message), Allowed: valid(f.Allowed)}
}

func faultFromWire(f *wirepb.Fault) sdk.Fault {
	return sdk.Fault{Path: f.Path, Value: f.Value, Message: f.Message, Allowed: f.Allowed}
}

func itemToWire(i sdk.Item) *wirepb.Item {
	return &wirepb.Item{Key: i.Key, Data: i.Data, Revision: i.Revision, Expires: nanos(i.Expires), Deleted: i.Deleted}
}

func itemFromWire(i *wirepb.Item) sdk.Item {
	return sdk.Item{Key: i.Key, Data: i.Data, Revision: i.Revision, Expires: moment(i.Expires), Deleted: i.Deleted}
}

// Features of a manifest; the last one is one of a host, too.
const (
	featureJudge    = "judge"
	featureOperator = "operator"
	featurePlan     = "plan"
)

func manifestToWire(m sdk.Manifest) *wirepb.Manifest {
	w := &wirepb.Manifest{
		Name: m.Name, Version: m.Version, Minor: Minor, Schema: m.Schema,
		MaxDepth: uint32(m.Hook.MaxDepth), Models: m.Hook.Models, OnDown: string(m.Hook.OnDown),
		Wait: int64(m.Hook.Wait), Decide: int64(m.Hook.Decide),
	}
	if m.Judge {
		w.Features = append(w.Features, featureJudge)
	}
	if m.Operator {
		w.Features = append(w.Features, featureOperator)
	}
	if m.Plan {
		w.Features = append(w.Features, featurePlan)
	}
	return w
}

func manifestFromWire(w *wirepb.Manifest) sdk.Manifest {
	m := sdk.Manifest{
		Name: w.Name, Version: w.Version, Schema: w.Schema,
		Hook: sdk.HookSpec{
			MaxDepth: int(w.MaxDepth), Models: w.Models, OnDown: sdk.OnDown(w.OnDown),
			Wait: time.Duration(w.Wait), Decide: time.Duration(w.Decide),
		},
	}
	for _, f := range w.Features {
		m.Judge = m.Judge || f == featureJudge
		m.Operator = m.Operator || f == featureOperator
		m.Plan = m.Plan || f == featurePlan
	}
	return m
}
