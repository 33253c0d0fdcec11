package story

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"spillway/sdk"
)

// Status writes the state of a host: where it listens, what a person ordered,
// the health that its plugins report, the plugins themselves, the entries of the
// profile that do not run, and the providers. The error is that of w.
func Status(w io.Writer, s StatusView, o Options) error {
	b := &board{page: newPage(o), words: o.words(), clock: o.clock()}
	b.top(s)
	b.orders(s.Plugins)
	b.healths(s.Plugins)
	if s.Uptime != 0 {
		b.plugins(s.Plugins)
		b.outputs(s.Plugins)
	}
	b.broken(s.Entries)
	b.providers(s.Providers)
	_, err := io.WriteString(w, b.b.String())
	return err
}

// board is one status on its way to the page.
type board struct {
	*page
	words *lexicon
	clock clock
}

func (b *board) top(s StatusView) {
	w := &b.words.status
	if s.Uptime == 0 {
		b.put(nil, nil, text(yellow, w.off))
		return
	}
	var parts []string
	if s.Listen != "" {
		parts = append(parts, fmt.Sprintf(w.listening, s.Listen))
	}
	parts = append(parts, fmt.Sprintf(w.up, b.clock.span(time.Duration(s.Uptime))))
	b.put(nil, nil, text(bold, strings.Join(parts, b.words.comma)))
	if s.Refused != "" {
		b.put(nil, nil, text(red, fmt.Sprintf(w.refused, safe(s.Refused))))
	}
	if s.Store != "" {
		b.put(nil, nil, text(red, fmt.Sprintf(w.store, safe(s.Store))))
	}
}

func (b *board) heading(says string) {
	b.gap()
	b.put(nil, nil, text(bold, says))
}

func (b *board) healths(list []PluginView) {
	ill := 0
	for _, p := range list {
		if len(p.Targets) > 0 {
			b.health(p)
			ill++
		}
	}
	if ill == 0 && len(list) > 0 {
		b.gap()
		b.put(nil, nil, text(green, b.words.status.healthy))
	}
}

func (b *board) health(p PluginView) {
	w := &b.words.status
	rows := make([][]span, len(p.Targets))
	for i, t := range p.Targets {
		state, st := b.words.state(t.State)
		rows[i] = []span{
			text(plain, b.words.scope(t.Scope)), text(plain, t.Target), text(st, state), text(plain, b.since(t.Since)),
			text(plain, b.left(t.Until)), text(plain, string(t.Code)), text(plain, b.why(t)),
		}
	}
	b.heading(fmt.Sprintf(w.health, p.Entry))
	b.table([]string{w.scope, w.target, w.state, w.since, w.left, w.code, w.why}, rows)
}

func (b *board) since(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return b.clock.apart(t)
}

// left is what remains until a moment.
func (b *board) left(t time.Time) string {
	switch {
	case t.IsZero():
		return ""
	case t.After(b.clock.now):
		return b.clock.span(t.Sub(b.clock.now))
	}
	return b.words.status.over
}

// orders shows what a person ordered, with each target as it is typed.
func (b *board) orders(list []PluginView) {
	w := &b.words.status
	for _, p := range list {
		if len(p.Orders) == 0 {
			continue
		}
		rows := make([][]span, len(p.Orders))
		for i, o := range p.Orders {
			until := b.left(o.Until)
			switch {
			case o.Until.IsZero():
				until = w.endless
			case o.Until.After(b.clock.now):
				until = b.clock.moment(o.Until) + b.words.open + until + b.words.close
			}
			rows[i] = []span{
				text(yellow, b.words.verb(o.Verb)), text(plain, o.Target), text(plain, b.since(o.At)),
				text(plain, until), text(plain, sentence(o.Note)),
			}
		}
		b.heading(fmt.Sprintf(w.orders, p.Entry))
		b.table([]string{w.verb, w.target, w.since, w.until, w.note}, rows)
		b.put(line{text(plain, "  ")}, nil, text(faint, w.takeBack))
	}
}

