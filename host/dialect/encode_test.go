package dialect_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spillway/host/dialect"
	"spillway/host/dialect/dialecttest"
	"spillway/sdk"
)

func TestEncode(t *testing.T) {
	o := dialect.AnswerOptions{ID: "42", Model: "m", IncludeUsage: true, Created: 7}
	events := []sdk.Event{
		start("resp_1", ""),
		usage(sdk.Usage{Input: 10, CacheRead: 4, CacheWrite: 1}),
		delta(0, sdk.KindReasoningDelta, "hm"), {Kind: sdk.KindBlockEnd, Signature: "s"},
		textDelta(1, "a\n"), textDelta(1, ""), textDelta(1, "b"),
		callStart(2, "x", "f"), callDelta(2, `{"a":1}`),
		callStart(3, "y", "g"), blockEnd(3),
		usage(sdk.Usage{Output: 5, Reasoning: 2}),
		finish(sdk.FinishToolCalls),
		textDelta(4, "after the end"),
	}
	const messages = `event: message_start
data: {"type":"message_start","message":{"id":"msg_42","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":5,"cache_creation_input_tokens":1,"cache_read_input_tokens":4,"output_tokens":0}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"s"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"a\n"}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"b"}}

event: content_block_stop
data: {"type":"content_block_stop","index":1}

event: content_block_start
data: {"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"x","name":"f","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"a\":1}"}}

event: content_block_stop
data: {"type":"content_block_stop","index":2}

event: content_block_start
data: {"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"y","name":"g","input":{}}}

event: content_block_stop
data: {"type":"content_block_stop","index":3}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"input_tokens":5,"cache_creation_input_tokens":1,"cache_read_input_tokens":4,"output_tokens":5}}

event: message_stop
data: {"type":"message_stop"}

`
	const head = `data: {"id":"chatcmpl-42","object":"chat.completion.chunk","created":7,"model":"m","choices":[`
	var chat strings.Builder
	for _, delta := range []string{
		`"role":"assistant","content":""`,
		`"reasoning_content":"hm"`,
		`"content":"a\n"`,
		`"content":"b"`,
		`"tool_calls":[{"index":0,"id":"x","type":"function","function":{"name":"f","arguments":""}}]`,
		`"tool_calls":[{"index":0,"function":{"arguments":"{\"a\":1}"}}]`,
		`"tool_calls":[{"index":1,"id":"y","type":"function","function":{"name":"g","arguments":""}}]`,
		`"tool_calls":[{"index":1,"function":{"arguments":"{}"}}]`,
	} {
		chat.WriteString(head + `{"index":0,"delta":{` + delta + `},"finish_reason":null}]}` + "\n\n")
	}
	chat.WriteString(head + `{"index":0,"delta":{},"finish_reason":"tool_calls"}]}` + "\n\n")
	chat.WriteString(head + `],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":2}}}` + "\n\n")
	chat.WriteString("data: [DONE]\n\n")
	for d, want := range map[dialect.Dialect]string{dialect.Anthropic(): messages, dialect.OpenAI(): chat.String()} {
		got := encode(d, o, events)
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", d.Name(), diff)
		}
		if err := dialecttest.Check(d.Name(), got); err != nil {
			t.Errorf("%s: %v", d.Name(), err)
		}
	}
}

func TestEncodeOddities(t *testing.T) {
	for _, d := range dialects() {
		o := dialect.AnswerOptions{Model: "m"}
		failure := sdk.FailEvent(sdk.NewFailure(sdk.CodeServer, "test", "broken"))
		for name, events := range map[string][]sdk.Event{
			"nothing but a finish":    {finish(sdk.FinishStop)},
			"made-up ids":             {callStart(0, "", "f"), callDelta(0, "{}"), finish(sdk.FinishToolCalls)},
			"late start":              {textDelta(0, "a"), start("msg_2", "other"), finish(sdk.FinishStop)},
			"pieces of no call":       {callDelta(0, "{}"), textDelta(0, "a"), callDelta(0, "{}"), finish(sdk.FinishStop)},
			"two ends":                {textDelta(0, "a"), blockEnd(0), blockEnd(0), finish(sdk.FinishStop)},
			"two finishes":            {textDelta(0, "a"), finish(sdk.FinishStop), finish(sdk.FinishStop)},
			"call cut by the limit":   {callStart(0, "x", "f"), callDelta(0, `{"a`), finish(sdk.FinishMaxTokens)},
			"text of no valid UTF-8":  {textDelta(0, "a\xff\u2028\x00\x7f"), finish(sdk.FinishRefusal)},
			"usage without a counter": {{Kind: sdk.KindUsage}, textDelta(0, "a"), finish(sdk.FinishStop)},
		} {
			if err := dialecttest.Check(d.Name(), encode(d, o, events)); err != nil {
				t.Errorf("%s, %s: %v", d.Name(), name, err)
			}
		}
		if got := encode(d, o, []sdk.Event{failure}); len(got) > 0 {
			t.Errorf("%s: a failed finish writes %q", d.Name(), got)
		}
		enc := d.NewEncoder(o)
		stream := enc.Encode(nil, textDelta(0, "a"))
		stream = enc.Encode(enc.Encode(stream, failure), textDelta(0, "b"))
		stream = append(stream, d.ErrorFrame(failure.Failure, "req-1", enc.Sent())...)
		if err := dialecttest.CheckFailed(d.Name(), stream); err != nil {
			t.Errorf("%s: %v", d.Name(), err)
		}
		if err := dialecttest.CheckFailed(d.Name(), append(stream, d.Terminal()...)); err == nil && len(d.Terminal()) > 0 {
			t.Errorf("%s: a terminal after an error passes", d.Name())
		}
	}
}

func TestTerminal(t *testing.T) {
	for _, d := range dialects() {
		frames(t, d.Terminal(), func(event string, data []byte) {
			if m := d.Scan(event, data); m.Kind != dialect.MarkTerminal {
				t.Errorf("%s: got %+v", d.Name(), m)
			}
		})
		frames(t, d.ErrorFrame(sdk.NewFailure(sdk.CodeServer, "test", ""), "", dialect.Sent{}), func(event string, data []byte) {
			if m := d.Scan(event, data); m.Kind != dialect.MarkError {
				t.Errorf("%s: got %+v", d.Name(), m)
			}
		})
	}
}
