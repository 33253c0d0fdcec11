package dialect

import (
	"cmp"
	"strings"

	"github.com/tidwall/gjson"

	"spillway/sdk"
)

func (openai) ParseAnswer(body []byte) ([]sdk.Event, bool) {
	w, ok := openaiWholeOf(body)
	if !ok {
		return nil, false
	}
	a := answer{id: unquote(w.id), model: unquote(w.model), usage: w.usage, finish: w.finish, blocks: openaiBlocks(w.message)}
	return a.events(), true
}

func (openai) scanAnswer(body []byte) (Mark, bool) {
	w, ok := openaiWholeOf(body)
	if !ok {
		return Mark{}, false
	}
	return Mark{Kind: MarkTerminal, Visible: openaiVisible(&walker{b: w.message}), Finish: w.finish, Usage: w.usage}, true
}

// openaiWhole is an answer that was not streamed, its texts as they stand.
type openaiWhole struct {
	id, model []byte
	message   []byte // of the first choice, an object
	usage     sdk.Usage
	finish    sdk.Finish
}

// openaiWholeOf finds the parts of an answer. ok is false for an error and for
// what is no answer.
func openaiWholeOf(body []byte) (a openaiWhole, ok bool) {
	if !valid(body) {
		return openaiWhole{}, false
	}
	var choice []byte
	failed := false
	for w := walk(body); w.member(); {
		switch string(w.key) {
		case "id":
			a.id = w.val
		case "model":
			a.model = w.val
		case "usage":
			a.usage = openaiUsage(w.val)
		case "error":
			failed = failed || isError(w.val)
		case "choices":
			if c := walk(w.val); w.val[0] == '[' && c.element() {
				choice = c.val
			}
		}
	}
	var broken bool
	a.finish, broken = openaiFinish(string(plain(member(choice, "finish_reason"))))
	a.message = member(choice, "message")
	return a, !failed && !broken && len(a.message) > 0 && a.message[0] == '{'
}

// openaiBlocks are the blocks of a whole message, in the order in which a stream
// brings them.
func openaiBlocks(message []byte) (blocks []answerBlock) {
	var reasoning, other, content, refusal string
	var calls []byte
	for w := walk(message); w.member(); {
		switch string(w.key) {
		case "reasoning_content":
			reasoning = unquote(w.val)
		case "reasoning":
			other = unquote(w.val)
		case "content":
			content = unquote(w.val)
		case "refusal":
			refusal = unquote(w.val)
		case "tool_calls":
			calls = w.val
		}
	}
	add := func(kind sdk.BlockKind, s string) {
		if s != "" {
			blocks = append(blocks, answerBlock{kind: kind, text: s})
		}
	}
	add(sdk.BlockReasoning, cmp.Or(reasoning, other))
	add(sdk.BlockText, content)
	add(sdk.BlockText, refusal)
	if len(calls) > 0 {
		elements(gjson.ParseBytes(calls), func(c gjson.Result) {
			blocks = append(blocks, answerBlock{
				kind: sdk.BlockToolCall, id: text(c.Get("id")), name: text(c.Get("function.name")),
				text: arguments(c.Get("function.arguments")),
			})
		})
	}
	return blocks
}

type openaiAnswer struct {
	ID      string               `json:"id"`
	Object  string               `json:"object"`
	Created int64                `json:"created"`
	Model   string               `json:"model"`
	Choices []openaiAnswerChoice `json:"choices"`
	Usage   openaiUsageJSON      `json:"usage"`
}

type openaiAnswerChoice struct {
	Index        int           `json:"index"`
	Message      openaiMessage `json:"message"`
	FinishReason string        `json:"finish_reason"`
}

func (openai) BuildAnswer(events []sdk.Event, o AnswerOptions) []byte {
	a, ok := fold(events)
	if !ok {
		return nil
	}
	m := openaiMessage{Role: "assistant"}
	var content, reasoning strings.Builder
	for _, b := range a.blocks {
		switch b.kind {
		case sdk.BlockText:
			content.WriteString(b.text)
		case sdk.BlockReasoning:
			reasoning.WriteString(b.text)
		case sdk.BlockToolCall:
			args := cmp.Or(b.text, "{}")
			m.ToolCalls = append(m.ToolCalls, openaiTool{
				ID: callID("call_", b.id), Type: "function", Function: openaiFunction{Name: b.name, Arguments: &args},
			})
		}
	}
	if content.Len() > 0 || len(m.ToolCalls) == 0 {
		m.Content = content.String()
	}
	if reasoning.Len() > 0 {
		s := reasoning.String()
		m.ReasoningContent = &s
	}
	body, err := marshal(openaiAnswer{
		ID:      answerID("chatcmpl-", a.id, o.ID),
		Object:  "chat.completion",
		Created: o.Created,
		Model:   cmp.Or(a.model, o.Model),
		Choices: []openaiAnswerChoice{{Message: m, FinishReason: openaiFinishReason(a.finish)}},
		Usage:   toOpenAIUsage(a.usage),
	})
	if err != nil {
		return nil // every field is a string or a number: nothing can fail
	}
	return body
}
