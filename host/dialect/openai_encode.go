package dialect

import (
	"strconv"

	"spillway/sdk"
)

func (openai) NewEncoder(o AnswerOptions) Encoder {
	return &openaiEncoder{encoding: encoding{o: o}}
}

type openaiEncoder struct {
	encoding
	head     []byte // of every chunk, up to its choices
	calls    int    // tool calls begun
	argument bool   // a piece of the open call's arguments was written
}

func (e *openaiEncoder) Encode(dst []byte, ev sdk.Event) []byte { return e.encode(e, dst, ev) }

func (e *openaiEncoder) Sent() Sent { return Sent{} }

// start writes the chunk with the role.
func (e *openaiEncoder) start(dst []byte) []byte {
	e.id = answerID("chatcmpl-", e.id, e.o.ID)
	h := appendString([]byte(`data: {"id":`), e.id)
	h = append(h, `,"object":"chat.completion.chunk","created":`...)
	h = strconv.AppendInt(h, e.o.Created, 10)
	h = append(h, `,"model":`...)
	h = appendString(h, e.model)
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

func (e *openaiEncoder) piece(dst []byte, text string) []byte {
	dst = e.choice(dst)
	switch e.open {
	case sdk.BlockToolCall:
		return e.arguments(dst, text)
	case sdk.BlockReasoning:
		dst = append(dst, `"reasoning_content":`...)
	case sdk.BlockText:
		dst = append(dst, `"content":`...)
	}
	return e.close(appendString(dst, text), "")
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
func (e *openaiEncoder) end(dst []byte, _ string) []byte {
	if e.open == sdk.BlockToolCall && !e.argument {
		dst = e.arguments(e.choice(dst), "{}")
	}
	return dst
}

func (e *openaiEncoder) finish(dst []byte, f sdk.Finish) []byte {
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
