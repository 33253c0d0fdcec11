package brain

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"spillway/sdk"
)

// options are the NAME=VALUE words of a command. The first thing that cannot be
// read, or is not known to the command, is kept in err.
type options struct {
	words map[string]string
	err   error
}

func parseOptions(f []string) *options {
	o := &options{words: map[string]string{}}
	for _, w := range f {
		k, v, _ := strings.Cut(w, "=")
		o.words[k] = v
	}
	return o
}

func (o *options) text(name string) string {
	v := o.words[name]
	delete(o.words, name)
	return v
}

func (o *options) has(name string) bool {
	_, ok := o.words[name]
	delete(o.words, name)
	return ok
}

func (o *options) list(name string) []string {
	if v := o.text(name); v != "" {
		return strings.Split(v, "+")
	}
	return nil
}

func (o *options) number(name string) int {
	v := o.text(name)
	if v == "" {
		return 0
	}
	n, err := strconv.Atoi(v)
	o.fault(err)
	return n
}

func (o *options) share(name string) float64 {
	v := o.text(name)
	if v == "" {
		return 0
	}
	n, err := strconv.ParseFloat(v, 64)
	o.fault(err)
	return n
}

func (o *options) time(name string) time.Duration {
	v := o.text(name)
	if v == "" {
		return 0
	}
	d, err := time.ParseDuration(v)
	o.fault(err)
	return d
}

func (o *options) fault(err error) {
	if o.err == nil {
		o.err = err
	}
}

// done is the first fault, also that of an option that nobody has read.
func (o *options) done() error {
	for name := range o.words {
		o.fault(fmt.Errorf("unknown option %q", name))
	}
	return o.err
}

// query is the request of a call.
func (p *player) query(f []string) (Query, *running, error) {
	o := parseOptions(f[1:])
	q := Query{Head: p.routes(f[:1])[0], Stream: !o.has("whole"), Began: p.now.Mono}
	q.MaxTokens = o.number("maxtokens")
	q.Draw = o.share("draw")
	if d := o.time("deadline"); d != 0 {
		q.Deadline = p.now.Mono + d
	}
	q.Conversation = o.text("conversation")
	if own := o.text("own"); own != "" {
		q.Conversation = ownedBy(*provider(p.cat, q.Head.Provider), own, q.Conversation)
	}
	q.Shape = sdk.Shape{
		PromptTokens: o.number("prompt"), Images: o.number("images"), Tools: o.number("tools"), Documents: o.number("documents"),
		Structured: o.has("structured"), ParallelTools: o.has("parallel"), Reasoning: o.has("reasoning"), ToolResult: o.has("tool"), HostedTools: o.has("hosted"),
	}
	q.Wants = sdk.Wants{Budget: o.text("budget"), Contract: o.text("contract"), Strict: o.has("strict"), SameModel: o.has("samemodel"), SameProvider: o.has("sameprovider")}
	return q, &running{limits: o.has("limits"), message: o.has("message")}, o.done()
}

// ownedBy is a conversation, named like the given one, to which the provider's
// healthy key belongs.
func ownedBy(p sdk.Provider, key, name string) string {
	b := New(moment(0), Policy{})
	for i := 0; ; i++ {
		c := fmt.Sprintf("%s.%d", name, i)
		if b.pick(moment(0), &Turn{conversation: sdk.ConversationHash(c)}, &p, sdk.Route{Provider: p.Name}, nil, false).key == key {
			return c
		}
	}
}

func (p *player) routes(names []string) []sdk.Route {
	var rs []sdk.Route
	for _, n := range names {
		name, model, _ := strings.Cut(n, "/")
		rs = append(rs, sdk.Route{Provider: name, Model: model})
		if _, known := p.cat.Provider(name); !known && !strings.HasPrefix(name, "?") {
			p.cat.Providers = append(p.cat.Providers, sdk.Provider{Name: name, Keys: []string{"k1"}})
		}
	}
	return rs
}

func (p *player) provider(f []string) error {
	pr := sdk.Provider{Name: f[0]}
	var rest []string
	for _, w := range f[1:] {
		if strings.Contains(w, "=") || w == "loopback" {
			rest = append(rest, w)
			continue
		}
		part := append(strings.Split(w, ":"), "", "", "")
		m := sdk.Model{ID: part[0]}
		m.Context, _ = strconv.Atoi(part[1])
		m.MaxOutput, _ = strconv.Atoi(part[2])
		if len(part) > 6 {
			m.Capabilities = strings.Split(part[3], "+")
		}
		pr.Models = append(pr.Models, m)
	}
	o := parseOptions(rest)
	pr.Keys, pr.Egress, pr.Loopback = o.list("keys"), o.text("egress"), o.has("loopback")
	if n, err := strconv.Atoi(strings.Join(pr.Keys, "")); err == nil {
		pr.Keys = nil
		for i := range n {
			pr.Keys = append(pr.Keys, fmt.Sprintf("k%d", i+1))
		}
	} else if pr.Keys == nil {
		pr.Keys = []string{"k1"}
	}
	for i := range p.cat.Providers {
		if p.cat.Providers[i].Name == pr.Name {
			p.cat.Providers[i] = pr
			return o.done()
		}
	}
	p.cat.Providers = append(p.cat.Providers, pr)
	return o.done()
}

