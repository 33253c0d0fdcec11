package dialect

import (
	"cmp"
	"strings"

	"github.com/tidwall/gjson"

	"spillway/sdk"
)

func (openai) ParseAnswer(body []byte) ([]sdk.Event, bool) {
	if !valid(body) {
		return nil, false
	}
	v := gjson.ParseBytes(body)
	choice := v.Get("choices.0")
	message := choice.Get("message")
	finish, broken := openaiFinish(text(choice.Get("finish_reason")))
	if e := v.Get("error"); e.Exists() && isError([]byte(e.Raw)) || !message.IsObject() || broken {
		return nil, false
	}
	a := answer{
		id:     text(v.Get("id")),
		model:  text(v.Get("model")),
		usage:  openaiUsage([]byte(v.Get("usage").Raw)),
		finish: finish,
	}
	add := func(kind sdk.BlockKind, s string) {
		if s != "" {
			a.blocks = append(a.blocks, answerBlock{kind: kind, text: s})
		}
	}
	add(sdk.BlockReasoning, cmp.Or(text(message.Get("reasoning_content")), text(message.Get("reasoning"))))
	add(sdk.BlockText, text(message.Get("content")))
	add(sdk.BlockText, text(message.Get("refusal")))
	elements(message.Get("tool_calls"), func(c gjson.Result) {
		a.blocks = append(a.blocks, answerBlock{
			kind: sdk.BlockToolCall, id: text(c.Get("id")), name: text(c.Get("function.name")),
			text: arguments(c.Get("function.arguments")),
		})
	})
	return a.events(), true
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