// why is a target's state in words.
func (b *board) why(t sdk.TargetStatus) string {
	w := b.words
	var parts []string
	switch {
	case t.Code == sdk.CodeRateLimit && t.Scope != sdk.ScopeKey && t.Trips > 0:
		parts = append(parts, w.status.everyKey)
	case t.Code != "":
		parts = append(parts, w.wording(t.Code, t.Scope, "").is)
	}
	if rule := w.rule(t.Reason); rule != "" {
		parts = append(parts, fmt.Sprintf(w.facts.toldBy, rule))
	}
	if t.Failures > 1 {
		parts = append(parts, fmt.Sprintf(w.status.failures, t.Failures))
	}
	if t.Trips > 1 {
		parts = append(parts, fmt.Sprintf(w.status.trips, t.Trips))
	}
	if t.Until.After(b.clock.now) {
		parts = append(parts, fmt.Sprintf(w.status.untilAt, b.clock.moment(t.Until)))
	}
	return strings.Join(parts, w.comma)
}

func (b *board) plugins(list []PluginView) {
	w := &b.words.status
	rows := make([][]span, len(list))
	for i, p := range list {
		up := text(red, w.down)
		if p.Up {
			up = text(green, b.clock.span(b.clock.now.Sub(p.Since)))
		}
		rows[i] = []span{
			text(plain, p.Entry), text(plain, p.Version), text(plain, p.PID), up,
			text(plain, strconv.Itoa(p.Restarts)), text(plain, strconv.FormatUint(p.Bypassed, 10)), text(red, sentence(p.Down)),
		}
	}
	b.heading(w.plugins)
	if len(rows) == 0 {
		b.put(line{text(plain, "  ")}, nil, text(faint, w.nothing))
		return
	}
	b.table([]string{w.entry, w.version, w.pid, w.upFor, w.restarts, w.bypassed, w.trouble}, rows)
}

const (
	// lately is how long after a restart the words of the plugin matter.
	lately = 10 * time.Minute
	// maxOutput is how many of its last lines are shown: a panic is among them.
	maxOutput = 6
)

// outputs shows the last lines of the plugins that are down or were restarted
// lately.
func (b *board) outputs(list []PluginView) {
	for _, p := range list {
		restarted := p.Restarts > 0 && b.clock.now.Sub(p.Since) < lately
		if len(p.Output) == 0 || p.Up && !restarted {
			continue
		}
		b.heading(fmt.Sprintf(b.words.status.output, p.Entry))
		for _, l := range p.Output[max(len(p.Output)-maxOutput, 0):] {
			b.put(line{text(plain, "  ")}, line{text(plain, "    ")}, text(faint, sentence(l)))
		}
	}
}

func (b *board) broken(list []EntryView) {
	w := &b.words.status
	var rows [][]span
	for _, e := range list {
		if e.Error != "" {
			rows = append(rows, []span{text(plain, e.ID), text(plain, e.Module), text(red, sentence(e.Error))})
		}
	}
	if len(rows) == 0 {
		return
	}
	b.heading(w.entries)
	b.table([]string{w.entry, w.module, w.why}, rows)
}

func (b *board) providers(list []sdk.Provider) {
	if len(list) == 0 {
		return
	}
	w := &b.words.status
	rows := make([][]span, len(list))
	for i, p := range list {
		rows[i] = []span{text(plain, p.Name), text(plain, strconv.Itoa(len(p.Keys))), text(plain, b.models(p.Models))}
	}
	b.heading(w.providers)
	b.table([]string{w.provider, w.keys, w.models}, rows)
}

// maxModels is how many models of a provider are named.
const maxModels = 3

func (b *board) models(list []sdk.Model) string {
	var names []string
	for _, m := range list[:min(len(list), maxModels)] {
		names = append(names, m.ID)
	}
	if more := len(list) - len(names); more > 0 {
		names = append(names, fmt.Sprintf(b.words.status.more, more))
	}
	return strings.Join(names, b.words.comma)
}
