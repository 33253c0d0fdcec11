package dialect

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"spillway/sdk"
)

// maxStops is how many stop strings the vendor takes.
const maxStops = 4

type openaiRequest struct {
	Model               string               `json:"model"`
	Messages            []openaiMessage      `json:"messages"`
	Stream              bool                 `json:"stream,omitempty"`
	StreamOptions       *openaiStreamOptions `json:"stream_options,omitempty"`
	Tools               []openaiTool         `json:"tools,omitempty"`
	ToolChoice          any                  `json:"tool_choice,omitempty"` // a string or an openaiToolChoice
	ParallelToolCalls   *bool                `json:"parallel_tool_calls,omitempty"`
	MaxTokens           int                  `json:"max_tokens,omitempty"`
	MaxCompletionTokens int                  `json:"max_completion_tokens,omitempty"`
	Temperature         *float64             `json:"temperature,omitempty"`
	TopP                *float64             `json:"top_p,omitempty"`
	Stop                []string             `json:"stop,omitempty"`
	ReasoningEffort     string               `json:"reasoning_effort,omitempty"`
	ResponseFormat      *openaiFormat        `json:"response_format,omitempty"`
	User                string               `json:"user,omitempty"`
}

type openaiMessage struct {
	Role             string       `json:"role"`
	Content          any          `json:"content"` // a string, a list of openaiPart, or nil beside calls
	ReasoningContent *string      `json:"reasoning_content,omitempty"`
	ToolCalls        []openaiTool `json:"tool_calls,omitempty"`
	ToolCallID       string       `json:"tool_call_id,omitempty"`
}

type openaiPart struct {
	Type     string       `json:"type"`
	Text     string       `json:"text,omitempty"`
	ImageURL *openaiImage `json:"image_url,omitempty"`
	File     *openaiFile  `json:"file,omitempty"`
}

type openaiImage struct {
	URL string `json:"url"`
}

type openaiFile struct {
	Filename string `json:"filename"`
	FileData string `json:"file_data"`
}

// openaiTool is a tool, or a call of one if it has an id.
type openaiTool struct {
	ID       string         `json:"id,omitempty"`
	Type     string         `json:"type"`
	Function openaiFunction `json:"function"`
}

