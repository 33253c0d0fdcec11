package dialect

import (
	"cmp"
	"strconv"

	"spillway/host/sse"
	"spillway/sdk"
)

// OpenAI returns the dialect of Chat Completions.
func OpenAI() Dialect { return openai{} }

type openai struct{}

func (openai) Name() string { return "openai" }

func (openai) Redirect(body []byte, o Outbound) ([]byte, []string, error) { return redirect(body, o) }

func (openai) Inspect(body []byte) (Inspection, error) {
	return inspect(body, "messages", (*survey).messages, func(s *survey, key string, val []byte) {
		switch key {
		case "reasoning_effort":
			s.Effort = unquote(val)
			s.Shape.Reasoning = s.Shape.Reasoning || reasons(s.Effort)
		case "reasoning": // the form of several relays
			for w := walk(val); w.member(); {
				switch string(w.key) {
				case "effort":
					s.Effort = cmp.Or(s.Effort, unquote(w.val))
				case "enabled":
					s.Shape.Reasoning = s.Shape.Reasoning || string(w.val) == "true"
				}
			}
		case "thinking":
			for w := walk(val); w.member(); {
				if string(w.key) == "type" && unquote(w.val) == "enabled" {
					s.Shape.Reasoning = true
				}
			}
		case "response_format":
			for w := walk(val); w.member(); {
				if string(w.key) == "type" {
					s.Shape.Structured = unquote(w.val) == "json_schema"
				}
			}
		case "tools":
			for w := walk(val); w.element(); {
				s.hosted(typeOf(w.val))
			}
		case "web_search_options":
			if given(val) {
				s.hosted("web_search")
			}
		case "parallel_tool_calls":
			s.Shape.ParallelTools = s.Shape.ParallelTools || string(val) == "true"
		case "stream_options":
			for w := walk(val); w.member(); {
				if string(w.key) == "include_usage" {
					s.IncludeUsage = string(w.val) == "true"
				}
			}
		case "n":
			s.Choices, _ = strconv.Atoi(string(val)) // what is no number is the vendor's to refuse
		case "prompt_cache_key":
			s.Conversation = conversation(unquote(val))
		case "user":
			s.User = conversation(unquote(val))
		}
	})
}

// reasons reports whether an effort asks for reasoning.
func reasons(effort string) bool { return effort != "" && effort != "none" }

func (openai) ErrorBody(f *sdk.Failure, requestID string) []byte {
	name := nameOf(f)
	dst := appendString([]byte(`{"error":{"message":`), errorText(f))
	dst = appendString(append(dst, `,"type":`...), name.openai)
	dst = appendString(append(dst, `,"param":null,"code":`...), name.code)
	if requestID != "" {
		dst = appendString(append(dst, `,"request_id":`...), requestID)
	}
	return append(dst, "}}"...)
}

func (o openai) ErrorFrame(f *sdk.Failure, requestID string, _ Sent) []byte {
	return sse.AppendFrame(nil, "", o.ErrorBody(f, requestID))
}

func (openai) Terminal() []byte { return []byte("data: [DONE]\n\n") }

// openaiFinish reads a finish_reason. broken reports a reason by which vendors
// say that the answer was cut by a fault of theirs.
func openaiFinish(reason string) (f sdk.Finish, broken bool) {
	switch reason {
	case "length", "max_tokens":
		return sdk.FinishMaxTokens, false
	case "tool_calls", "function_call":
		return sdk.FinishToolCalls, false
	case "content_filter", "sensitive", "refusal":
		return sdk.FinishRefusal, false
	case "insufficient_system_resource", "network_error", "abort", "error":
		return sdk.FinishError, true
	}
	return sdk.FinishStop, false
}

func openaiFinishReason(f sdk.Finish) string {
	switch f {
	case sdk.FinishToolCalls:
		return "tool_calls"
	case sdk.FinishMaxTokens:
		return "length"
	case sdk.FinishRefusal:
		return "content_filter"
	case sdk.FinishStop, sdk.FinishError, sdk.FinishAborted:
	}
	return "stop"
}

// openaiUsage reads a usage object. Where cached input stands differs from
// vendor to vendor.
func openaiUsage(raw []byte) sdk.Usage {
	var u sdk.Usage
	for w := walk(raw); w.member(); {
		switch string(w.key) {
		case "prompt_tokens":
			u.Input = count(w.val)
		case "completion_tokens":
			u.Output = count(w.val)
		case "cached_tokens", "prompt_cache_hit_tokens":
			u.CacheRead = max(u.CacheRead, count(w.val))
		case "prompt_tokens_details":
			for d := walk(w.val); d.member(); {
				if string(d.key) == "cached_tokens" {
					u.CacheRead = max(u.CacheRead, count(d.val))
				}
			}
		case "completion_tokens_details":
			for d := walk(w.val); d.member(); {
				if string(d.key) == "reasoning_tokens" {
					u.Reasoning = count(d.val)
				}
			}
		}
	}
	return u
}

// openaiUsageJSON is the same the other way. It has no place for what was
// written to a cache.
type openaiUsageJSON struct {
	Prompt     int                     `json:"prompt_tokens"`
	Completion int                     `json:"completion_tokens"`
	Total      int                     `json:"total_tokens"`
	Input      openaiInputDetailsJSON  `json:"prompt_tokens_details"`
	Output     openaiOutputDetailsJSON `json:"completion_tokens_details"`
}

type openaiInputDetailsJSON struct {
	Cached int `json:"cached_tokens"`
}

type openaiOutputDetailsJSON struct {
	Reasoning int `json:"reasoning_tokens"`
}

func toOpenAIUsage(u sdk.Usage) openaiUsageJSON {
	return openaiUsageJSON{
		Prompt: u.Input, Completion: u.Output, Total: u.Input + u.Output,
		Input:  openaiInputDetailsJSON{u.CacheRead},
		Output: openaiOutputDetailsJSON{u.Reasoning},
	}
}
