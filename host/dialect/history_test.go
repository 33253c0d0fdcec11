package dialect_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"spillway/host/dialect"
	"spillway/host/dialect/dialecttest"
)

// A served is one vendor's part in a past: reasoning, words and calls of tools,
// each call with its result.
type served struct {
	maker     string   // whose seal the reasoning bears: "own", "theirs" or "" for none
	reasoning string   // "": none
	words     string   // may be ""
	calls     []string // ids
	after     string   // what the user says then, "" where the loop goes on
}

// randomPast makes what a caller may hold after its conversation went from
// vendor to vendor. It ends with the user's words or in the middle of a loop.
func randomPast(rng *rand.Rand) (past []served) {
	for i := range 1 + rng.IntN(6) {
		s := served{words: []string{"", "Looking.", "é \"x\""}[rng.IntN(3)], after: []string{"", "On."}[rng.IntN(2)]}
		if rng.IntN(3) > 0 {
			s.reasoning, s.maker = fmt.Sprintf("thought %d", i), []string{"own", "theirs", ""}[rng.IntN(3)]
		}
		for j := range rng.IntN(3) {
			s.calls = append(s.calls, []string{
				fmt.Sprintf("toolu_%d_%d", i, j), fmt.Sprintf("functions.f:%d", j), fmt.Sprintf("call|%d/%d%s", i, j, strings.Repeat("x", 70)),
			}[rng.IntN(3)])
		}
		if len(s.calls) == 0 {
			s.after = "On."
			s.words = "Said."
		}
		s.calls = slices.Compact(s.calls) // a vendor counts within its turn
		past = append(past, s)
	}
	return past
}

type object = map[string]any

// asked is the request of a caller of d that holds a past, with what only the
// first vendor of d knows.
func asked(d dialect.Dialect, past []served, manual bool) []byte {
	r := object{"model": "m", "stream": true}
	var turns []any
	say := func(o object) { turns = append(turns, o) }
	first := object{"role": "user", "content": "go"}
	if d == dialect.Responses() {
		first["type"] = "message"
	}
	say(first)
	for i, s := range past {
		seal := s.maker
		if seal != "" {
			seal = fmt.Sprintf("%s:%d", seal, i)
		}
		switch d {
		case dialect.Anthropic():
			var content []any
			if s.reasoning != "" {
				content = append(content, object{"type": "thinking", "thinking": s.reasoning, "signature": seal})
			}
			if s.maker == "own" {
				content = append(content, object{"type": "redacted_thinking", "data": seal})
			}
			if s.words != "" {
				content = append(content, object{"type": "text", "text": s.words, "cache_control": object{"type": "ephemeral"}})
			}
			var results []any
			for _, id := range s.calls {
				content = append(content, object{"type": "tool_use", "id": id, "name": "f", "input": object{}})
				results = append(results, object{"type": "tool_result", "tool_use_id": id, "content": "r"})
			}
			say(object{"role": "assistant", "content": content})
			if i == 0 {
				say(object{"role": "system", "content": "notice"})
			}
			if s.after != "" && len(results) == 0 {
				results = append(results, object{"type": "text", "text": s.after})
			}
			say(object{"role": "user", "content": results})
			if s.after != "" && len(s.calls) > 0 {
				say(object{"role": "assistant", "content": "Done."})
				say(object{"role": "user", "content": s.after})
			}
		case dialect.OpenAI():
			m := object{"role": "assistant", "content": nil}
			if s.words != "" {
				m["content"] = s.words
			}
			if s.reasoning != "" {
				m["reasoning_content"] = s.reasoning
			}
			var calls []any
			for _, id := range s.calls {
				calls = append(calls, object{"id": id, "type": "function", "function": object{"name": "f", "arguments": "{}"}})
			}
			if calls != nil {
				m["tool_calls"] = calls
			}
			say(m)
			for _, id := range s.calls {
				say(object{"role": "tool", "tool_call_id": id, "content": "r"})
			}
			if s.after != "" {
				say(object{"role": "developer", "content": "notice"})
				say(object{"role": "user", "content": []any{object{"type": "text", "text": s.after, "cache_control": object{}}}})
			}
		default:
			if s.reasoning != "" {
				item := object{"type": "reasoning", "id": fmt.Sprintf("rs_%d", i), "summary": []any{object{"type": "summary_text", "text": s.reasoning}}, "encrypted_content": seal}
				if seal == "" {
					item["id"] = fmt.Sprintf("rs_spillway_%d", i)
				}
				say(item)
			}
			if s.words != "" {
				say(object{"type": "message", "id": fmt.Sprintf("msg_%d", i), "role": "assistant", "content": []any{object{"type": "output_text", "text": s.words}}})
			}
			for _, id := range s.calls {
				say(object{"type": "function_call", "id": fmt.Sprintf("fc_%d", i), "call_id": id, "name": "f", "arguments": "{}"})
				say(object{"type": "function_call_output", "call_id": id, "output": "r"})
			}
			if s.after != "" {
				say(object{"role": "user", "content": s.after})
			}
		}
	}
	switch d {
	case dialect.Anthropic():
		r["max_tokens"], r["messages"], r["metadata"] = 9, turns, object{"user_id": "u"}
		r["thinking"] = object{"type": "adaptive"}
		if manual {
			r["thinking"] = object{"type": "enabled", "budget_tokens": 2000}
		}
		r["context_management"] = object{"edits": []any{}}
		r["tools"] = []any{object{"name": "f", "input_schema": object{"type": "object"}, "cache_control": object{}}}
	case dialect.OpenAI():
		r["messages"], r["prompt_cache_key"], r["service_tier"] = turns, "k", "auto"
	default:
		r["input"], r["include"], r["prompt_cache_key"] = turns, []any{"reasoning.encrypted_content"}, "k"
	}
	b, err := json.Marshal(r)
	if err != nil {
		panic(err)
	}
	return b
}

