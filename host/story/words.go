package story

import (
	"time"

	"spillway/host/state/record"
	"spillway/sdk"
)

// TargetWords are a target's health in words, as Status has them, but for the
// moments, which whoever draws counts down by itself.
type TargetWords struct {
	Scope string `json:"scope"`
	State string `json:"state"`
	Why   string `json:"why"`
}

// Target is a target's health in words.
func Target(t sdk.TargetStatus, o Options) TargetWords {
	b := &board{words: o.words(), clock: o.clock()}
	t.Until = time.Time{}
	state, _ := b.words.state(t.State)
	return TargetWords{Scope: safe(b.words.scope(t.Scope)), State: safe(state), Why: safe(b.why(t))}
}

// State is a circuit's state in words.
func State(s sdk.CircuitState, o Options) string {
	says, _ := o.words().state(s)
	return safe(says)
}

// Verb is what an order in force means, in words.
func Verb(v sdk.Verb, o Options) string { return safe(o.words().verb(v)) }

// Tone is how something ended.
type Tone string

const (
	ToneGood Tone = "good"
	ToneOpen Tone = "open" // it runs, or was given up
	ToneBad  Tone = "bad"
)

var tones = map[style]Tone{green: ToneGood, yellow: ToneOpen, red: ToneBad, plain: ToneOpen}

// RequestWords are a request in words, for whoever draws it.
type RequestWords struct {
	Ending   string         `json:"ending"` // the outcome in one sentence
	Tone     Tone           `json:"tone"`
	Attempts []AttemptWords `json:"attempts"` // as many as the record has
	Skipped  []SkipWords    `json:"skipped"`  // when nothing could be sent any more
	Held     string         `json:"held"`     // legend: a wait before asking
	Waiting  string         `json:"waiting"`  // legend: for content
	Flows    string         `json:"flows"`    // legend: content arrives
}

// AttemptWords are one attempt in words.
type AttemptWords struct {
	Title    string        `json:"title"`   // who is asked, and why
	Outcome  string        `json:"outcome"` // what came of it
	Tone     Tone          `json:"tone"`
	Skipped  []SkipWords   `json:"skipped"`  // passed over before it
	Circuits []CircuitWord `json:"circuits"` // that its failure moved
}

// SkipWords are a candidate that was passed over, and why.
type SkipWords struct {
	Route string `json:"route"`
	Why   string `json:"why"`
}

// CircuitWord is a circuit that moved: whose it is and what it is now.
type CircuitWord struct {
	Target string    `json:"target"`
	State  string    `json:"state"`
	Tone   Tone      `json:"tone"`
	Until  time.Time `json:"until,omitzero"`
}

// Words are a request in words. Everything in them is harmless text.
func Words(rec record.Request, o Options) RequestWords {
	t := &teller{page: newPage(o), rec: rec, words: o.words(), clock: o.clock()}
	says, st := t.outcome()
	v := RequestWords{
		Ending: safe(says + t.words.stop), Tone: tones[st], Attempts: []AttemptWords{}, Skipped: t.words.skips(rec.Skipped),
		Held: t.words.held, Waiting: t.words.waiting, Flows: t.words.flows,
	}
	for i := range rec.Attempts {
		a := &rec.Attempts[i]
		sign, outcome := t.mark(i)
		words := AttemptWords{
			Title: safe(t.heading(i)), Outcome: safe(outcome), Tone: tones[sign.style],
			Skipped: t.words.skips(a.Skipped), Circuits: []CircuitWord{},
		}
		for _, c := range a.Circuits {
			state, st := t.words.state(c.To)
			words.Circuits = append(words.Circuits, CircuitWord{
				Target: safe(t.words.target(c.Target)), State: safe(state), Tone: tones[st], Until: c.Until,
			})
		}
		v.Attempts = append(v.Attempts, words)
	}
	return v
}

func (w *lexicon) skips(list []sdk.Skip) []SkipWords {
	words := make([]SkipWords, len(list))
	for i, s := range list {
		words[i] = SkipWords{Route: safe(s.Route.String()), Why: safe(w.skipped(s.Reason))}
	}
	return words
}
