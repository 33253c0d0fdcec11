package dialect

import (
	"cmp"
	"strconv"

	"spillway/host/sse"
	"spillway/sdk"
)

// Responses returns the dialect of OpenAI's Responses.
func Responses() Dialect { return responses{} }

type responses struct{}

func (responses) Name() string { return "responses" }

func (responses) Redirect(body []byte, o Outbound) ([]byte, []string, error) {
	return redirect(body, o)
}

func (responses) ErrorBody(f *sdk.Failure, requestID string) []byte {
	return openai{}.ErrorBody(f, requestID)
}

// ErrorFrame is a response.failed and never an "error" event: agents pass over
// the latter and wait for the stream's end.
func (responses) ErrorFrame(f *sdk.Failure, requestID string, sent Sent) []byte {
	data := append([]byte(`{"type":"response.failed","sequence_number":`), strconv.Itoa(sent.Next)...)
	r := newResponsesAnswer(cmp.Or(sent.ID, answerID("resp_", "", requestID)), "failed")
	r.Error = &responsesError{Code: nameOf(f).code, Message: errorText(f)}
	data = appendJSON(append(data, `,"response":`...), r)
	return sse.AppendFrame(nil, "response.failed", append(data, '}'))
}

func (responses) Terminal() []byte { return nil }

// responsesFinish reads how an answer ended. broken reports one that the vendor
// gave up or that failed.
func responsesFinish(response []byte) (f sdk.Finish, broken bool) {
	var status, reason []byte
	calls, refused := false, false
	for w := walk(response); w.member(); {
		switch string(w.key) {
		case "status":
			status = plain(w.val)
		case "error":
			broken = broken || isError(w.val)
		case "incomplete_details":
			for d := walk(w.val); d.member(); {
				if string(d.key) == "reason" {
					reason = plain(d.val)
				}
			}
		case "output":
			for item := walk(w.val); item.element(); {
				called, no := responsesEnd(item.val)
				calls, refused = calls || called, refused || no
			}
		}
	}
	switch {
	case broken || string(status) == "failed" || string(status) == "cancelled":
		return sdk.FinishError, true
	case string(reason) == "content_filter":
		return sdk.FinishRefusal, false
	case len(reason) > 0 || string(status) == "incomplete": // cut, for whatever reason
		return sdk.FinishMaxTokens, false
	case calls:
		return sdk.FinishToolCalls, false
	case refused:
		return sdk.FinishRefusal, false
	}
	return sdk.FinishStop, false
}

// responsesEnd says what an item of an answer means for the answer's end: a
// call that the caller must make, or a refusal.
func responsesEnd(item []byte) (called, refused bool) {
	for w := walk(item); w.member(); {
		switch string(w.key) {
		case "type":
			called = string(w.val) == `"function_call"` || string(w.val) == `"custom_tool_call"`
		case "content":
			for part := walk(w.val); part.element(); {
				for p := walk(part.val); p.member(); {
					refused = refused || string(p.key) == "refusal" && filled(p.val)
				}
			}
		}
	}
	return called, refused
}

// responsesStatus is the other way.
func responsesStatus(f sdk.Finish) (status string, details *responsesDetails) {
	switch f {
	case sdk.FinishMaxTokens:
		return "incomplete", &responsesDetails{"max_output_tokens"}
	case sdk.FinishRefusal:
		return "incomplete", &responsesDetails{"content_filter"}
	case sdk.FinishStop, sdk.FinishToolCalls, sdk.FinishError, sdk.FinishAborted:
	}
	return "completed", nil
}

func responsesUsage(raw []byte) sdk.Usage {
	var u sdk.Usage
	for w := walk(raw); w.member(); {
		switch string(w.key) {
		case "input_tokens":
			u.Input = count(w.val)
		case "output_tokens":
			u.Output = count(w.val)
		case "input_tokens_details":
			for d := walk(w.val); d.member(); {
				if string(d.key) == "cached_tokens" {
					u.CacheRead = count(d.val)
				}
			}
		case "output_tokens_details":
			for d := walk(w.val); d.member(); {
				if string(d.key) == "reasoning_tokens" {
					u.Reasoning = count(d.val)
				}
			}
		}
	}
	return u
}

// responsesUsageJSON is the same the other way. It has no place for what was
// written to a cache.
type responsesUsageJSON struct {
	Input         int                     `json:"input_tokens"`
	InputDetails  openaiInputDetailsJSON  `json:"input_tokens_details"`
	Output        int                     `json:"output_tokens"`
	OutputDetails openaiOutputDetailsJSON `json:"output_tokens_details"`
	Total         int                     `json:"total_tokens"`
}

func toResponsesUsage(u sdk.Usage) *responsesUsageJSON {
	return &responsesUsageJSON{
		Input: u.Input, InputDetails: openaiInputDetailsJSON{u.CacheRead},
		Output: u.Output, OutputDetails: openaiOutputDetailsJSON{u.Reasoning},
		Total: u.Input + u.Output,
	}
}

// freeform is plain text for a tool as the vocabulary carries it.
func freeform(text string) []byte {
	return append(appendString([]byte(freeformHead), text), '}')
}

const freeformHead = `{"input":`

// freeformText is the other way. Where a model wrote anything else, the tool
// gets that.
func freeformText(input string) string {
	var text []byte
	members := 0
	for w := walk(objectOf(input)); w.member(); members++ {
		if string(w.key) == "input" {
			text = w.val
		}
	}
	if members != 1 || len(text) == 0 || text[0] != '"' {
		return input
	}
	return unquote(text)
}
