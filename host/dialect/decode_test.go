package dialect_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spillway/host/dialect"
	"spillway/sdk"
)

func TestDecodeRecordings(t *testing.T) {
	tests := []struct {
		dialect dialect.Dialect
		want    []sdk.Event
	}{
		{dialect.Anthropic(), []sdk.Event{
			start("msg_01harbour", "claude-opus-5-5"),
			usage(sdk.Usage{Input: 100, CacheRead: 70, CacheWrite: 5, Output: 1}),
			blockStart(0, sdk.BlockReasoning), delta(0, sdk.KindReasoningDelta, "The log first."),
			{Kind: sdk.KindBlockEnd, Signature: "c2lnbmVk"},
			blockStart(1, sdk.BlockText), textDelta(1, `Reading "log.txt" —`), textDelta(1, " now."), blockEnd(1),
			callStart(2, "toolu_01harbour", "Read"), callDelta(2, `{"path":"lo`), callDelta(2, `g.txt"}`), blockEnd(2),
			usage(sdk.Usage{Output: 15}), finish(sdk.FinishToolCalls),
		}},
		{dialect.OpenAI(), []sdk.Event{
			start("chatcmpl-01harbour", "mock-model"),
			blockStart(0, sdk.BlockReasoning), delta(0, sdk.KindReasoningDelta, "The log first."), blockEnd(0),
			blockStart(1, sdk.BlockText), textDelta(1, `Reading "log.txt" —`), textDelta(1, " now."), blockEnd(1),
			callStart(2, "call_01harbour", "read"), callDelta(2, `{"path":"lo`), callDelta(2, `g.txt"}`), blockEnd(2),
			usage(sdk.Usage{Input: 100, Output: 15, CacheRead: 70, Reasoning: 4}), finish(sdk.FinishToolCalls),
		}},
	}
	for _, tt := range tests {
		got, complete := decode(t, tt.dialect, testdata(t, tt.dialect.Name()+"/tool.sse"))
		if !complete {
			t.Errorf("%s: not complete", tt.dialect.Name())
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.dialect.Name(), diff)
		}
	}
}

