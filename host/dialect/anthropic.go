package dialect

import (
	"strings"

	"github.com/tidwall/gjson"

	"spillway/host/sse"
	"spillway/sdk"
)

// Anthropic returns the dialect of the Messages API.
func Anthropic() Dialect { return anthropic{} }

type anthropic struct{}

func (anthropic) Name() string { return "anthropic" }

func (anthropic) Redirect(body []byte, o Outbound) ([]byte, []string, error) {
	return redirect(body, o)
}

func (a anthropic) Inspect(body []byte) (Inspection, error) {
	return inspect(body, "messages", (*survey).messages, func(s *survey, key string, val []byte) {
		switch key {
		case "thinking":
			for w := walk(val); w.member(); {
				if string(w.key) == "type" {
					kind := unquote(w.val)
					s.Shape.Reasoning = kind == "enabled" || kind == "adaptive"
					s.past.manual = kind == "enabled"
				}
			}
		case "output_config":
			for w := walk(val); w.member(); {
				switch string(w.key) {
				case "effort":
					s.Effort = unquote(w.val)
				case "format":
					s.Shape.Structured = given(w.val)
				}
			}
		case "output_format":
			s.Shape.Structured = given(val)
		case "tools":
			for w := walk(val); w.element(); {
				s.hosted(typeOf(w.val))
			}
		case "mcp_servers":
			for w := walk(val); w.element(); {
				s.hosted("mcp")
			}
		case "tool_choice":
			for w := walk(val); w.member(); {
				if string(w.key) == "disable_parallel_tool_use" && string(w.val) == "false" {
					s.Shape.ParallelTools = true
				}
			}
		case "metadata":
			for w := walk(val); w.member(); {
				if string(w.key) == "user_id" {
					s.Conversation = conversation(sessionOf(unquote(w.val)))
				}
			}
		}
	})
}

// sessionOf finds the session that agents hide in metadata.user_id: as a field
// of a JSON object or, in older versions, behind a marker. A plain user id has
// none.
func sessionOf(userID string) string {
	if strings.HasPrefix(userID, "{") && valid([]byte(userID)) {
		return text(gjson.Get(userID, "session_id"))
	}
	if _, session, ok := strings.Cut(userID, "_session_"); ok {
		return session
	}
	return ""
}

func (anthropic) ErrorBody(f *sdk.Failure, requestID string) []byte {
	dst := appendString([]byte(`{"type":"error","error":{"type":`), nameOf(f).anthropic)
	dst = appendString(append(dst, `,"message":`...), errorText(f))
	dst = append(dst, '}')
	if requestID != "" {
		dst = appendString(append(dst, `,"request_id":`...), requestID)
	}
	return append(dst, '}')
}

func (a anthropic) ErrorFrame(f *sdk.Failure, requestID string, _ Sent) []byte {
	return sse.AppendFrame(nil, "error", a.ErrorBody(f, requestID))
}

func (anthropic) Terminal() []byte {
	return []byte("event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n")
}

// anthropicFinish reads a stop_reason. A pause is a stop to everybody but the
// client that asked for the vendor's own tools, and it sees the raw bytes.
func anthropicFinish(reason string) sdk.Finish {
	switch reason {
	case "tool_use":
		return sdk.FinishToolCalls
	case "max_tokens", "model_context_window_exceeded":
		return sdk.FinishMaxTokens
	case "refusal":
		return sdk.FinishRefusal
	}
	return sdk.FinishStop
}

func anthropicStopReason(f sdk.Finish) string {
	switch f {
	case sdk.FinishToolCalls:
		return "tool_use"
	case sdk.FinishMaxTokens:
		return "max_tokens"
	case sdk.FinishRefusal:
		return "refusal"
	case sdk.FinishStop, sdk.FinishError, sdk.FinishAborted:
	}
	return "end_turn"
}

// anthropicUsage reads a usage object. The vendor counts cached input apart,
// the vocabulary counts it in.
func anthropicUsage(raw []byte) sdk.Usage {
	var u sdk.Usage
	for w := walk(raw); w.member(); {
		switch string(w.key) {
		case "input_tokens":
			u.Input = count(w.val)
		case "output_tokens":
			u.Output = count(w.val)
		case "cache_read_input_tokens":
			u.CacheRead = count(w.val)
		case "cache_creation_input_tokens":
			u.CacheWrite = count(w.val)
		}
	}
	u.Input += u.CacheRead + u.CacheWrite
	return u
}

// anthropicUsageJSON is the same the other way.
type anthropicUsageJSON struct {
	Input      int `json:"input_tokens"`
	CacheWrite int `json:"cache_creation_input_tokens"`
	CacheRead  int `json:"cache_read_input_tokens"`
	Output     int `json:"output_tokens"`
}

func toAnthropicUsage(u sdk.Usage) anthropicUsageJSON {
	return anthropicUsageJSON{
		Input:      max(u.Input-u.CacheRead-u.CacheWrite, 0),
		CacheWrite: u.CacheWrite,
		CacheRead:  u.CacheRead,
		Output:     u.Output,
	}
}
