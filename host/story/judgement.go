package story

import (
	"fmt"
	"io"
	"strings"

	"spillway/sdk"
)

// Judgement is one answer of a vendor, as "spillway classify" judges it.
type Judgement struct {
	ID     string
	Vendor string
	First  sdk.Failure // by the host's tables
	Final  sdk.Failure // after the failover plugin's rules of wording
}

// Judge writes why an answer is taken for what it is, and what follows from
// that. The error is that of w.
func Judge(w io.Writer, j Judgement, o Options) error {
	c := &court{page: newPage(o), words: o.words(), clock: o.clock(), Judgement: j}
	c.evidence()
	c.reasons()
	c.consequences()
	_, err := io.WriteString(w, c.b.String())
	return err
}

// court is one judgement on its way to the page.
type court struct {
	*page
	Judgement
	words *lexicon
	clock clock
}

func (c *court) fact(label string, st style, says string) {
	n := c.words.judged.columns
	c.put(line{text(faint, "  "+pad(label, n))}, line{text(plain, strings.Repeat(" ", n+2))}, text(st, says))
}

// evidence tells what came.
func (c *court) evidence() {
	w, f := &c.words.judged, &c.Final
	says := c.words.named(c.words.wording(f.Code, f.Scope, f.Cause).is, f.Code)
	c.put(nil, nil, text(bold, c.ID+c.words.colon+says))
	came := fmt.Sprintf(w.unanswered, c.Vendor)
	if f.Status != 0 {
		came = fmt.Sprintf(w.by, statusLine(f.Status), c.Vendor)
	}
	c.fact(w.answer, plain, came)
	c.quote(w.said, f.Message)
}

func (c *court) quote(label, says string) {
	if says = message(says); says == "" {
		c.fact(label, faint, c.words.judged.silent)
		return
	}
	room := maxQuote * (c.width - 2 - c.words.judged.columns)
	c.fact(label, plain, fmt.Sprintf(c.words.quote, clip(says, room-columns(fmt.Sprintf(c.words.quote, "")))))
}

// reasons tells which rule decided, and for whom it speaks.
func (c *court) reasons() {
	w, f := &c.words.judged, &c.Final
	decided := c.words.rule(f.Rule)
	if name, ok := strings.CutPrefix(f.Rule, "phrase:"); ok {
		decided = fmt.Sprintf(w.rule, decided, name)
	}
	c.fact(w.decided, plain, decided)
	switch {
	case f.Rule != c.First.Rule:
		if f.Matched != "" {
			c.quote(w.words, f.Matched)
		}
		first := c.words.named(c.words.wording(c.First.Code, c.First.Scope, c.First.Cause).is, c.First.Code)
		c.fact(w.otherwise, plain, fmt.Sprintf(w.alone, first, c.words.rule(c.First.Rule)))
	case f.Generic && f.Message != "":
		c.fact(w.words, plain, w.unknown)
	case !f.Generic:
		c.fact(w.words, plain, w.enough)
	}
	c.fact(w.class, plain, string(f.Class())+c.words.colon+c.class())
	c.fact(w.concerns, plain, c.concerns())
	c.fact(w.wait, plain, c.wait())
}

func (c *court) class() string {
	k := &c.words.judged.classes
	switch c.Final.Class() {
	case sdk.ClassDeterministic:
		return k.deterministic
	case sdk.ClassTransient:
		return k.transient
	case sdk.ClassCaller:
		return k.caller
	case sdk.ClassLocal:
		return k.local
	}
	return ""
}

