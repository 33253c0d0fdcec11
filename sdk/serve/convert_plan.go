package serve

import (
	"time"

	"spillway/sdk"
	wirepb "spillway/sdk/serve/proto"
)

func planToWire(p sdk.Plan) *wirepb.Plan {
	return &wirepb.Plan{Ttl: int64(p.TTL), Rules: convert(p.Rules[:min(len(p.Rules), sdk.MaxRules)], ruleToWire)}
}

func planFromWire(p *wirepb.Plan) sdk.Plan {
	rules := p.GetRules()
	return sdk.Plan{TTL: time.Duration(p.GetTtl()), Rules: convert(rules[:min(len(rules), sdk.MaxRules)], ruleFromWire)}
}

func ruleToWire(r sdk.Rule) *wirepb.Rule {
	c, l := r.Class, r.Content
	w := &wirepb.Rule{
		Class: &wirepb.RequestClass{
			Route: routeToWire(c.Route), Wants: wantsToWire(c.Wants), Stream: c.Stream,
			Tools: c.Tools, Images: c.Images, Documents: c.Documents, ParallelTools: c.ParallelTools,
			Structured: c.Structured, Reasoning: c.Reasoning, ToolResult: c.ToolResult,
		},
		MaxPrompt: int64(r.MaxPrompt), Dispatch: dispatchToWire(r.Dispatch), Own: r.Own,
		Content: &wirepb.ContentLimit{
			Base: int64(l.Base), PerPrompt: int64(l.PerPrompt), Pace: int64(l.Pace),
			PerOutput: int64(l.PerOutput), Assumed: int64(l.Assumed), Least: int64(l.Least), Most: int64(l.Most),
		},
	}
	for _, key := range r.Keys {
		w.Keys = append(w.Keys, valid(key))
	}
	return w
}

func ruleFromWire(w *wirepb.Rule) sdk.Rule {
	c, l := w.GetClass(), w.GetContent()
	return sdk.Rule{
		Class: sdk.RequestClass{
			Route: routeFromWire(c.GetRoute()), Wants: wantsFromWire(c.GetWants()), Stream: c.GetStream(),
			Tools: c.GetTools(), Images: c.GetImages(), Documents: c.GetDocuments(), ParallelTools: c.GetParallelTools(),
			Structured: c.GetStructured(), Reasoning: c.GetReasoning(), ToolResult: c.GetToolResult(),
		},
		MaxPrompt: int(w.GetMaxPrompt()), Dispatch: dispatchFromWire(w.GetDispatch()), Keys: w.GetKeys(), Own: w.GetOwn(),
		Content: sdk.ContentLimit{
			Base: time.Duration(l.GetBase()), PerPrompt: time.Duration(l.GetPerPrompt()), Pace: time.Duration(l.GetPace()),
			PerOutput: time.Duration(l.GetPerOutput()), Assumed: int(l.GetAssumed()), Least: time.Duration(l.GetLeast()), Most: time.Duration(l.GetMost()),
		},
	}
}
