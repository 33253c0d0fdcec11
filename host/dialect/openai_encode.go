package dialect

import (
	"cmp"
	"strconv"

	"spillway/sdk"
)

func (openai) NewEncoder(o AnswerOptions) Encoder { return &openaiEncoder{o: o} }

type openaiEncoder struct {
	o        AnswerOptions
	id       string // of the answer
	head     []byte // of every chunk, up to its choices
	usage    sdk.Usage
	open     sdk.BlockKind // 0: none
	calls    int           // tool calls begun
	argument bool          // a piece of the open call's arguments was written
	ended    bool
}

func (e *openaiEncoder) Encode(dst []byte, ev sdk.Event) []byte {
	if e.ended {
		return dst
	}
	switch ev.Kind {
	case sdk.KindStart:
		dst = e.start(dst, ev)
	case sdk.KindUsage:
		if ev.Usage != nil {
			e.usage = e.usage.Merge(*ev.Usage)
		}
	case sdk.KindBlockStart:
		dst = e.begin(dst, ev)
	case sdk.KindTextDelta, sdk.KindReasoningDelta, sdk.KindToolCallDelta:
		dst = e.delta(dst, ev)
	case sdk.KindBlockEnd:
		dst = e.end(dst)
	case sdk.KindFinish:
		if clean(ev) {
			dst = e.finish(dst, ev.Finish)
		}
		e.ended = true
	}
	return dst
}

func (e *openaiEncoder) Sent() Sent { return Sent{} }

// start writes the chunk with the role. A second start writes nothing.
func (e *openaiEncoder) start(dst []byte, ev sdk.Event) []byte {
	if e.head != nil {
		return dst
	}
	e.id = answerID("chatcmpl-", ev.ID, e.o.ID)
	h := appendString([]byte(`data: {"id":`), e.id)
	h = append(h, `,"object":"chat.completion.chunk","created":`...)
	h = strconv.AppendInt(h, e.o.Created, 10)
	h = append(h, `,"model":`...)
	h = appendString(h, cmp.Or(ev.Model, e.o.Model))
	e.head = append(h, `,"choices":[`...)
	dst = append(e.choice(dst), `"role":"assistant","content":""`...)
	return e.close(dst, "")
}

// choice writes a chunk up to the members of its delta, close the rest of it.
func (e *openaiEncoder) choice(dst []byte) []byte {
	return append(append(dst, e.head...), `{"index":0,"delta":{`...)
}

func (e *openaiEncoder) close(dst []byte, reason string) []byte {
	if reason == "" {
		return append(dst, "},\"finish_reason\":null}]}\n\n"...)
	}
	return append(appendString(append(dst, `},"finish_reason":`...), reason), "}]}\n\n"...)
}

func (e *openaiEncoder) begin(dst []byte, ev sdk.Event) []byte {
	dst = e.end(e.start(dst, sdk.Event{}))
	e.open = ev.Block
	if ev.Block != sdk.BlockToolCall {
		return dst
	}
	dst = append(e.choice(dst), `"tool_calls":[{"index":`...)
	dst = strconv.AppendInt(dst, int64(e.calls), 10)
	dst = appendString(append(dst, `,"id":`...), callID("call_", ev.ID))
	dst = appendString(append(dst, `,"type":"function","function":{"name":`...), ev.Name)
	dst = append(dst, `,"arguments":""}}]`...)
	e.calls++
	e.argument = false
	return e.close(dst, "")
}

// delta writes a piece. A piece of a tool call without a start is left out: it
// has no name.
func (e *openaiEncoder) delta(dst []byte, ev sdk.Event) []byte {
	block := blockOf(ev.Kind)
	if ev.Text == "" || block == sdk.BlockToolCall && e.open != block {
		return dst
	}
	if e.open != block {
		dst = e.begin(dst, sdk.Event{Block: block})
	}
	dst = e.choice(dst)
	switch block {
	case sdk.BlockToolCall:
		return e.arguments(dst, ev.Text)
	case sdk.BlockReasoning:
		dst = append(dst, `"reasoning_content":`...)
	case sdk.BlockText:
		dst = append(dst, `"content":`...)
	}
	return e.close(appendString(dst, ev.Text), "")
}

func (e *openaiEncoder) arguments(dst []byte, piece string) []byte {
	e.argument = true
	dst = append(dst, `"tool_calls":[{"index":`...)
	dst = strconv.AppendInt(dst, int64(e.calls-1), 10)
	dst = appendString(append(dst, `,"function":{"arguments":`...), piece)
	return e.close(append(dst, "}}]"...), "")
}

// end closes a block. Clients parse the arguments, so a call without any gets
// an empty object.
func (e *openaiEncoder) end(dst []byte) []byte {
	if e.open == sdk.BlockToolCall && !e.argument {
		dst = e.arguments(e.choice(dst), "{}")
	}
	e.open = 0
	return dst
}

func (e *openaiEncoder) finish(dst []byte, f sdk.Finish) []byte {
	dst = e.end(e.start(dst, sdk.Event{}))
	dst = e.close(e.choice(dst), openaiFinishReason(f))
	if e.o.IncludeUsage {
		dst = append(append(dst, e.head...), `],"usage":`...)
		dst = append(appendOpenAIUsage(dst, e.usage), "}\n\n"...)
	}
	return append(dst, openai{}.Terminal()...)
}

func appendOpenAIUsage(dst []byte, u sdk.Usage) []byte {
	w := toOpenAIUsage(u)
	dst = strconv.AppendInt(append(dst, `{"prompt_tokens":`...), int64(w.Prompt), 10)
	dst = strconv.AppendInt(append(dst, `,"completion_tokens":`...), int64(w.Completion), 10)
	dst = strconv.AppendInt(append(dst, `,"total_tokens":`...), int64(w.Total), 10)
	dst = strconv.AppendInt(append(dst, `,"prompt_tokens_details":{"cached_tokens":`...), int64(w.Input.Cached), 10)
	dst = strconv.AppendInt(append(dst, `},"completion_tokens_details":{"reasoning_tokens":`...), int64(w.Output.Reasoning), 10)
	return append(dst, "}}"...)
}