func TestDecodeMessages(t *testing.T) {
	frame := func(data string) string { return "data: " + data + "\n\n" }
	begin := func(i int, block string) string {
		return frame(fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":%s}`, i, block))
	}
	piece := func(i int, delta string) string {
		return frame(fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":%s}`, i, delta))
	}
	end := func(i int) string { return frame(fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, i)) }
	const text, tool = `{"type":"text","text":""}`, `{"type":"tool_use","id":"t","name":"f","input":{}}`
	say := func(s string) string { return `{"type":"text_delta","text":"` + s + `"}` }
	args := func(s string) string { return `{"type":"input_json_delta","partial_json":"` + s + `"}` }
	over := frame(`{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`)
	stop := frame(`{"type":"message_stop"}`)
	tests := []struct {
		name, stream string
		want         []sdk.Event
		complete     bool
	}{
		{"nothing", "", nil, false},
		{"cut in a block", begin(0, text) + piece(0, say("a")),
			[]sdk.Event{blockStart(0, sdk.BlockText), textDelta(0, "a"), blockEnd(0)}, false},
		{"no terminal", begin(0, text) + piece(0, say("a")) + end(0) + over,
			[]sdk.Event{blockStart(0, sdk.BlockText), textDelta(0, "a"), blockEnd(0), finish(sdk.FinishStop)}, true},
		{"no finish but a terminal", stop, []sdk.Event{finish(sdk.FinishStop)}, true},
		{"after the terminal", over + stop + begin(0, text), []sdk.Event{finish(sdk.FinishStop)}, true},
		{"no block ends", begin(0, text) + piece(0, say("a")) + begin(1, tool) + piece(1, args("{}")) + over,
			[]sdk.Event{blockStart(0, sdk.BlockText), textDelta(0, "a"), blockEnd(0), callStart(1, "t", "f"), callDelta(1, "{}"), blockEnd(1), finish(sdk.FinishStop)}, true},
		{"no block starts", piece(0, say("a")) + end(0) + over,
			[]sdk.Event{blockStart(0, sdk.BlockText), textDelta(0, "a"), blockEnd(0), finish(sdk.FinishStop)}, true},
		{"gaps in the numbers", begin(3, text) + piece(3, say("a")) + end(3) + begin(7, text) + piece(7, say("b")) + end(7) + over,
			[]sdk.Event{blockStart(0, sdk.BlockText), textDelta(0, "a"), blockEnd(0), blockStart(1, sdk.BlockText), textDelta(1, "b"), blockEnd(1), finish(sdk.FinishStop)}, true},
		{"text in the start", begin(0, `{"type":"text","text":"a"}`) + piece(0, say("b")) + over,
			[]sdk.Event{blockStart(0, sdk.BlockText), textDelta(0, "a"), textDelta(0, "b"), blockEnd(0), finish(sdk.FinishStop)}, true},
		{"whole call in the start", begin(0, `{"type":"tool_use","id":"t","name":"f","input":{"a":1}}`) + end(0) + over,
			[]sdk.Event{callStart(0, "t", "f"), callDelta(0, `{"a":1}`), blockEnd(0), finish(sdk.FinishStop)}, true},
		{"whole call and its pieces", begin(0, `{"type":"tool_use","id":"t","name":"f","input":{"a":1}}`) + piece(0, args(`{}`)) + over,
			[]sdk.Event{callStart(0, "t", "f"), callDelta(0, `{}`), blockEnd(0), finish(sdk.FinishStop)}, true},
		{"vendor's own tools are left out", begin(0, `{"type":"server_tool_use","id":"s","name":"web_search"}`) + piece(0, args("{}")) + end(0) + begin(1, text) + piece(1, say("a")) + over,
			[]sdk.Event{blockStart(0, sdk.BlockText), textDelta(0, "a"), blockEnd(0), finish(sdk.FinishStop)}, true},
		{"garbage between", begin(0, text) + "data: {\n\n" + piece(0, say("a")) + over,
			[]sdk.Event{blockStart(0, sdk.BlockText), textDelta(0, "a"), blockEnd(0), finish(sdk.FinishStop)}, true},
		{"second start", frame(`{"type":"message_start","message":{"id":"msg_1"}}`) + frame(`{"type":"message_start","message":{"id":"msg_2"}}`) + over,
			[]sdk.Event{start("msg_1", ""), finish(sdk.FinishStop)}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, complete := decode(t, dialect.Anthropic(), []byte(tt.stream))
			if diff := cmp.Diff(tt.want, got); diff != "" || complete != tt.complete {
				t.Errorf("complete %v, (-want +got):\n%s", complete, diff)
			}
		})
	}
}

