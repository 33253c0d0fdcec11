package story

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"spillway/host/agent/ledger"
	"spillway/host/agent/tool"
	"spillway/sdk"
)

const (
	shortKey = 12  // characters of a key in a list
	maxSaid  = 120 // columns of a call's arguments in a list
	maxLine  = 1000
	maxLines = 200 // of a result
)

// callStates are how far a tool call may be, in words.
var callStates = map[ledger.State]struct {
	en, zh string
	style  style
}{
	ledger.Planned:   {"planned", "待执行", plain},
	ledger.Started:   {"running", "执行中", yellow},
	ledger.Succeeded: {"succeeded", "成功", green},
	ledger.Failed:    {"failed", "失败", red},
	ledger.Unknown:   {"unknown", "结果不明", yellow},
}

// settlements are what a person said of a call, in words.
var settlements = map[ledger.Verdict]struct{ en, zh string }{
	ledger.Happened:     {"a person said that it happened", "有人确认：已经发生"},
	ledger.NotHappened:  {"a person said that it did not happen", "有人确认：没有发生"},
	ledger.StaysUnknown: {"a person said that it cannot be known", "有人确认：无法得知"},
}

func callState(e ledger.Entry, w *lexicon) span {
	s := callStates[e.State]
	if e.NeedsPerson() {
		return text(red, w.pick(s.en, s.zh))
	}
	return text(s.style, w.pick(s.en, s.zh))
}

// Calls writes a list of tool calls as the ledger gives it, below a word on those
// that need a person. The error is that of w.
func Calls(w io.Writer, all []ledger.Entry, o Options) error {
	p, words, clock := newPage(o), o.words(), o.clock()
	unknown := 0
	rows := make([][]span, len(all))
	for i, e := range all {
		if e.NeedsPerson() {
			unknown++
		}
		rows[i] = []span{
			text(plain, e.Key[:min(shortKey, len(e.Key))]), callState(e, words), text(plain, e.Tool), text(faint, clock.apart(e.Planned)),
			text(faint, e.Session), text(plain, clip(message(arguments(e.Input, ", ", " ⏎ ")), maxSaid)),
		}
	}
	if unknown > 0 {
		p.put(nil, nil, text(bold, fmt.Sprintf(words.pick(
			"%d may have happened or not: look, then say so with \"spillway ledger settle KEY happened\", \"not-happened\" or \"unknown\"",
			"有 %d 个调用不知是否发生过：请查看后用 “spillway ledger settle KEY happened”、“not-happened” 或 “unknown” 说明"), unknown)))
		p.gap()
	}
	if len(all) == 0 {
		p.put(nil, nil, text(plain, words.pick("no tool call that changes something is recorded", "没有记录任何会改变东西的工具调用")))
	} else {
		p.table([]string{words.pick("key", "键"), words.pick("state", "状态"), words.pick("tool", "工具"), words.pick("when", "时间"),
			words.pick("session", "会话"), words.pick("arguments", "参数")}, rows)
	}
	_, err := io.WriteString(w, p.b.String())
	return err
}

// Call writes all that the ledger knows of one tool call. The error is that of w.
func Call(w io.Writer, e ledger.Entry, o Options) error {
	p, words, clock := newPage(o), o.words(), o.clock()
	var names, values []span
	add := func(en, zh string, value span) {
		if value.text != "" {
			names, values = append(names, text(faint, words.pick(en, zh))), append(values, value)
		}
	}
	add("key", "键", text(bold, e.Key))
	add("state", "状态", callState(e, words))
	add("why", "原因", text(plain, words.note(e.Note)))
	if e.Settled != nil {
		v := settlements[e.Settled.Verdict]
		add("settled", "裁定", text(plain, fmt.Sprintf("%s (%s)", words.pick(v.en, v.zh), clock.moment(e.Settled.At))))
		add("note", "备注", text(plain, sentence(e.Settled.Note)))
	}
	add("tool", "工具", text(plain, e.Tool))
	add("effect", "影响", text(plain, effectWord(e.Effect, words)))
	add("session", "会话", text(plain, e.Session))
	add("message", "消息", text(plain, e.Message))
	add("planned", "计划于", text(plain, clock.moment(e.Planned)))
	if !e.Started.IsZero() {
		add("started", "开始于", text(plain, clock.moment(e.Started)))
		add("runs", "次数", text(plain, strconv.Itoa(e.Runs)))
	}
	if !e.Ended.IsZero() {
		add("ended", "结束于", text(plain, clock.moment(e.Ended)))
	}
	width := 0
	for _, n := range names {
		width = max(width, columns(n.text))
	}
	for i, n := range names {
		lead := line{span{n.style, pad(n.text, width+2)}}
		p.put(lead, line{text(plain, strings.Repeat(" ", width+2))}, values[i])
	}
	p.block(words.pick("arguments", "参数"), arguments(e.Input, "\n", "\n  "))
	if e.Result != nil {
		p.block(words.pick("result", "结果"), said(*e.Result))
	}
	_, err := io.WriteString(w, p.b.String())
	return err
}

func effectWord(e tool.Effect, w *lexicon) string {
	if e == tool.Idempotent {
		return w.pick("idempotent: it may run again", "幂等：可以再次执行")
	}
	return w.pick("write: it must not run twice", "写：不得执行两次")
}

// block writes lines of a stranger's text, indented below a heading.
func (p *page) block(heading, content string) {
	p.gap()
	p.put(nil, nil, text(faint, heading))
	margin := line{text(plain, "  ")}
	lines := strings.Split(strings.TrimRight(content, "\n"), "\n")
	for _, l := range lines[:min(len(lines), maxLines)] {
		p.put(margin, margin, text(plain, clip(secrets.ReplaceAllString(safe(l), "[redacted]"), maxLine)))
	}
	if more := len(lines) - maxLines; more > 0 {
		p.put(margin, margin, text(faint, fmt.Sprintf("… +%d", more)))
	}
}

// arguments are a call's members with something between them, and in the place of
// the line ends in them.
func arguments(input json.RawMessage, between, lineEnd string) string {
	var members map[string]json.RawMessage
	if json.Unmarshal(input, &members) != nil {
		return string(input)
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(members)) {
		var s string
		if json.Unmarshal(members[name], &s) != nil {
			s = string(members[name])
		}
		if s = strings.TrimRight(s, "\n"); strings.Contains(s, "\n") {
			s = strings.ReplaceAll(s, "\n", lineEnd)
			if lineEnd[0] == '\n' {
				s = lineEnd + s // below its name, as its other lines
			}
		}
		all = append(all, name+": "+s)
	}
	return cmp.Or(strings.Join(all, between), "{}")
}

// said is what a result tells, in text.
func said(r tool.Result) string {
	var b strings.Builder
	for _, p := range r.Parts {
		if p.Kind == sdk.PartText {
			b.WriteString(p.Text + "\n")
			continue
		}
		fmt.Fprintf(&b, "[%s %s]\n", p.Kind, p.MediaType)
	}
	return b.String()
}
