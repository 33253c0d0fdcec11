package chaos

import (
	"fmt"
	"strings"
)

// wire is a dialect as vendors speak it, told by the end of the path.
type wire uint8

const (
	noWire wire = iota
	openai
	anthropic
	responses
)

func wireOf(path string) wire {
	switch {
	case strings.HasSuffix(path, "/chat/completions"):
		return openai
	case strings.HasSuffix(path, "/messages"):
		return anthropic
	case strings.HasSuffix(path, "/responses"):
		return responses
	}
	return noWire
}

// answer is a sound answer of one vendor to one call: numbered words that name
// both, so that a gap, a repetition, a second vendor or another caller's answer are
// seen.
type answer struct {
	vendor string
	call   int64
	words  int
	usage  bool // the caller wants the usage of a stream
}

func word(i int, vendor string, call int64) string { return fmt.Sprintf("w%d@%s#%d", i, vendor, call) }

// text is the first n words.
func text(n int, vendor string, call int64) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(word(i, vendor, call))
	}
	return b.String()
}

// frames are an answer as a stream: what comes before the first content, one frame
// for each word, what says how it ended, and the sentinel, if the dialect has one.
type frames struct {
	start  string
	words  []string
	finish string
	last   string
}

func (a answer) frames(w wire) frames {
	var f frames
	each := func(format string, args ...any) {
		for i := range a.words {
			piece := word(i, a.vendor, a.call)
			if i > 0 {
				piece = " " + piece
			}
			f.words = append(f.words, fmt.Sprintf(format, append(args, piece)...))
		}
	}
	switch w {
	case openai:
		head := fmt.Sprintf(`data: {"id":"c-%d","object":"chat.completion.chunk","created":1,"model":"m",`, a.call)
		f.start = head + `"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}` + "\n\n"
		each("%s"+`"choices":[{"index":0,"delta":{"content":%q},"finish_reason":null}]}`+"\n\n", head)
		f.finish = head + `"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n"
		if a.usage {
			f.finish += fmt.Sprintf(`%s"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":%d,"total_tokens":%d}}`+"\n\n", head, a.words, a.words+3)
		}
		f.last = "data: [DONE]\n\n"
	case anthropic:
		event := func(name, rest string) string {
			return "event: " + name + "\ndata: {\"type\":\"" + name + "\"" + rest + "}\n\n"
		}
		f.start = event("message_start", fmt.Sprintf(`,"message":{"id":"msg_%d","type":"message","role":"assistant","model":"m","content":[],`+
			`"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":1}}`, a.call)) +
			event("content_block_start", `,"index":0,"content_block":{"type":"text","text":""}`) + event("ping", "")
		each("event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":%q}}\n\n")
		f.finish = event("content_block_stop", `,"index":0`) +
			event("message_delta", fmt.Sprintf(`,"delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":%d}`, a.words))
		f.last = event("message_stop", "")
	case responses:
		n := -1
		event := func(name, rest string) string {
			n++
			return fmt.Sprintf("event: %s\ndata: {\"type\":%q,\"sequence_number\":%d,%s}\n\n", name, name, n, rest)
		}
		at := fmt.Sprintf(`"item_id":"msg_%d","output_index":0,"content_index":0`, a.call)
		f.start = event("response.created", fmt.Sprintf(`"response":{"id":"resp_%d","object":"response","created_at":1,"status":"in_progress","model":"m","output":[]}`, a.call)) +
			event("response.output_item.added", fmt.Sprintf(`"output_index":0,"item":{"id":"msg_%d","type":"message","status":"in_progress","role":"assistant","content":[]}`, a.call)) +
			event("response.content_part.added", at+`,"part":{"type":"output_text","text":"","annotations":[]}`)
		for i := range a.words {
			piece := word(i, a.vendor, a.call)
			if i > 0 {
				piece = " " + piece
			}
			f.words = append(f.words, event("response.output_text.delta", fmt.Sprintf(`%s,"delta":%q`, at, piece)))
		}
		all := text(a.words, a.vendor, a.call)
		part := fmt.Sprintf(`{"type":"output_text","text":%q,"annotations":[]}`, all)
		f.finish = event("response.output_text.done", fmt.Sprintf(`%s,"text":%q`, at, all)) +
			event("response.content_part.done", at+`,"part":`+part) +
			event("response.output_item.done", `"output_index":0,"item":`+a.item()) +
			event("response.completed", `"response":`+a.whole(responses))
	case noWire:
	}
	return f
}

// item is the one part of an answer in Responses.
func (a answer) item() string {
	return fmt.Sprintf(`{"id":"msg_%d","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":%q,"annotations":[]}]}`,
		a.call, text(a.words, a.vendor, a.call))
}

// whole is an answer that is no stream.
func (a answer) whole(w wire) string {
	all := text(a.words, a.vendor, a.call)
	switch w {
	case openai:
		return fmt.Sprintf(`{"id":"c-%d","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":%q},"finish_reason":"stop"}],`+
			`"usage":{"prompt_tokens":3,"completion_tokens":%d,"total_tokens":%d}}`, a.call, all, a.words, a.words+3)
	case anthropic:
		return fmt.Sprintf(`{"id":"msg_%d","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":%q}],`+
			`"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":%d}}`, a.call, all, a.words)
	case responses:
		return fmt.Sprintf(`{"id":"resp_%d","object":"response","created_at":1,"status":"completed","model":"m","output":[%s],`+
			`"usage":{"input_tokens":3,"output_tokens":%d,"total_tokens":%d}}`, a.call, a.item(), a.words, a.words+3)
	case noWire:
	}
	return "{}"
}

// refusal is the body of an error.
func (w wire) refusal(kind, code, message string) string {
	if w == anthropic {
		return fmt.Sprintf(`{"type":"error","error":{"type":%q,"message":%q}}`, kind, message)
	}
	return fmt.Sprintf(`{"error":{"message":%q,"type":%q,"param":null,"code":%q}}`, message, kind, code)
}

// trouble is an error event within a stream.
func (w wire) trouble() string {
	switch w {
	case anthropic:
		return "event: error\ndata: " + w.refusal("overloaded_error", "", "Overloaded") + "\n\n"
	case responses:
		return "event: response.failed\ndata: {\"type\":\"response.failed\",\"sequence_number\":99,\"response\":{\"id\":\"resp_0\",\"object\":\"response\",\"status\":\"failed\"," +
			"\"error\":{\"code\":\"server_error\",\"message\":\"The model is overloaded\"}}}\n\n"
	case openai, noWire:
	}
	return "data: " + w.refusal("server_error", "server_error", "The server had an error") + "\n\n"
}
