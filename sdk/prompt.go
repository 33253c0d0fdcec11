package sdk

import "encoding/json"

// Prompt is what a call says, in the one vocabulary between the dialects. It
// reaches a plugin only when it asks with [Call.Prompt].
type Prompt struct {
	System   []Part    `json:"system,omitempty"`
	Messages []Message `json:"messages"`

	Tools         []Tool      `json:"tools,omitempty"`
	ToolChoice    *ToolChoice `json:"tool_choice,omitempty"`
	ParallelTools *bool       `json:"parallel_tools,omitempty"`

	MaxTokens   int      `json:"max_tokens,omitempty"`
	Temperature *float64 `json:"temperature,omitempty"`
	TopP        *float64 `json:"top_p,omitempty"`
	Stop        []string `json:"stop,omitempty"`
	Effort      string   `json:"effort,omitempty"` // reasoning effort as the caller named it: low, medium, high, …
	Reasoning   bool     `json:"reasoning,omitempty"`
	Schema      *Schema  `json:"schema,omitempty"` // structured output
	User        string   `json:"user,omitempty"`

	// Dropped names what the caller sent and this vocabulary cannot carry, for
	// the attempt's record.
	Dropped []string `json:"dropped,omitempty"`
}

// Role is who speaks.
type Role string

const (
	RoleSystem    Role = "system" // in the middle of a conversation; the leading ones are Prompt.System
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Message is one turn.
type Message struct {
	Role  Role   `json:"role"`
	Parts []Part `json:"parts"`
}

// PartKind is what a part holds.
type PartKind string

const (
	PartText       PartKind = "text"
	PartReasoning  PartKind = "reasoning"
	PartImage      PartKind = "image"
	PartDocument   PartKind = "document"
	PartToolCall   PartKind = "tool_call"
	PartToolResult PartKind = "tool_result"
)

// Part is one piece of a message. Which fields are set follows from Kind.
type Part struct {
	Kind PartKind `json:"kind"`
	Text string   `json:"text,omitempty"`

	// PartImage and PartDocument: either a URL or data with its media type.
	URL       string `json:"url,omitempty"`
	MediaType string `json:"media_type,omitempty"`
	Data      string `json:"data,omitempty"` // base64

	// PartToolCall and PartToolResult.
	ID     string          `json:"id,omitempty"`
	Name   string          `json:"name,omitempty"`
	Input  json.RawMessage `json:"input,omitempty"`  // PartToolCall: the arguments
	Result []Part          `json:"result,omitempty"` // PartToolResult
	Error  bool            `json:"error,omitempty"`  // PartToolResult: the tool failed

	Signature string `json:"signature,omitempty"` // PartReasoning: the vendor's proof
	Redacted  string `json:"redacted,omitempty"`  // PartReasoning: opaque form
	Cache     bool   `json:"cache,omitempty"`     // a cache boundary stands after this part
}

// Tool is a function the model may call.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"schema,omitempty"` // JSON Schema of the arguments
	Strict      bool            `json:"strict,omitempty"`
}

// ToolChoice says whether the model must call a tool. Mode is "auto", "none",
// "required" or "tool"; Name is set for "tool".
type ToolChoice struct {
	Mode string `json:"mode"`
	Name string `json:"name,omitempty"`
}

// Schema asks for an answer in JSON. A nil Schema field of it means any object.
type Schema struct {
	Name   string          `json:"name,omitempty"`
	Schema json.RawMessage `json:"schema,omitempty"`
	Strict bool            `json:"strict,omitempty"`
}

// TextPart is a part that holds s.
func TextPart(s string) Part { return Part{Kind: PartText, Text: s} }