func TestDecodeChat(t *testing.T) {
	chunk := func(delta string) string {
		return `data: {"id":"chatcmpl-1","model":"m","choices":[{"index":0,"delta":` + delta + "}]}\n\n"
	}
	calls := func(s string) string { return chunk(`{"tool_calls":[` + s + `]}`) }
	call := func(i int, id, name, args string) string {
		return fmt.Sprintf(`{"index":%d,"id":%q,"function":{"name":%q,"arguments":%q}}`, i, id, name, args)
	}
	more := func(i int, args string) string {
		return fmt.Sprintf(`{"index":%d,"function":{"arguments":%q}}`, i, args)
	}
	over := `data: {"id":"chatcmpl-1","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}` + "\n\n"
	const done = "data: [DONE]\n\n"
	two := []sdk.Event{
		start("chatcmpl-1", "m"),
		callStart(0, "a", "f"), callDelta(0, `{"x":`), callDelta(0, `1}`), blockEnd(0),
		callStart(1, "b", "g"), callDelta(1, `{"y":2}`), blockEnd(1),
		finish(sdk.FinishToolCalls),
	}
	tests := []struct {
		name, stream string
		want         []sdk.Event
		complete     bool
	}{
		{"nothing", "", nil, false},
		{"cut", chunk(`{"content":"a"}`), []sdk.Event{start("chatcmpl-1", "m"), blockStart(0, sdk.BlockText), textDelta(0, "a"), blockEnd(0)}, false},
		{"only the sentinel", done, []sdk.Event{finish(sdk.FinishStop)}, true},
		{"no sentinel", over, []sdk.Event{start("chatcmpl-1", "m"), finish(sdk.FinishToolCalls)}, true},
		{"empty pieces", chunk(`{"role":"assistant","content":""}`) + chunk(`{"content":null,"reasoning_content":""}`) + over,
			[]sdk.Event{start("chatcmpl-1", "m"), finish(sdk.FinishToolCalls)}, true},
		{"start without an id first", `data: {"id":"","model":"","choices":[]}` + "\n\n" + over,
			[]sdk.Event{start("chatcmpl-1", "m"), finish(sdk.FinishToolCalls)}, true},
		{"text again after a call", chunk(`{"content":"a"}`) + calls(call(0, "a", "f", "{}")) + chunk(`{"content":"b"}`) + over,
			[]sdk.Event{start("chatcmpl-1", "m"), blockStart(0, sdk.BlockText), textDelta(0, "a"), blockEnd(0),
				callStart(1, "a", "f"), callDelta(1, "{}"), blockEnd(1), blockStart(2, sdk.BlockText), textDelta(2, "b"), blockEnd(2), finish(sdk.FinishToolCalls)}, true},
		{"both kinds of reasoning fields", chunk(`{"reasoning":"a","reasoning_content":"a"}`) + over,
			[]sdk.Event{start("chatcmpl-1", "m"), blockStart(0, sdk.BlockReasoning), delta(0, sdk.KindReasoningDelta, "a"), blockEnd(0), finish(sdk.FinishToolCalls)}, true},
		{"one call after the other", calls(call(0, "a", "f", "")) + calls(more(0, `{"x":`)) + calls(more(0, `1}`)) + calls(call(1, "b", "g", `{"y":2}`)) + over + done, two, true},
		{"interleaved", calls(call(0, "a", "f", `{"x":`)) + calls(call(1, "b", "g", `{"y`)) + calls(more(0, `1}`)) + calls(more(1, `":2}`)) + over,
			[]sdk.Event{two[0], two[1], two[2], two[3], two[4], two[5], callDelta(1, `{"y`), callDelta(1, `":2}`), two[7], two[8]}, true},
		{"interleaved in one chunk", calls(call(0, "a", "f", `{"x":`)+","+call(1, "b", "g", `{"y":2}`)) + calls(more(0, `1}`)) + over, two, true},
		{"all announced first", calls(call(0, "a", "f", "")+","+call(1, "b", "g", "")) + calls(more(1, `{"y":`)) + calls(more(0, `{"x":`)+","+more(0, `1}`)) + calls(more(1, `2}`)) + over,
			[]sdk.Event{two[0], two[1], two[2], two[3], two[4], two[5], callDelta(1, `{"y":`), callDelta(1, `2}`), two[7], two[8]}, true},
		{"a call without arguments first", calls(call(0, "a", "f", "")) + calls(call(1, "b", "g", `{"y":2}`)) + over,
			[]sdk.Event{two[0], two[1], blockEnd(0), two[5], two[6], two[7], two[8]}, true},
		{"text within a call", calls(call(0, "a", "f", `{"x":`)) + chunk(`{"content":"t"}`) + calls(more(0, `1}`)) + over,
			[]sdk.Event{two[0], two[1], two[2], two[3], blockEnd(0), blockStart(1, sdk.BlockText), textDelta(1, "t"), blockEnd(1), two[8]}, true},
		{"braces inside strings", calls(call(0, "a", "f", `{"x":"}\"}`)) + calls(call(1, "b", "g", `{"y":2}`)) + calls(more(0, `"}`)) + over,
			[]sdk.Event{two[0], two[1], callDelta(0, `{"x":"}\"}`), callDelta(0, `"}`), blockEnd(0), two[5], two[6], two[7], two[8]}, true},
		{"no index", calls(`{"id":"a","function":{"name":"f","arguments":"{\"x\":"}}`) + calls(`{"function":{"arguments":"1}"}}`) + calls(`{"id":"b","function":{"name":"g","arguments":{"y":2}}}`) + over, two, true},
		{"neither index nor id", calls(`{"function":{"name":"f","arguments":"{}"}}`) + calls(`{"function":{"name":"f","arguments":"{}"}}`) + over,
			[]sdk.Event{two[0], callStart(0, "", "f"), callDelta(0, "{}"), blockEnd(0), callStart(1, "", "f"), callDelta(1, "{}"), blockEnd(1), two[8]}, true},
		{"one index for all", calls(call(0, "a", "f", `{"x":`)) + calls(call(0, "a", "f", `1}`)) + calls(call(0, "b", "g", `{"y":2}`)) + over, two, true},
		{"index from 1", calls(call(1, "a", "f", `{"x":`)) + calls(more(1, `1}`)) + calls(call(2, "b", "g", `{"y":2}`)) + over, two, true},
		{"a new id for each piece", calls(call(0, "a", "f", `{"x":`)) + calls(call(0, "q", "", `1}`)) + calls(call(1, "b", "g", `{"y":2}`)) + over, two, true},
		{"error finish is left to the scan", chunk(`{"content":"a"}`) + strings.Replace(over, "tool_calls", "insufficient_system_resource", 1),
			[]sdk.Event{start("chatcmpl-1", "m"), blockStart(0, sdk.BlockText), textDelta(0, "a"), blockEnd(0)}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, complete := decode(t, dialect.OpenAI(), []byte(tt.stream))
			if diff := cmp.Diff(tt.want, got); diff != "" || complete != tt.complete {
				t.Errorf("complete %v, (-want +got):\n%s", complete, diff)
			}
		})
	}
}

