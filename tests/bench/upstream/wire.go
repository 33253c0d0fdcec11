package upstream

import (
	"net/http"
	"strconv"
	"strings"

	"spillway/tests/bench/mark"
)

// Pieces of Chat Completions. What a request asks for is found by its bytes: the
// load generator wrote them, and a gateway that spells them otherwise gets an
// answer that is not streamed, which the caller notices.
var (
	wantsStream = []byte(`"stream":true`)
	wantsUsage  = []byte(`"include_usage":true`)
)

const (
	modelList  = `{"object":"list","data":[{"id":"bench","object":"model","created":1,"owned_by":"bench"}]}`
	chunkBegin = `data: {"id":"chatcmpl-bench","object":"chat.completion.chunk","created":1,"model":"bench","choices":[`
	wholeBegin = `{"id":"chatcmpl-bench","object":"chat.completion","created":1,"model":"bench","choices":[{"index":0,"message":{"role":"assistant","content":"`
)

// Filler is the text that follows a whole answer's mark.
func Filler(bytes int) string { return strings.Repeat("word ", bytes/5+1)[:bytes] }

func appendHead(dst []byte) []byte {
	return append(dst, chunkBegin+`{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}`+"\n\n"...)
}

func appendChunk(dst []byte, m mark.Mark) []byte {
	dst = append(dst, chunkBegin+`{"index":0,"delta":{"content":"`...)
	dst = m.Append(dst)
	return append(dst, ` "},"finish_reason":null}]}`+"\n\n"...)
}

func appendTail(dst []byte, chunks int, usage bool) []byte {
	dst = append(dst, chunkBegin+`{"index":0,"delta":{},"finish_reason":"stop"}]}`+"\n\n"...)
	if usage {
		dst = append(dst, chunkBegin+`],"usage":`...)
		dst = appendUsage(dst, chunks)
		dst = append(dst, "}\n\n"...)
	}
	return append(dst, "data: [DONE]\n\n"...)
}

func appendWhole(dst []byte, m mark.Mark, bytes int) []byte {
	dst = append(dst, wholeBegin...)
	dst = m.Append(dst)
	dst = append(dst, Filler(bytes)...)
	dst = append(dst, `"},"finish_reason":"stop"}],"usage":`...)
	return append(appendUsage(dst, bytes/5), '}')
}

func appendUsage(dst []byte, output int) []byte {
	dst = append(dst, `{"prompt_tokens":200,"completion_tokens":`...)
	dst = strconv.AppendInt(dst, int64(output), 10)
	dst = append(dst, `,"total_tokens":`...)
	return append(strconv.AppendInt(dst, int64(output)+200, 10), '}')
}

// refuse answers as vendors do that cannot serve.
func refuse(w http.ResponseWriter, b *Behaviour) {
	kind, code, message := "server_error", "null", "this vendor cannot serve now"
	switch b.Status {
	case http.StatusBadRequest:
		kind, code, message = "invalid_request_error", `"context_length_exceeded"`, "This model's maximum context length is 100 tokens"
	case http.StatusTooManyRequests:
		kind = "rate_limit_error"
	case 529:
		kind = "overloaded_error"
	}
	w.Header().Set("Content-Type", "application/json")
	if b.RetryAfter != "" {
		w.Header().Set("Retry-After", b.RetryAfter)
	}
	w.WriteHeader(b.Status)
	_, _ = w.Write([]byte(`{"error":{"message":"` + message + `","type":"` + kind + `","code":` + code + `}}`))
}
