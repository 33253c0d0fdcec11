package sim

import (
	"encoding/json"
	"strings"
)

// request is what a vendor reads of a request in either dialect.
type request struct {
	Model               string         `json:"model"`
	Stream              bool           `json:"stream"`
	MaxTokens           *int           `json:"max_tokens"`
	MaxCompletionTokens *int           `json:"max_completion_tokens"`
	StreamOptions       *streamOptions `json:"stream_options"`
	Messages            []message      `json:"messages"`
	Tools               []tool         `json:"tools"`

	size int // of the body, in bytes
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type message struct {
	Role             string     `json:"role"`
	Content          content    `json:"content"`
	ToolCalls        []toolCall `json:"tool_calls"`
	ToolCallID       string     `json:"tool_call_id"`
	ReasoningContent *string    `json:"reasoning_content"`
}

// toolCall is a call in a message of the chat dialect.
type toolCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments any    `json:"arguments"`
	} `json:"function"`
}

// tool is an offered tool: its own name and schema in the Messages dialect,
// those of its function in the chat dialect.
type tool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	InputSchema json.RawMessage `json:"input_schema"`
	Function    *struct {
		Name       string          `json:"name"`
		Parameters json.RawMessage `json:"parameters"`
	} `json:"function"`
}

func (t tool) definition() (name string, schema json.RawMessage) {
	if t.Function != nil {
		return t.Function.Name, t.Function.Parameters
	}
	return t.Name, t.InputSchema
}

// block is a part of a message's content.
type block struct {
	Type      string  `json:"type"`
	Text      string  `json:"text"`
	ID        string  `json:"id"`
	Name      string  `json:"name"`
	ToolUseID string  `json:"tool_use_id"`
	Content   content `json:"content"`
	Thinking  string  `json:"thinking"`
	Signature string  `json:"signature"`
}

// content is a list of blocks. A plain string is one text block, anything else
// one block of no type, which only strict mode minds.
type content []block

func (c *content) UnmarshalJSON(data []byte) error {
	var text *string
	if json.Unmarshal(data, &text) == nil {
		*c = nil
		if text != nil {
			*c = content{{Type: "text", Text: *text}}
		}
		return nil
	}
	if json.Unmarshal(data, (*[]block)(c)) != nil {
		*c = content{{}}
	}
	return nil
}

func (c content) text() string {
	var b strings.Builder
	for _, block := range c {
		b.WriteString(block.Text)
	}
	return b.String()
}

func decodeRequest(body []byte) (*request, error) {
	r := &request{size: len(body)}
	if err := json.Unmarshal(body, r); err != nil {
		return nil, err
	}
	return r, nil
}

// turn is what the conversation ends with: the last thing a user said, and the
// result of the last tool call since then.
func (r *request) turn() (prompt, result string, hasResult bool) {
	for _, m := range r.Messages {
		if m.Role == "tool" {
			result, hasResult = m.Content.text(), true
		}
		for _, b := range m.Content {
			switch {
			case b.Type == "tool_result":
				result, hasResult = b.Content.text(), true
			case b.Type == "text" && m.Role == "user":
				prompt, result, hasResult = b.Text, "", false
			}
		}
	}
	return prompt, result, hasResult
}

// maxOutput is the limit the caller set, or none.
func (r *request) maxOutput() int {
	for _, n := range []*int{r.MaxTokens, r.MaxCompletionTokens} {
		if n != nil && *n > 0 {
			return *n
		}
	}
	return maxTokens
}

// inputTokens is a rough count: four bytes make a token.
func (r *request) inputTokens() int { return (r.size + 3) / 4 }
