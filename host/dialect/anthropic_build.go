package dialect

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"spillway/sdk"
)

// defaultMaxTokens is what real agents ask for when they know nothing of a
// model; this dialect demands a number.
const defaultMaxTokens = 8192

type anthropicRequest struct {
	Model         string                 `json:"model"`
	MaxTokens     int                    `json:"max_tokens"`
	Stream        bool                   `json:"stream,omitempty"`
	System        []anthropicBlock       `json:"system,omitempty"`
	Messages      []anthropicMessage     `json:"messages"`
	Tools         []anthropicTool        `json:"tools,omitempty"`
	ToolChoice    *anthropicToolChoice   `json:"tool_choice,omitempty"`
	Temperature   *float64               `json:"temperature,omitempty"`
	TopP          *float64               `json:"top_p,omitempty"`
	StopSequences []string               `json:"stop_sequences,omitempty"`
	Thinking      *anthropicThinking     `json:"thinking,omitempty"`
	OutputConfig  *anthropicOutputConfig `json:"output_config,omitempty"`
	Metadata      *anthropicMetadata     `json:"metadata,omitempty"`
}

type anthropicMessage struct {
	Role    string           `json:"role"`
	Content []anthropicBlock `json:"content"`
}

type anthropicBlock struct {
	Type         string           `json:"type"`
	Text         string           `json:"text,omitempty"`
	Source       *anthropicSource `json:"source,omitempty"`
	ID           string           `json:"id,omitempty"`
	Name         string           `json:"name,omitempty"`
	Input        json.RawMessage  `json:"input,omitempty"`
	ToolUseID    string           `json:"tool_use_id,omitempty"`
	Content      []anthropicBlock `json:"content,omitempty"`
	IsError      bool             `json:"is_error,omitempty"`
	Thinking     *string          `json:"thinking,omitempty"`
	Signature    *string          `json:"signature,omitempty"`
	Data         string           `json:"data,omitempty"`
	CacheControl *anthropicCache  `json:"cache_control,omitempty"`
}

type anthropicSource struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type,omitempty"`
	Data      string `json:"data,omitempty"`
	URL       string `json:"url,omitempty"`
}

type anthropicCache struct {
	Type string `json:"type"`
}

type anthropicTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"input_schema"`
	Strict      bool            `json:"strict,omitempty"`
}

type anthropicToolChoice struct {
	Type            string `json:"type"`
	Name            string `json:"name,omitempty"`
	DisableParallel bool   `json:"disable_parallel_tool_use,omitempty"`
}

type anthropicThinking struct {
	Type string `json:"type"`
}

type anthropicOutputConfig struct {
	Effort string           `json:"effort,omitempty"`
	Format *anthropicFormat `json:"format,omitempty"`
}

type anthropicFormat struct {
	Type   string          `json:"type"`
	Schema json.RawMessage `json:"schema"`
}

type anthropicMetadata struct {
	UserID string `json:"user_id"`
}

func (anthropic) BuildRequest(p *sdk.Prompt, o Outbound) ([]byte, []string, error) {
	b := &anthropicBuilder{o: o, ids: o.away().callIDs(messagesIDs)}
	r := anthropicRequest{
		Model:         o.Model,
		MaxTokens:     cmp.Or(o.lowered(p.MaxTokens, &b.dropped), o.MaxOutput, defaultMaxTokens),
		Stream:        o.Stream,
		System:        b.system(p.System),
		Messages:      b.messages(p.Messages),
		Tools:         b.tools(p.Tools),
		ToolChoice:    b.toolChoice(p),
		StopSequences: p.Stop,
	}
	b.reasoning(&r, p)
	b.sampling(&r, p)
	if p.User != "" {
		r.Metadata = &anthropicMetadata{UserID: p.User}
	}
	body, err := marshal(r)
	if err != nil {
		return nil, nil, fmt.Errorf("prompt: %w", err)
	}
	return body, b.dropped, nil
}

type anthropicBuilder struct {
	o       Outbound
	ids     callIDs
	dropped dropped
}

func (b *anthropicBuilder) system(parts []sdk.Part) []anthropicBlock {
	var blocks []anthropicBlock
	for _, p := range parts {
		if p.Kind != sdk.PartText {
			b.dropped.add("system." + string(p.Kind))
		} else if block, ok := b.block(p); ok {
			blocks = append(blocks, block)
		}
	}
	return blocks
}

// messages joins neighbours of one wire role, which the vendor would do anyway,
// and puts the results of tools where it demands them: first in the message
// after the calls.
func (b *anthropicBuilder) messages(messages []sdk.Message) []anthropicMessage {
	out := []anthropicMessage{}
	for _, m := range messages {
		role := "user"
		switch m.Role {
		case sdk.RoleAssistant:
			role = "assistant"
		case sdk.RoleSystem: // in the middle only the vendor's newest models take one
			b.dropped.add("role system")
		case sdk.RoleUser, sdk.RoleTool:
		}
		var blocks []anthropicBlock
		for _, p := range m.Parts {
			if block, ok := b.block(p); ok {
				blocks = append(blocks, block)
			}
		}
		if last := len(out) - 1; last >= 0 && out[last].Role == role {
			out[last].Content = append(out[last].Content, blocks...)
		} else if len(blocks) > 0 {
			out = append(out, anthropicMessage{Role: role, Content: blocks})
		}
	}
	for i, m := range out {
		if b.o.Quirks.ReasoningContent && unreasoned(m.Content) {
			out[i].Content = append([]anthropicBlock{{Type: "thinking", Thinking: new(someThought), Signature: new("")}}, m.Content...)
			continue
		}
		slices.SortStableFunc(m.Content, func(x, y anthropicBlock) int {
			return cmp.Compare(resultRank(x), resultRank(y))
		})
	}
	return out
}

// unreasoned reports whether blocks call tools and do not reason.
func unreasoned(blocks []anthropicBlock) bool {
	calls := func(b anthropicBlock) bool { return b.Type == "tool_use" }
	reasons := func(b anthropicBlock) bool { return thinks(b.Type) }
	return slices.ContainsFunc(blocks, calls) && !slices.ContainsFunc(blocks, reasons)
}

func resultRank(b anthropicBlock) int {
	if b.Type == "tool_result" {
		return 0
	}
	return 1
}

// block encodes a part. The vendor refuses text that is empty, and reasoning
// that it has not signed unless it demands some.
func (b *anthropicBuilder) block(p sdk.Part) (anthropicBlock, bool) {
	var block anthropicBlock
	switch p.Kind {
	case sdk.PartText:
		block = anthropicBlock{Type: "text", Text: p.Text}
		if p.Text == "" {
			return block, false
		}
	case sdk.PartImage, sdk.PartDocument:
		block = anthropicBlock{Type: string(p.Kind), Source: anthropicSourceOf(p)}
	case sdk.PartToolCall:
		block = anthropicBlock{Type: "tool_use", ID: b.ids.call(p.ID), Name: p.Name, Input: objectOf(string(p.Input))}
		if block.Input == nil {
			block.Input = json.RawMessage("{}")
			if len(p.Input) > 0 {
				b.dropped.add("tool_call.input")
			}
		}
	case sdk.PartToolResult:
		block = anthropicBlock{Type: "tool_result", ToolUseID: b.ids.result(p.ID), IsError: p.Error}
		for _, inner := range p.Result {
			if inner.Kind == sdk.PartToolResult {
				b.dropped.add("tool_result")
			} else if c, ok := b.block(inner); ok {
				block.Content = append(block.Content, c)
			}
		}
	case sdk.PartReasoning:
		switch {
		case p.Redacted != "" && b.o.owns(SealOf(p.Redacted)):
			block = anthropicBlock{Type: "redacted_thinking", Data: p.Redacted}
		case p.Redacted == "" && p.Signature != "" && b.o.owns(SealOf(p.Signature)),
			p.Redacted == "" && p.Signature == "" && p.Text != "" && b.o.Quirks.ReasoningContent:
			block = anthropicBlock{Type: "thinking", Thinking: &p.Text, Signature: &p.Signature}
		default:
			b.dropped.add("reasoning")
			return block, false
		}
		return block, true // takes no cache marker
	default:
		b.dropped.add(string(p.Kind))
		return block, false
	}
	switch {
	case p.Cache && b.o.Quirks.AllFields:
		block.CacheControl = &anthropicCache{Type: "ephemeral"}
	case p.Cache: // the others keep caches of their own accord
		b.dropped.add("cache_control")
	}
	return block, true
}

func anthropicSourceOf(p sdk.Part) *anthropicSource {
	if p.URL != "" {
		return &anthropicSource{Type: "url", URL: p.URL}
	}
	if plain, ok := plainText(p); ok && p.Kind == sdk.PartDocument {
		return &anthropicSource{Type: "text", MediaType: p.MediaType, Data: plain}
	}
	return &anthropicSource{Type: "base64", MediaType: p.MediaType, Data: p.Data}
}

func (b *anthropicBuilder) tools(tools []sdk.Tool) []anthropicTool {
	var out []anthropicTool
	for _, t := range tools {
		schema := t.Schema
		if len(schema) == 0 {
			schema = json.RawMessage(`{"type":"object"}`)
		}
		out = append(out, anthropicTool{t.Name, t.Description, schema, t.Strict})
	}
	return out
}

func (b *anthropicBuilder) toolChoice(p *sdk.Prompt) *anthropicToolChoice {
	single := p.ParallelTools != nil && !*p.ParallelTools
	if len(p.Tools) == 0 || p.ToolChoice == nil && !single {
		return nil
	}
	c := &anthropicToolChoice{Type: "auto", DisableParallel: single}
	if p.ToolChoice != nil {
		switch p.ToolChoice.Mode {
		case "required":
			c.Type = "any"
		case "none":
			return &anthropicToolChoice{Type: "none"}
		case "tool":
			c.Type, c.Name = "tool", p.ToolChoice.Name
		}
	}
	return c
}

// reasoning asks for it in the form that agents send to every model of this
// dialect today. It cannot go together with a forced tool call.
func (b *anthropicBuilder) reasoning(r *anthropicRequest, p *sdk.Prompt) {
	var c anthropicOutputConfig
	switch p.Effort {
	case "low", "medium", "high", "xhigh", "max":
		c.Effort = p.Effort
	case "minimal":
		c.Effort = "low"
	case "", "none":
	default:
		b.dropped.add("effort")
	}
	if s := p.Schema; s != nil {
		if len(s.Schema) > 0 {
			c.Format = &anthropicFormat{Type: "json_schema", Schema: s.Schema}
		} else {
			b.dropped.add("response_format")
		}
	}
	if c != (anthropicOutputConfig{}) {
		r.OutputConfig = &c
	}
	switch forced := r.ToolChoice != nil && r.ToolChoice.Type != "auto" && r.ToolChoice.Type != "none"; {
	case !p.Reasoning:
	case forced:
		b.dropped.add("thinking")
	default:
		r.Thinking = &anthropicThinking{Type: "adaptive"}
	}
}

// sampling carries temperature and top_p, of which the vendor takes one, the
// former up to 1, and neither together with reasoning.
func (b *anthropicBuilder) sampling(r *anthropicRequest, p *sdk.Prompt) {
	if t := p.Temperature; t != nil {
		switch {
		case r.Thinking != nil:
			b.dropped.add("temperature")
		case *t > 1:
			b.dropped.add("temperature")
			one := 1.0
			r.Temperature = &one
		default:
			r.Temperature = t
		}
	}
	if p.TopP != nil {
		if r.Thinking != nil || r.Temperature != nil {
			b.dropped.add("top_p")
		} else {
			r.TopP = p.TopP
		}
	}
}
