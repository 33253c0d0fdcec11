package dialect

import (
	"cmp"
	"encoding/json"

	"github.com/tidwall/gjson"

	"spillway/sdk"
)

func (anthropic) ParseAnswer(body []byte) ([]sdk.Event, bool) {
	if !valid(body) {
		return nil, false
	}
	v := gjson.ParseBytes(body)
	if text(v.Get("type")) == "error" || v.Get("error").IsObject() || !v.Get("content").IsArray() {
		return nil, false
	}
	a := answer{
		id:     text(v.Get("id")),
		model:  text(v.Get("model")),
		usage:  anthropicUsage([]byte(v.Get("usage").Raw)),
		finish: anthropicFinish(text(v.Get("stop_reason"))),
	}
	elements(v.Get("content"), func(c gjson.Result) {
		switch text(c.Get("type")) {
		case "text":
			a.blocks = append(a.blocks, answerBlock{kind: sdk.BlockText, text: text(c.Get("text"))})
		case "thinking":
			a.blocks = append(a.blocks, answerBlock{
				kind: sdk.BlockReasoning, text: text(c.Get("thinking")), signature: text(c.Get("signature")),
			})
		case "tool_use":
			a.blocks = append(a.blocks, answerBlock{
				kind: sdk.BlockToolCall, id: text(c.Get("id")), name: text(c.Get("name")), text: c.Get("input").Raw,
			})
		}
	})
	return a.events(), true
}

type anthropicAnswer struct {
	ID           string             `json:"id"`
	Type         string             `json:"type"`
	Role         string             `json:"role"`
	Model        string             `json:"model"`
	Content      []any              `json:"content"`
	StopReason   string             `json:"stop_reason"`
	StopSequence *string            `json:"stop_sequence"`
	Usage        anthropicUsageJSON `json:"usage"`
}

type anthropicTextBlock struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type anthropicThinkingBlock struct {
	Type      string `json:"type"`
	Thinking  string `json:"thinking"`
	Signature string `json:"signature"`
}

type anthropicToolBlock struct {
	Type  string          `json:"type"`
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

func (anthropic) BuildAnswer(events []sdk.Event, o AnswerOptions) []byte {
	a, ok := fold(events)
	if !ok {
		return nil
	}
	out := anthropicAnswer{
		ID:         answerID("msg_", a.id, o.ID),
		Type:       "message",
		Role:       "assistant",
		Model:      cmp.Or(a.model, o.Model),
		Content:    []any{},
		StopReason: anthropicStopReason(a.finish),
		Usage:      toAnthropicUsage(a.usage),
	}
	for _, b := range a.blocks {
		var block any
		switch b.kind {
		case sdk.BlockReasoning:
			block = anthropicThinkingBlock{"thinking", b.text, b.signature}
		case sdk.BlockToolCall:
			input := objectOf(b.text)
			if input == nil { // cut by the token limit, or without arguments
				input = json.RawMessage("{}")
			}
			block = anthropicToolBlock{"tool_use", callID("toolu_", b.id), b.name, input}
		case sdk.BlockText:
			block = anthropicTextBlock{"text", b.text}
		}
		out.Content = append(out.Content, block)
	}
	body, err := marshal(out)
	if err != nil {
		return nil // the input was checked above: nothing else can fail
	}
	return body
}