// Whoever has served a conversation so far, each vendor gets a request that it
// takes, in the caller's dialect and in every other; the caller's own bytes are
// not touched; projecting again changes nothing; what goes home unmixed is the
// body itself, and what the vendor has sealed comes back to it as it was.
func FuzzHistory(f *testing.F) {
	for seed := range uint64(300) {
		f.Add(seed)
	}
	made := func(seal string) bool { return strings.HasPrefix(seal, "own:") }
	vendors := []struct {
		name   string
		quirks dialect.Quirks
		takes  dialecttest.Vendor
	}{
		{"who signs", claude, dialecttest.Vendor{Made: made, Begun: true}},
		{"who demands reasoning", kimi, dialecttest.Vendor{Made: made, Unsigned: true, Reasoning: true, Common: true}},
		{"anybody", plain, dialecttest.Vendor{Made: made, Common: true}},
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 2))
		past, manual := randomPast(rng), rng.IntN(2) == 0
		var owned []dialect.Seal
		for i := range past {
			owned = append(owned, dialect.SealOf(fmt.Sprintf("own:%d", i)))
		}
		for _, d := range dialects() {
			body := asked(d, past, manual)
			before := bytes.Clone(body)
			in, err := d.Inspect(body)
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range vendors {
				o := dialect.Outbound{Model: "m", Quirks: v.quirks, Owns: func(s dialect.Seal) bool { return slices.Contains(owned, s) }}
				takes := v.takes
				for _, o.Home = range []bool{false, true} {
					if o.Home { // the fields are those that it knows, and the ids its own
						takes.Common, takes.Unsigned = false, !v.quirks.SealedReasoning
					}
					if o.Home && v.quirks.AnyToolID {
						continue
					}
					sent, _, err := d.Project(body, o)
					if err == nil {
						err = dialecttest.CheckRequest(d.Name(), sent, takes)
					}
					if err != nil {
						t.Errorf("%s, %s, home %v: %v\ncaller: %s\nvendor: %s", d.Name(), v.name, o.Home, err, body, sent)
					}
					if again, _, err := d.Project(sent, o); err != nil || !bytes.Equal(again, sent) {
						t.Errorf("%s, %s: projected again: %v\n%s\n%s", d.Name(), v.name, err, sent, again)
					}
					if o.Home && in.History&dialect.HistorySealed == 0 && !v.quirks.Minds(in.History) && &sent[0] != &body[0] {
						t.Errorf("%s, %s: what is all its own became %s, want %s", d.Name(), v.name, sent, body)
					}
				}
				if !bytes.Equal(body, before) {
					t.Fatalf("%s, %s: the caller's own became %s", d.Name(), v.name, body)
				}
				for _, to := range dialects() {
					if to == d {
						continue
					}
					p, err := d.ParseRequest(body)
					if err != nil {
						t.Fatal(err)
					}
					built, _, err := to.BuildRequest(p, o)
					if err == nil {
						err = dialecttest.CheckRequest(to.Name(), built, v.takes)
					}
					if err != nil {
						t.Errorf("from %s to %s, %s: %v\ncaller: %s\nvendor: %s", d.Name(), to.Name(), v.name, err, body, built)
					}
				}
			}
		}
	})
}

// Whatever a stranger sends can be projected for anybody: no input breaks it,
// makes it grow without bound or comes out as something that is no request.
func FuzzProject(f *testing.F) {
	for _, name := range []string{"anthropic", "openai", "responses"} {
		f.Add(testdata(f, name+"/agent.json"))
	}
	f.Add([]byte(`{"model":"m","messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a b"},{"type":"thinking","signature":7},[],7]},7],"thinking":{"type":"enabled"},"system":7,"tools":[7,{}]}`))
	f.Add([]byte(`{"model":"m","messages":[{"role":"assistant","tool_calls":[{"id":7},7],"reasoning":{}},{"role":"developer","content":[7]}],"max_tokens":1,"max_tokens":2,"max_completion_tokens":null,"thinking":7}`))
	f.Add([]byte(`{"model":0,"max_tokens":0`))
	f.Add([]byte(`{"model":"m","input":[{"type":7,"call_id":"\u0000","encrypted_content":"x"},{"id":"rs_spillway_","type":"reasoning"}],"tools":[{"type":"custom"}],"store":true}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, d := range dialects() {
			in, err := d.Inspect(body)
			for _, q := range []dialect.Quirks{claude, kimi, plain, {ToolIDLength: 9, NoStreamUsage: true, MaxCompletionTokens: true}} {
				for _, home := range []bool{true, false} {
					o := dialect.Outbound{Model: in.Model, Quirks: q, Home: home, Owns: own("x")}
					sent, _, perr := d.Project(body, o)
					if err != nil {
						continue
					}
					if _, err := d.Inspect(sent); err != nil || perr != nil {
						t.Fatalf("%s, %+v: %v, %v: %s", d.Name(), q, perr, err, sent)
					}
					if len(sent) > 4*len(body)+1<<10 {
						t.Errorf("%s, %+v: %d bytes became %d", d.Name(), q, len(body), len(sent))
					}
					if again, _, err := d.Project(sent, o); err != nil || !bytes.Equal(again, sent) {
						t.Errorf("%s, %+v: projected again: %v\n%s\n%s", d.Name(), q, err, sent, again)
					}
				}
			}
		}
	})
}
