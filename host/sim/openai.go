package sim

import (
	"cmp"
	"fmt"
	"iter"
)

// openaiFormat writes OpenAI Chat Completions, with reasoning_content as
// DeepSeek and Kimi have it.
type openaiFormat struct{}

func (openaiFormat) name() string      { return "openai" }
func (openaiFormat) requestID() string { return "X-Request-Id" }

func (openaiFormat) frames(a *answer) iter.Seq[frame] {
	return func(yield func(frame) bool) {
		chunk := func(kind frameKind, rest string) bool {
			return yield(frame{kind, fmt.Appendf(nil, `data: {"id":%q,"object":"chat.completion.chunk","created":%d,"model":%s,%s}`+"\n\n",
				a.completionID(), a.created.Unix(), quote(a.model), rest)})
		}
		delta := func(kind frameKind, delta, finish string) bool {
			return chunk(kind, fmt.Sprintf(`"choices":[{"index":0,"delta":%s,"logprobs":null,"finish_reason":%s}]`, delta, orNull(finish)))
		}
		if !delta(frameOther, `{"role":"assistant","content":""}`, "") {
			return
		}
		called := false
		for _, p := range a.pieces {
			if p.kind == argumentPiece && !called {
				called = true
				if !delta(frameOther, `{"tool_calls":[`+a.call("")+`]}`, "") {
					return
				}
			}
			if !delta(frameDelta, openaiDelta(p), "") {
				return
			}
		}
		if !delta(frameFinish, `{}`, a.openaiStop()) {
			return
		}
		if a.usage && !chunk(frameUsage, `"choices":[],"usage":`+a.openaiUsage()) {
			return
		}
		yield(frame{frameLast, []byte("data: [DONE]\n\n")})
	}
}

func (openaiFormat) whole(a *answer) []byte {
	message := `"role":"assistant","content":` + orNull(a.text(textPiece))
	if reasoning := a.text(reasoningPiece); reasoning != "" {
		message += `,"reasoning_content":` + quote(reasoning)
	}
	if a.toolName != "" {
		message += `,"tool_calls":[` + a.call(cmp.Or(a.text(argumentPiece), "{}")) + `]`
	}
	return fmt.Appendf(nil, `{"id":%q,"object":"chat.completion","created":%d,"model":%s,`+
		`"choices":[{"index":0,"message":{%s},"logprobs":null,"finish_reason":%s}],"usage":%s}`,
		a.completionID(), a.created.Unix(), quote(a.model), message, orNull(a.openaiStop()), a.openaiUsage())
}

func (a *answer) completionID() string { return "chatcmpl-" + a.id }

func (a *answer) call(arguments string) string {
	return fmt.Sprintf(`{"index":0,"id":%s,"type":"function","function":{"name":%s,"arguments":%s}}`,
		quote(a.callID("call_")), quote(a.toolName), quote(arguments))
}

func (a *answer) openaiUsage() string {
	return fmt.Sprintf(`{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d,"completion_tokens_details":{"reasoning_tokens":%d}}`,
		a.input, len(a.pieces), a.input+len(a.pieces), a.count(reasoningPiece))
}

func openaiDelta(p piece) string {
	switch p.kind {
	case reasoningPiece:
		return `{"content":null,"reasoning_content":` + quote(p.text) + `}`
	case argumentPiece:
		return `{"tool_calls":[{"index":0,"function":{"arguments":` + quote(p.text) + `}}]}`
	case noPiece, textPiece:
	}
	return `{"content":` + quote(p.text) + `}`
}

func (a *answer) openaiStop() string {
	switch a.stop {
	case stopEnd:
		return "stop"
	case stopTool:
		return "tool_calls"
	case stopLength:
		return "length"
	case stopNone:
	}
	return ""
}

// errorBody has the types that OpenAI and the vendors after it use.
func (openaiFormat) errorBody(status int, message string) []byte {
	types := map[int]string{401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
	fallback := "invalid_request_error"
	if status >= 500 {
		fallback = "server_error"
	}
	return fmt.Appendf(nil, `{"error":{"message":%s,"type":%q,"param":null,"code":null}}`, quote(message), cmp.Or(types[status], fallback))
}

func (openaiFormat) errorFrame(_ *answer, _ int, body string) []byte {
	return []byte("data: " + body + "\n\n")
}

func (openaiFormat) errorWhole(_ *answer, body string) []byte { return []byte(body) }

func (openaiFormat) brokenFrame() []byte {
	return []byte("data: {\"id\":\"chatcmpl-sim\",\"object\":\"chat.completion.ch\n\n")
}

func (openaiFormat) keepAlive(int) []byte { return []byte(": keep-alive\n\n") }