// What has to wait is bounded, and an answer that overruns is never complete.
func TestDecodeHoldsBounded(t *testing.T) {
	open := "data: " + `{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}]}}]}` + "\n\n"
	end := "data: " + `{"choices":[{"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
	var many strings.Builder
	for i := range 300 {
		fmt.Fprintf(&many, "data: "+`{"choices":[{"delta":{"tool_calls":[{"index":%d,"id":"x%[1]d","function":{"name":"f","arguments":"{"}}]}}]}`+"\n\n", i+1)
	}
	piece := "data: " + `{"choices":[{"delta":{"content":"` + strings.Repeat("x", 1<<20-100) + `"}}]}` + "\n\n"
	for name, held := range map[string]string{"blocks": many.String(), "bytes": strings.Repeat(piece, 9)} {
		events, complete := decode(t, dialect.OpenAI(), []byte(open+held+end))
		if complete || events[len(events)-1].Kind == sdk.KindFinish {
			t.Errorf("%s: the answer counts as complete", name)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, d := range dialects() {
		f.Add(testdata(f, d.Name()+"/tool.sse"))
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		for _, d := range dialects() {
			events, complete := decode(t, d, stream)
			checkEvents(t, d.Name(), events, complete)
		}
	})
}

// checkEvents holds events against the contract of package sdk.
func checkEvents(t *testing.T, name string, events []sdk.Event, complete bool) {
	t.Helper()
	open, next, finished := false, 0, false
	for i, e := range events {
		bad := finished
		switch e.Kind {
		case sdk.KindStart, sdk.KindUsage:
		case sdk.KindBlockStart:
			bad = bad || open || e.Index != next || e.Block == 0
			open = true
		case sdk.KindTextDelta, sdk.KindReasoningDelta, sdk.KindToolCallDelta:
			bad = bad || !open || e.Index != next || e.Text == ""
		case sdk.KindBlockEnd:
			bad = bad || !open || e.Index != next
			open = false
			next++
		case sdk.KindFinish:
			bad = bad || open || e.Finish == "" || e.Failure != nil
			finished = true
		}
		if bad {
			t.Fatalf("%s: event %d is out of place: %+v", name, i, events)
		}
	}
	if open || finished != complete {
		t.Errorf("%s: complete %v, open %v, finished %v", name, complete, open, finished)
	}
}