// concerns is what the failure speaks for, and why.
func (c *court) concerns() string {
	s, f := &c.words.judged.scopes, &c.Final
	switch f.Class() {
	case sdk.ClassCaller:
		return s.request
	case sdk.ClassLocal:
		return s.machine
	case sdk.ClassDeterministic, sdk.ClassTransient:
	}
	who, why := s.route, s.rule
	switch f.Scope {
	case sdk.ScopeVendor:
		who = s.vendor
	case sdk.ScopeKey:
		who = s.key
	case sdk.ScopeNone:
		return s.nobody
	case sdk.ScopeRoute:
	}
	wording := strings.HasPrefix(f.Rule, "phrase:")
	switch {
	case f.Billing && f.Scope == sdk.ScopeVendor:
		why = s.money
	case f.Billing:
		why = s.keyMoney
	case f.Cause.Unreachable():
		why = s.unreachable
	case wording && (f.Class() == sdk.ClassDeterministic || f.Scope != f.Code.Scope()):
		why = s.wording
	case f.Scope == f.Code.Scope():
		why = fmt.Sprintf(s.usual, f.Code)
	}
	return who + c.words.comma + why
}

// wait is what the vendor said of its return.
func (c *court) wait() string {
	w, f := &c.words.judged, &c.Final
	if f.RetryAfter == 0 {
		return w.noWait
	}
	says := c.clock.span(f.RetryAfter)
	if f.RetryAfter > soon && !f.ResetAt.IsZero() {
		says = fmt.Sprintf(w.waitUntil, says, c.clock.moment(f.ResetAt))
	}
	if from := c.words.source(f.HintSource); from != "" {
		says += c.words.comma + from
	}
	return says
}

// consequences tells what the failover plugin does with it.
func (c *court) consequences() {
	w, o := &c.words.judged, OutlookOf(c.Final)
	again := w.no
	switch {
	case o.Again == AgainOnce:
		again = w.once
	case o.Again == AgainWaited:
		again = w.waited
	case c.Final.Class() == sdk.ClassTransient && c.Final.RetryAfter > MaxWait:
		again = w.tooLong
	case c.Final.Code == sdk.CodeRateLimit:
		again = w.unstated
	}
	c.fact(w.again, plain, again)
	nextKey := w.no
	if o.NextKey {
		nextKey = w.ifAny
	}
	c.fact(w.nextKey, plain, nextKey)
	c.fact(w.elsewhere, plain, map[Elsewhere]string{
		ElsewhereNobody: w.no, ElsewhereAll: w.yes, ElsewhereLarger: w.larger, ElsewhereLoopback: w.loopback,
	}[o.Elsewhere])
	c.fact(w.charged, plain, c.charged(o))
}

// charged is against whom it stands, and for how long.
func (c *court) charged(o Outlook) string {
	w, f := &c.words.judged, &c.Final
	switch {
	case o.Charged != ChargedNobody:
	case f.Class() == sdk.ClassCaller:
		return w.nobody + c.words.colon + w.ownFault
	case f.Class() == sdk.ClassLocal:
		return w.nobody + c.words.colon + w.local
	default:
		return w.nobody + c.words.colon + w.nothingSaid
	}
	who := map[Charged]string{
		ChargedRoute: w.route, ChargedVendor: w.vendor, ChargedKey: w.key, ChargedKeyModel: w.keyModel,
	}[o.Charged]
	when := w.atOnce
	switch {
	case o.Proof:
		when = w.proof
	case o.Threshold > 1:
		when = fmt.Sprintf(w.inARow, o.Threshold)
	}
	limit := f.Code == sdk.CodeRateLimit
	parts := []string{who + c.words.comma + when}
	if !limit || f.RetryAfter == 0 {
		pause := fmt.Sprintf(w.out, c.clock.span(o.First))
		if o.Longest > 0 {
			pause += c.words.comma + fmt.Sprintf(w.grows, c.clock.span(o.Longest))
		}
		parts = append(parts, pause)
	}
	switch {
	case f.RetryAfter > LongHint:
		parts = append(parts, fmt.Sprintf(w.statedLong, c.clock.span(f.RetryAfter), c.clock.span(LongHint)))
	case f.RetryAfter > 0 && limit:
		parts = append(parts, fmt.Sprintf(w.named, c.clock.span(f.RetryAfter)))
	case f.RetryAfter > 0:
		parts = append(parts, fmt.Sprintf(w.stated, c.clock.span(f.RetryAfter)))
	}
	if limit {
		parts = append(parts, w.halted)
	}
	return strings.Join(parts, c.words.semicolon)
}