// set changes the policy.
func (p *player) set(f []string) error {
	o := parseOptions(f)
	for _, n := range []struct {
		name string
		dst  *time.Duration
	}{
		{"cooldown", &p.policy.Cooldown}, {"maxCooldown", &p.policy.MaxCooldown}, {"transientCooldown", &p.policy.TransientCooldown},
		{"keyCooldown", &p.policy.KeyCooldown}, {"haltCooldown", &p.policy.HaltCooldown}, {"rateHalt", &p.policy.RateHalt},
	} {
		if d := o.time(n.name); d != 0 {
			*n.dst = d
		}
	}
	if n := o.number("failureThreshold"); n != 0 {
		p.policy.FailureThreshold = n
	}
	for _, c := range o.list("fatal") {
		p.policy.FatalCodes = append(p.policy.FatalCodes, sdk.Code(c))
	}
	for _, c := range o.list("transient") {
		p.policy.TransientCodes = append(p.policy.TransientCodes, sdk.Code(c))
	}
	p.policy.SameModel = p.policy.SameModel || o.has("samemodel")
	return o.done()
}

// budget changes the budget of a name, "default" that of requests that name none.
func (p *player) budget(f []string) error {
	o := parseOptions(f[1:])
	b := p.policy.Budgets[f[0]]
	if f[0] == "default" {
		b = p.policy.Budget
	}
	for _, n := range []struct {
		name string
		dst  *int
	}{
		{"maxRoutes", &b.MaxRoutes}, {"maxAttempts", &b.MaxAttempts}, {"maxPerVendor", &b.MaxPerVendor},
		{"maxSameTarget", &b.MaxSameTarget}, {"maxWaits", &b.MaxWaits},
	} {
		if v := o.number(n.name); v != 0 {
			*n.dst = v
		}
	}
	for _, n := range []struct {
		name string
		dst  *time.Duration
	}{
		{"deadline", &b.Deadline}, {"wholeDeadline", &b.WholeDeadline}, {"waitUpTo", &b.WaitUpTo}, {"firstContent", &b.FirstContent},
		{"backoff", &b.BackoffBase}, {"backoffCap", &b.BackoffCap},
	} {
		if v := o.time(n.name); v != 0 {
			*n.dst = v
		}
	}
	if v := o.share("reserve"); v != 0 {
		b.Reserve = v
	}
	if f[0] == "default" {
		p.policy.Budget = b
	} else {
		if p.policy.Budgets == nil {
			p.policy.Budgets = map[string]Budget{}
		}
		p.policy.Budgets[f[0]] = b
	}
	return o.done()
}

func (p *player) contract(f []string) error {
	o := parseOptions(f[1:])
	if p.policy.Contracts == nil {
		p.policy.Contracts = map[string]*Contract{}
	}
	p.policy.Contracts[f[0]] = &Contract{
		Version: o.number("version"), Needs: o.list("needs"), Context: o.number("context"), MaxOutput: o.number("max"),
		Egress: o.list("egress"), SameModel: o.has("samemodel"),
	}
	return o.done()
}

// chain reads HEAD ROUTE... [budget=].
func (p *player) chain(f []string) Chain {
	c := Chain{}
	if name, ok := strings.CutPrefix(f[len(f)-1], "budget="); ok {
		c.Budget, f = name, f[:len(f)-1]
	}
	rs := p.routes(f)
	c.For, c.Routes = rs[0], rs[1:]
	return c
}

func (p *player) failure(f []string) (sdk.Failure, error) {
	failure := *sdk.NewFailure(sdk.Code(f[0]), "", "")
	failure.Phase = sdk.PhaseResponse
	switch failure.Code {
	case sdk.CodeTransport, sdk.CodeTimeout, sdk.CodeLocalNetwork, sdk.CodeAborted:
		failure.Phase = sdk.PhaseTransport
	}
	o := parseOptions(f[1:])
	if v := o.text("scope"); v != "" {
		failure.Scope = sdk.Scope(v)
	}
	if v := o.text("phase"); v != "" {
		failure.Phase = sdk.Phase(v)
	}
	failure.Cause = sdk.Cause(o.text("cause"))
	failure.Billing, failure.Acted = o.has("billing"), o.has("acted")
	failure.Status = o.number("status")
	failure.Rule = o.text("rule")
	failure.RetryAfter = o.time("after")
	if d := o.time("reset"); d != 0 {
		failure.ResetAt = p.now.Wall.Add(d)
	}
	return failure, o.done()
}
