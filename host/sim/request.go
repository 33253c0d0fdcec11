package sim

import (
	"encoding/json"
	"strings"
)

// request is what a vendor reads of a request in any dialect.
type request struct {
	Model               string         `json:"model"`
	Stream              bool           `json:"stream"`
	MaxTokens           *int           `json:"max_tokens"`
	MaxCompletionTokens *int           `json:"max_completion_tokens"`
	StreamOptions       *streamOptions `json:"stream_options"`
	Messages            []message      `json:"messages"`
	Tools               []tool         `json:"tools"`
	Thinking            struct {
		Type string `json:"type"`
	} `json:"thinking"`

	// of the Responses dialect
	Input              input    `json:"input"`
	Include            []string `json:"include"`
	MaxOutputTokens    *int     `json:"max_output_tokens"`
	PreviousResponseID string   `json:"previous_response_id"`

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

// tool is an offered tool: its own name and schema in the Messages and the
// Responses dialect, those of its function in the chat dialect.
type tool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	InputSchema json.RawMessage `json:"input_schema"`
	Parameters  json.RawMessage `json:"parameters"`
	Function    *struct {
		Name       string          `json:"name"`
		Parameters json.RawMessage `json:"parameters"`
	} `json:"function"`
}

// callable reports whether it is the caller who runs the tool.
func (t tool) callable() bool {
	return t.name() != "" && (t.Type == "" || t.Type == "function" || t.Type == "custom")
}

func (t tool) name() string {
	if t.Function != nil {
		return t.Function.Name
	}
	return t.Name
}

func (t tool) schema() json.RawMessage {
	switch {
	case t.Function != nil:
		return t.Function.Parameters
	case t.InputSchema != nil:
		return t.InputSchema
	}
	return t.Parameters
}

// freeform reports whether the tool takes plain text, as only the Responses dialect
// has it: Messages calls any tool of the caller's custom.
func (t tool) freeform(f format) bool {
	return t.Type == "custom" && t.schema() == nil && f == responsesFormat{}
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

	plain bool // the content was a plain string
}

// content is a list of blocks. A plain string is one text block, anything else
// one block of no type, which only strict mode minds.
type content []block

func (c *content) UnmarshalJSON(data []byte) error {
	var text *string
	if json.Unmarshal(data, &text) == nil {
		*c = nil
		if text != nil {
			*c = content{{Type: "text", Text: *text, plain: true}}
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

// input is the conversation in the Responses dialect: a plain string is what a
// user says, anything else but a list one item of no type, which only strict
// mode minds.
type input []item

// item is one thing said, called or answered.
type item struct {
	Type      string  `json:"type"`
	ID        string  `json:"id"`
	Role      string  `json:"role"`
	Content   content `json:"content"`
	CallID    string  `json:"call_id"`
	Name      string  `json:"name"`
	Arguments any     `json:"arguments"`
	Input     any     `json:"input"`
	Output    content `json:"output"`
	Encrypted *string `json:"encrypted_content"`
}

func (in *input) UnmarshalJSON(data []byte) error {
	var text *string
	if json.Unmarshal(data, &text) == nil {
		*in = nil
		if text != nil {
			*in = input{{Type: "message", Role: "user", Content: content{{Type: "text", Text: *text, plain: true}}}}
		}
		return nil
	}
	if json.Unmarshal(data, (*[]item)(in)) != nil {
		*in = input{{}}
	}
	return nil
}

// kind is the item's type, which a message may leave out.
func (i item) kind() string {
	if i.Type == "" && i.Role != "" {
		return "message"
	}
	return i.Type
}

func decodeRequest(body []byte) (*request, error) {
	r := &request{size: len(body)}
	if err := json.Unmarshal(body, r); err != nil {
		return nil, err
	}
	return r, nil
}

// turn is what the conversation ends with: the last thing a user said, and the
// result of the last tool call since then. What an agent reminds the model of is
// said by nobody.
func (r *request) turn() (prompt, result string, hasResult bool) {
	for _, m := range r.Messages {
		if m.Role == "tool" {
			result, hasResult = m.Content.text(), true
		}
		for _, b := range m.Content {
			switch {
			case b.Type == "tool_result":
				result, hasResult = b.Content.text(), true
			case b.Type == "text" && m.Role == "user" && !isReminder(b.Text):
				prompt, result, hasResult = b.Text, "", false
			}
		}
	}
	for _, i := range r.Input {
		switch kind := i.kind(); {
		case kind == "function_call_output" || kind == "custom_tool_call_output":
			result, hasResult = i.Output.text(), true
		case kind == "message" && i.Role == "user" && !isReminder(i.Content.text()):
			prompt, result, hasResult = i.Content.text(), "", false
		}
	}
	return prompt, result, hasResult
}

// isReminder reports whether a user's text is one that an agent has put there.
func isReminder(text string) bool { return strings.HasPrefix(text, "<system-reminder>") }

// prefilled reports whether the conversation ends with the assistant's words.
func (r *request) prefilled() bool {
	if n := len(r.Input); n > 0 {
		return r.Input[n-1].kind() == "message" && r.Input[n-1].Role == "assistant"
	}
	n := len(r.Messages)
	return n > 0 && r.Messages[n-1].Role == "assistant"
}

// maxOutput is the limit the caller set, or none.
func (r *request) maxOutput() int {
	for _, n := range []*int{r.MaxTokens, r.MaxCompletionTokens, r.MaxOutputTokens} {
		if n != nil && *n > 0 {
			return *n
		}
	}
	return maxTokens
}

// inputTokens is a rough count: four bytes make a token.
func (r *request) inputTokens() int { return (r.size + 3) / 4 }