type openaiFunction struct {
	Name        string          `json:"name"`
	Arguments   *string         `json:"arguments,omitempty"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
	Strict      bool            `json:"strict,omitempty"`
}

type openaiToolChoice struct {
	Type     string         `json:"type"`
	Function openaiFunction `json:"function"`
}

type openaiStreamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type openaiFormat struct {
	Type   string        `json:"type"`
	Schema *openaiSchema `json:"json_schema,omitempty"`
}

type openaiSchema struct {
	Name   string          `json:"name"`
	Schema json.RawMessage `json:"schema"`
	Strict bool            `json:"strict,omitempty"`
}

func (openai) BuildRequest(p *sdk.Prompt, o Outbound) ([]byte, []string, error) {
	b := &openaiBuilder{quirks: o.Quirks, ids: o.away().callIDs(chatIDs), messages: []openaiMessage{}}
	b.say("system", p.System)
	var late []sdk.Message // notices that stand between calls and their results
	calling := false
	for _, m := range p.Messages {
		if m.Role == sdk.RoleSystem && calling {
			late = append(late, m)
			continue
		}
		b.turn(m)
		calling = m.Role == sdk.RoleAssistant && slices.ContainsFunc(m.Parts, func(p sdk.Part) bool { return p.Kind == sdk.PartToolCall })
		if !calling {
			b.turns(late)
			late = nil
		}
	}
	b.turns(late)
	r := openaiRequest{
		Model:           o.Model,
		Messages:        b.messages,
		Stream:          o.Stream,
		Tools:           openaiTools(p.Tools),
		Temperature:     p.Temperature,
		TopP:            p.TopP,
		Stop:            p.Stop[:min(len(p.Stop), maxStops)],
		ReasoningEffort: openaiEffort(p.Effort, &b.dropped),
		ResponseFormat:  openaiFormatOf(p.Schema),
		User:            p.User,
	}
	if len(p.Stop) > maxStops {
		b.dropped.add("stop")
	}
	if p.Reasoning && p.Effort == "" {
		b.dropped.add("thinking") // no field of the dialect asks for it
	}
	if len(p.Tools) > 0 {
		r.ParallelToolCalls = p.ParallelTools
		r.ToolChoice = openaiChoice(p.ToolChoice)
	}
	if limit := o.lowered(p.MaxTokens, &b.dropped); o.Quirks.MaxCompletionTokens {
		r.MaxCompletionTokens = limit
	} else {
		r.MaxTokens = limit
	}
	if o.Stream && !o.Quirks.NoStreamUsage {
		r.StreamOptions = &openaiStreamOptions{IncludeUsage: true}
	}
	body, err := marshal(r)
	if err != nil {
		return nil, nil, fmt.Errorf("prompt: %w", err)
	}
	return body, b.dropped, nil
}

// openaiEffort carries an effort, but for the step that only the other vendor
// has.
func openaiEffort(effort string, d *dropped) string {
	if effort == "max" {
		d.add("effort")
		return "high"
	}
	return effort
}

type openaiBuilder struct {
	quirks   Quirks
	ids      callIDs
	messages []openaiMessage
	dropped  dropped
}

func (b *openaiBuilder) turns(messages []sdk.Message) {
	for _, m := range messages {
		b.turn(m)
	}
}

func (b *openaiBuilder) turn(m sdk.Message) {
	role := "user"
	switch m.Role {
	case sdk.RoleAssistant:
		role = "assistant"
	case sdk.RoleSystem:
		role = "system"
	case sdk.RoleUser, sdk.RoleTool:
	}
	b.say(role, m.Parts)
}

// say adds the messages of one turn: results of tools first, each its own,
// then what those results hold besides text, then the rest.
func (b *openaiBuilder) say(role string, parts []sdk.Part) {
	var rest, shown []sdk.Part
	for _, p := range parts {
		if p.Cache {
			b.dropped.add("cache_control")
		}
		if p.Kind != sdk.PartToolResult {
			rest = append(rest, p)
			continue
		}
		if p.Error {
			b.dropped.add("is_error")
		}
		joined, others := joinText(p.Result)
		b.messages = append(b.messages, openaiMessage{Role: "tool", ToolCallID: b.ids.result(p.ID), Content: joined})
		if others {
			shown = append(shown, sdk.TextPart("Attached to the result of "+b.ids.result(p.ID)+":"))
			for _, inner := range p.Result {
				if inner.Kind != sdk.PartText {
					shown = append(shown, inner)
				}
			}
		}
	}
	b.message("user", shown)
	b.message(role, rest)
}

// message adds one message, unless nothing of it can be carried.
func (b *openaiBuilder) message(role string, parts []sdk.Part) {
	m := openaiMessage{Role: role}
	var content []sdk.Part
	var reasoning []string
	for _, p := range parts {
		switch p.Kind {
		case sdk.PartToolCall:
			args := cmp.Or(string(p.Input), "{}")
			m.ToolCalls = append(m.ToolCalls, openaiTool{
				ID: b.ids.call(p.ID), Type: "function", Function: openaiFunction{Name: p.Name, Arguments: &args},
			})
		case sdk.PartReasoning:
			switch {
			case p.Signature != "" || p.Redacted != "" || !b.quirks.ReasoningContent:
				b.dropped.add("reasoning")
			case p.Text != "":
				reasoning = append(reasoning, p.Text)
			}
		case sdk.PartText, sdk.PartImage, sdk.PartDocument:
			content = append(content, p)
		case sdk.PartToolResult: // only one inside another
			b.dropped.add("tool_result")
		}
	}
	m.Content = b.content(content)
	if m.Content == nil && len(m.ToolCalls) == 0 {
		return
	}
	if b.quirks.ReasoningContent && (len(reasoning) > 0 || len(m.ToolCalls) > 0) {
		m.ReasoningContent = new(cmp.Or(strings.Join(reasoning, "\n\n"), someThought))
	}
	b.messages = append(b.messages, m)
}

// content encodes parts as one string where they are text only, because many
// vendors of this dialect take nothing else. It returns nil for no content.
func (b *openaiBuilder) content(parts []sdk.Part) any {
	joined, others := joinText(parts)
	if !others {
		if joined == "" {
			return nil
		}
		return joined
	}
	var list []openaiPart
	for _, p := range parts {
		switch {
		case p.Kind == sdk.PartText && p.Text != "":
			list = append(list, openaiPart{Type: "text", Text: p.Text})
		case p.Kind == sdk.PartImage:
			url := cmp.Or(p.URL, dataURLOf(p))
			list = append(list, openaiPart{Type: "image_url", ImageURL: &openaiImage{url}})
		case p.Kind == sdk.PartDocument:
			if part, ok := openaiDocument(p); ok {
				list = append(list, part)
			} else {
				b.dropped.add("document")
			}
		}
	}
	if len(list) == 0 {
		return nil
	}
	return list
}

// openaiDocument encodes a document: plain text as such, other data as a file.
// The dialect has no files by URL.
func openaiDocument(p sdk.Part) (openaiPart, bool) {
	if p.URL != "" {
		return openaiPart{}, false
	}
	if plain, ok := plainText(p); ok {
		return openaiPart{Type: "text", Text: plain}, plain != ""
	}
	return openaiPart{Type: "file", File: &openaiFile{Filename: filename(p), FileData: dataURLOf(p)}}, true
}

// plainText is the text of a document that is nothing else.
func plainText(p sdk.Part) (string, bool) {
	if p.MediaType != "text/plain" {
		return "", false
	}
	plain, err := base64.StdEncoding.DecodeString(p.Data)
	return string(plain), err == nil
}

// filename is a name for a document; the vendor tells its kind by the ending.
func filename(p sdk.Part) string {
	_, ending, _ := strings.Cut(p.MediaType, "/")
	return "document." + ending
}

func dataURLOf(p sdk.Part) string { return "data:" + p.MediaType + ";base64," + p.Data }

func openaiTools(tools []sdk.Tool) []openaiTool {
	var out []openaiTool
	for _, t := range tools {
		f := openaiFunction{Name: t.Name, Description: t.Description, Parameters: t.Schema, Strict: t.Strict}
		out = append(out, openaiTool{Type: "function", Function: f})
	}
	return out
}

func openaiChoice(c *sdk.ToolChoice) any {
	switch {
	case c == nil:
		return nil
	case c.Mode == "tool":
		return openaiToolChoice{Type: "function", Function: openaiFunction{Name: c.Name}}
	}
	return c.Mode
}

func openaiFormatOf(s *sdk.Schema) *openaiFormat {
	switch {
	case s == nil:
		return nil
	case len(s.Schema) == 0:
		return &openaiFormat{Type: "json_object"}
	}
	return &openaiFormat{Type: "json_schema", Schema: &openaiSchema{cmp.Or(s.Name, "answer"), s.Schema, s.Strict}}
}
