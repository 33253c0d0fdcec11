package dialect

import "encoding/json"

type responsesRequest struct {
	Model             string              `json:"model"`
	Instructions      string              `json:"instructions,omitempty"`
	Input             []*responsesItem    `json:"input"`
	Stream            bool                `json:"stream,omitempty"`
	Store             bool                `json:"store"` // the vendor's default is to keep what it is told
	Tools             []responsesTool     `json:"tools,omitempty"`
	ToolChoice        any                 `json:"tool_choice,omitempty"` // a string or a responsesToolChoice
	ParallelToolCalls *bool               `json:"parallel_tool_calls,omitempty"`
	MaxOutputTokens   int                 `json:"max_output_tokens,omitempty"`
	Temperature       *float64            `json:"temperature,omitempty"`
	TopP              *float64            `json:"top_p,omitempty"`
	Reasoning         *responsesReasoning `json:"reasoning,omitempty"`
	Text              *responsesText      `json:"text,omitempty"`
	User              string              `json:"user,omitempty"`
}

// responsesItem is an item of a request or of an answer.
type responsesItem struct {
	ID        string          `json:"id,omitempty"`
	Type      string          `json:"type"`
	Status    string          `json:"status,omitempty"`
	Role      string          `json:"role,omitempty"`
	Content   []responsesPart `json:"content,omitzero"`
	Summary   []responsesPart `json:"summary,omitzero"`
	CallID    string          `json:"call_id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Arguments *string         `json:"arguments,omitempty"`
	Input     *string         `json:"input,omitempty"`
	Output    any             `json:"output,omitempty"` // a string or a list of responsesPart
}

type responsesPart struct {
	Type        string  `json:"type"`
	Text        *string `json:"text,omitempty"`
	Annotations []any   `json:"annotations,omitzero"`
	ImageURL    string  `json:"image_url,omitempty"`
	Filename    string  `json:"filename,omitempty"`
	FileData    string  `json:"file_data,omitempty"`
	FileURL     string  `json:"file_url,omitempty"`
}

type responsesTool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      bool            `json:"strict"` // the vendor's default is true
}

type responsesToolChoice struct {
	Type string `json:"type"`
	Name string `json:"name"`
}

type responsesReasoning struct {
	Effort  string `json:"effort,omitempty"`
	Summary string `json:"summary,omitempty"`
}

type responsesText struct {
	Format responsesFormat `json:"format"`
}

type responsesFormat struct {
	Type   string          `json:"type"`
	Name   string          `json:"name,omitempty"`
	Schema json.RawMessage `json:"schema,omitempty"`
	Strict bool            `json:"strict,omitempty"`
}

// responsesAnswer is a whole answer, or what is known of it so far. Clients
// read the tools and their choice although they had sent them.
type responsesAnswer struct {
	ID            string              `json:"id"`
	Object        string              `json:"object"`
	Created       int64               `json:"created_at"`
	Status        string              `json:"status"`
	Error         *responsesError     `json:"error"`
	Details       *responsesDetails   `json:"incomplete_details"`
	Model         string              `json:"model"`
	Output        []*responsesItem    `json:"output"`
	ParallelTools bool                `json:"parallel_tool_calls"`
	ToolChoice    string              `json:"tool_choice"`
	Tools         []any               `json:"tools"`
	Usage         *responsesUsageJSON `json:"usage"`
	Metadata      struct{}            `json:"metadata"`
}

type responsesError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

type responsesDetails struct {
	Reason string `json:"reason"`
}

func newResponsesAnswer(id, status string) responsesAnswer {
	return responsesAnswer{
		ID: id, Object: "response", Status: status,
		Output: []*responsesItem{}, ParallelTools: true, ToolChoice: "auto", Tools: []any{},
	}
}
