package record

import (
	"encoding/json"
	"strconv"
	"time"

	"spillway/sdk"
)

// Append appends r as json.Marshal writes it. Every call leaves a record, and
// asking each of the some hundred fields by reflection whether it is there costs
// more than all else that is done with it: so what every record has is written
// here, and only what tells of a failure or of a plugin's part by package json.
// What JSON cannot carry is an error.
func Append(dst []byte, r *Request) ([]byte, error) {
	w := writer{b: dst}
	w.begin('{')
	w.text("id", r.ID)
	w.time("started", r.Started)
	w.text("dialect", r.Dialect)
	w.truth("stream", r.Stream)
	w.route("head", r.Head)
	w.some("conversation", r.Conversation)
	w.shape("shape", r.Shape)
	if r.Wants != (sdk.Wants{}) {
		w.other("wants", r.Wants)
	}
	w.count("max_tokens", r.MaxTokens)
	if r.Graph != 0 {
		w.key("graph")
		w.b = strconv.AppendUint(w.b, r.Graph, 10)
	}
	w.text("outcome", string(r.Outcome))
	w.duration("took_ms", r.Took)
	w.key("attempts")
	if r.Attempts == nil {
		w.b = append(w.b, "null"...)
	} else {
		w.begin('[')
		for i := range r.Attempts {
			w.attempt(&r.Attempts[i])
		}
		w.end(']')
	}
	if r.Failure != nil {
		w.other("failure", r.Failure)
	}
	w.some("reason", r.Reason)
	if len(r.Skipped) > 0 {
		w.other("skipped", r.Skipped)
	}
	w.end('}')
	return w.b, w.err
}

// plain reports whether the attempt has nothing but what attempt writes itself.
func (a *Attempt) plain() bool {
	return a.Failure == (Failure{}) && a.Action == "" && a.Why == "" && a.DecidedBy == "" &&
		a.JudgedCode == "" && a.JudgedClass == "" && a.JudgedScope == "" && a.Next == nil &&
		len(a.Circuits) == 0 && len(a.Passed) == 0 && a.NextDelay == 0 && a.Left == 0
}

// attempt writes an element of a list.
func (w *writer) attempt(a *Attempt) {
	w.element()
	if !a.plain() {
		w.value(a)
		return
	}
	w.begin('{')
	w.number("n", a.N)
	w.text("kind", string(a.Kind))
	w.route("route", a.Route)
	w.some("key", a.Key)
	w.some("reason", a.Reason)
	if a.Delay != 0 {
		w.duration("delay_ms", a.Delay)
	}
	if !a.Sent.IsZero() {
		w.time("sent", a.Sent)
	}
	if len(a.Skipped) > 0 {
		w.other("skipped", a.Skipped)
	}
	if len(a.Dropped) > 0 {
		w.other("dropped", a.Dropped)
	}
	w.count("malformed", a.Malformed)
	w.some("outcome", string(a.Outcome))
	w.truth("committed", a.Committed)
	if a.FirstContent != 0 {
		w.duration("ttfc_ms", a.FirstContent)
	}
	w.duration("took_ms", a.Took)
	w.usage("usage", a.Usage)
	if a.Estimated {
		w.truth("usage_estimated", true)
	}
	w.some("finish", string(a.Finish))
	w.end('}')
}

func (w *writer) route(name string, r sdk.Route) {
	w.key(name)
	w.begin('{')
	w.text("provider", r.Provider)
	w.some("model", r.Model)
	w.end('}')
}

func (w *writer) shape(name string, s sdk.Shape) {
	if s == (sdk.Shape{}) {
		return
	}
	w.key(name)
	w.begin('{')
	w.number("prompt_tokens", s.PromptTokens)
	w.number("messages", s.Messages)
	w.number("tools", s.Tools)
	w.number("images", s.Images)
	w.number("documents", s.Documents)
	w.truth("parallel_tools", s.ParallelTools)
	w.truth("structured", s.Structured)
	w.truth("reasoning", s.Reasoning)
	w.truth("tool_result", s.ToolResult)
	if s.HostedTools {
		w.truth("hosted_tools", true)
	}
	w.end('}')
}

func (w *writer) usage(name string, u sdk.Usage) {
	if u == (sdk.Usage{}) {
		return
	}
	w.key(name)
	w.begin('{')
	w.count("input", u.Input)
	w.count("output", u.Output)
	w.count("cache_read", u.CacheRead)
	w.count("cache_write", u.CacheWrite)
	w.count("reasoning", u.Reasoning)
	w.end('}')
}

// writer appends JSON.
type writer struct {
	b    []byte
	open bool // nothing stands in the present object or list yet
	err  error
}

func (w *writer) begin(c byte) { w.b, w.open = append(w.b, c), true }
func (w *writer) end(c byte)   { w.b, w.open = append(w.b, c), false }

func (w *writer) element() {
	if !w.open {
		w.b = append(w.b, ',')
	}
	w.open = false
}

// key begins a member. Names are ours: nothing in them is escaped.
func (w *writer) key(name string) {
	w.element()
	w.b = append(w.b, '"')
	w.b = append(w.b, name...)
	w.b = append(w.b, '"', ':')
}

func (w *writer) text(name, s string) {
	w.key(name)
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			w.value(s)
			return
		}
	}
	w.b = append(w.b, '"')
	w.b = append(w.b, s...)
	w.b = append(w.b, '"')
}

func (w *writer) some(name, s string) {
	if s != "" {
		w.text(name, s)
	}
}

func (w *writer) truth(name string, v bool) {
	w.key(name)
	w.b = strconv.AppendBool(w.b, v)
}

func (w *writer) number(name string, n int) {
	w.key(name)
	w.b = strconv.AppendInt(w.b, int64(n), 10)
}

func (w *writer) count(name string, n int) {
	if n != 0 {
		w.number(name, n)
	}
}

func (w *writer) duration(name string, d Duration) {
	w.key(name)
	w.b = d.append(w.b)
}

func (w *writer) time(name string, t time.Time) {
	w.key(name)
	w.b = append(w.b, '"')
	b, err := t.AppendText(w.b)
	if err != nil {
		w.err = err
		return
	}
	w.b = append(b, '"')
}

func (w *writer) other(name string, v any) {
	w.key(name)
	w.value(v)
}

func (w *writer) value(v any) {
	b, err := json.Marshal(v)
	if err != nil {
		w.err = err
		return
	}
	w.b = append(w.b, b...)
}
