package dialect_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spillway/host/dialect"
	"spillway/host/dialect/dialecttest"
	"spillway/sdk"
)

// randomAnswer makes the events of an answer in the form that the decoder of d
// gives them, using only what d can carry.
func randomAnswer(rng *rand.Rand, d dialect.Dialect) []sdk.Event {
	anthropic := d.Name() == "anthropic"
	id := map[string]string{"anthropic": "msg_r", "openai": "chatcmpl-r", "responses": "resp_r"}[d.Name()]
	events := []sdk.Event{start(id, "model-"+randomText(rng))}
	last := sdk.BlockKind(0)
	for i := range 1 + rng.IntN(5) {
		kind := sdk.BlockText + sdk.BlockKind(rng.IntN(3))
		if kind == last && kind != sdk.BlockToolCall {
			kind = sdk.BlockToolCall // neighbours of one kind are one block in a chat
		}
		last = kind
		end := blockEnd(i)
		switch kind {
		case sdk.BlockToolCall:
			events = append(events, callStart(i, fmt.Sprintf("call-%d", i), "tool"+randomText(rng)))
			args := fmt.Sprintf(`{"a":%q,"b":[{"c":%d}]}`, strings.Repeat("}]\"", rng.IntN(3)), rng.IntN(9))
			cut := rng.IntN(len(args))
			if cut > 0 {
				events = append(events, callDelta(i, args[:cut]))
			}
			events = append(events, callDelta(i, args[cut:]))
		case sdk.BlockText:
			events = append(events, blockStart(i, kind))
			for range 1 + rng.IntN(3) {
				events = append(events, textDelta(i, randomText(rng)))
			}
		case sdk.BlockReasoning:
			events = append(events, blockStart(i, kind), delta(i, sdk.KindReasoningDelta, randomText(rng)))
			if anthropic && rng.IntN(2) == 0 {
				end.Signature = randomText(rng)
			}
		}
		events = append(events, end)
	}
	u := sdk.Usage{Input: 100 + rng.IntN(100), Output: 1 + rng.IntN(100), CacheRead: rng.IntN(50)}
	if anthropic {
		u.CacheWrite = rng.IntN(50)
	} else {
		u.Reasoning = rng.IntN(2)
	}
	ends := []sdk.Finish{sdk.FinishStop, sdk.FinishToolCalls, sdk.FinishMaxTokens, sdk.FinishRefusal}
	end := ends[rng.IntN(len(ends))]
	if d == dialect.Responses() && rng.IntN(2) == 0 { // it says by its items alone which of the two it is
		end = sdk.FinishMaxTokens
	} else if d == dialect.Responses() {
		end = sdk.FinishStop
		if slices.ContainsFunc(events, func(e sdk.Event) bool { return e.Block == sdk.BlockToolCall }) {
			end = sdk.FinishToolCalls
		}
	}
	return append(events, usage(u), finish(end))
}

func randomText(rng *rand.Rand) string {
	alphabet := []rune("ab \"\\/\n\r\t\b\x00\x1f<>&é—😀\u2028\ufffd{}[],:")
	out := make([]rune, 1+rng.IntN(8))
	for i := range out {
		out[i] = alphabet[rng.IntN(len(alphabet))]
	}
	return string(out)
}

// Whatever answer is encoded: its stream keeps the grammar, decodes to the same
// events, and is the same answer when it is not streamed.
func FuzzAnswerRoundTrip(f *testing.F) {
	for seed := range uint64(50) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		for _, d := range dialects() {
			want := randomAnswer(rand.New(rand.NewPCG(seed, 1)), d)
			o := dialect.AnswerOptions{IncludeUsage: true}
			stream := encode(d, o, want)
			if err := dialecttest.Check(d.Name(), stream); err != nil {
				t.Errorf("%s: %v", d.Name(), err)
			}
			got, complete := decode(t, d, stream)
			if diff := cmp.Diff(want, got); diff != "" || !complete {
				t.Errorf("%s: complete %v, (-want +got):\n%s", d.Name(), complete, diff)
			}
			whole, ok := d.ParseAnswer(d.BuildAnswer(want, o))
			if diff := cmp.Diff(said(want), said(whole)); diff != "" || !ok {
				t.Errorf("%s, not streamed: ok %v, (-want +got):\n%s", d.Name(), ok, diff)
			}
		}
	})
}

// said is an answer without the ways in which a body that is not streamed
// differs: pieces are joined, and a chat has one text and one reasoning.
func said(events []sdk.Event) map[string]string {
	all := map[string]string{}
	call := ""
	for _, e := range events {
		switch e.Kind {
		case sdk.KindStart:
			all["id"], all["model"] = e.ID, e.Model
		case sdk.KindBlockStart:
			call = e.ID + e.Name
		case sdk.KindTextDelta:
			all["text"] += e.Text
		case sdk.KindReasoningDelta:
			all["reasoning"] += e.Text
		case sdk.KindToolCallDelta:
			all["call "+call] += e.Text
		case sdk.KindBlockEnd:
			all["signature"] += e.Signature
		case sdk.KindUsage:
			all["usage"] = fmt.Sprint(*e.Usage)
		case sdk.KindFinish:
			all["finish"] = string(e.Finish)
		}
	}
	return all
}

// The answer crosses from each dialect to each other and back.
func TestAnswerCrosses(t *testing.T) {
	o := dialect.AnswerOptions{IncludeUsage: true}
	for _, way := range pairs() {
		events, _ := decode(t, way[0], testdata(t, way[0].Name()+"/tool.sse"))
		there, ok := decode(t, way[1], encode(way[1], o, events))
		back, ok2 := decode(t, way[0], encode(way[0], o, there))
		want, got := said(events), said(back)
		for _, m := range []map[string]string{want, got} {
			delete(m, "id") // each dialect wants its own form
			delete(m, "usage")
			delete(m, "signature")
		}
		if diff := cmp.Diff(want, got); diff != "" || !ok || !ok2 {
			t.Errorf("from %s to %s: complete %v %v, (-want +got):\n%s", way[0].Name(), way[1].Name(), ok, ok2, diff)
		}
	}
}
