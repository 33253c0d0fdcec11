package failure

import (
	"strings"

	"github.com/tidwall/gjson"
)

// isFrames recognises server-sent events and lines of JSON.
func isFrames(text string) bool {
	for _, p := range []string{"data:", "event:", "id:", "retry:", ":"} {
		if strings.HasPrefix(text, p) {
			return true
		}
	}
	first, rest, more := strings.Cut(text, "\n")
	return more && strings.HasPrefix(first, "{") && strings.HasPrefix(strings.TrimSpace(rest), "{") && gjson.Valid(first)
}

// frames reads a stream's text: error frames for their evidence, the others for
// how far the answer came.
func (r *reading) frames(text string) {
	var event string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case line == "":
			event = ""
		case strings.HasPrefix(line, "event:"):
			event = strings.TrimSpace(line[len("event:"):])
		case strings.HasPrefix(line, "data:"):
			r.frame(event, strings.TrimSpace(line[len("data:"):]))
		case strings.HasPrefix(line, "{"):
			r.frame("", line)
		}
	}
}

func (r *reading) frame(event, data string) {
	if data == "[DONE]" {
		r.answer.ended = true
		return
	}
	if !strings.HasPrefix(data, "{") {
		if event == "error" && data != "" {
			r.keep(r.text(data, 1))
		}
		return
	}
	v := gjson.Parse(data)
	if event == "error" || isErrorFrame(v) {
		r.envelope = true
		r.keep(r.value(v, 1))
		return
	}
	r.answer.observe(v)
}

func (r *reading) keep(message string) {
	if r.message == "" {
		r.message = message
	}
}

func isErrorFrame(v gjson.Result) bool {
	switch v.Get("type").String() {
	case "error", "response.failed", "rate_limit_event", "result":
		return true
	}
	if e := v.Get("error"); e.Exists() && e.Type != gjson.Null {
		return true
	}
	if v.Get("base_resp.status_code").Int() != 0 {
		return true
	}
	return !v.Get("choices").Exists() && v.Get("message").Type == gjson.String && v.Get("code").Exists()
}

// observe notes what one frame, or one whole answer, shows of a model's output.
func (a *answer) observe(v gjson.Result) {
	a.frames = true
	nonEmpty := func(paths ...string) {
		for _, p := range paths {
			if g := v.Get(p); g.String() != "" && g.String() != "[]" {
				a.content = true
			}
		}
	}
	finish := func(paths ...string) {
		for _, p := range paths {
			if s := v.Get(p).String(); s != "" {
				a.finish = s
			}
		}
	}
	nonEmpty("choices.0.delta.content", "choices.0.delta.reasoning_content", "choices.0.delta.tool_calls",
		"choices.0.message.content", "choices.0.message.tool_calls", "choices.0.text", "content.0.text", "content.0.input",
		"candidates.0.content.parts", "delta.text", "delta.thinking", "delta.partial_json")
	finish("choices.0.finish_reason", "candidates.0.finishReason", "delta.stop_reason", "stop_reason", "incomplete_details.reason", "response.incomplete_details.reason")
	if v.Get("promptFeedback.blockReason").Exists() {
		a.finish = "SAFETY"
	}
	switch v.Get("type").String() {
	case "message_stop", "response.completed", "response.incomplete":
		a.ended = true
	case "response.output_text.delta", "response.function_call_arguments.delta":
		a.content = true
	}
}
