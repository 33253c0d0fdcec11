package dialect

import (
	"slices"

	"spillway/sdk"
)

// ShapeOf is what a prompt needs from whoever serves it: what [Dialect.Inspect]
// says of a request's body, for a call that has none.
func ShapeOf(p *sdk.Prompt) sdk.Shape {
	s := sdk.Shape{
		Messages: len(p.Messages), Tools: len(p.Tools), Structured: p.Schema != nil, Reasoning: p.Reasoning,
		ParallelTools: p.ParallelTools != nil && *p.ParallelTools,
	}
	var m measure
	m.parts(p.System)
	for _, t := range p.Tools {
		m.text += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	for _, said := range p.Messages {
		m.parts(said.Parts)
		calls, result := 0, false
		for _, part := range said.Parts {
			switch part.Kind {
			case sdk.PartToolCall:
				calls++
			case sdk.PartToolResult:
				result = true
			case sdk.PartText, sdk.PartReasoning, sdk.PartImage, sdk.PartDocument:
			}
		}
		s.ParallelTools = s.ParallelTools || calls > 1
		if said.Role != sdk.RoleSystem {
			s.ToolResult = result
		}
	}
	s.Images, s.Documents = m.images, m.documents
	s.PromptTokens = m.tokens() + 1
	return s
}

// TokensOf estimates how long messages are.
func TokensOf(messages ...sdk.Message) int {
	var m measure
	for said := range slices.Values(messages) {
		m.parts(said.Parts)
	}
	return m.tokens()
}

// measure adds up what parts hold.
type measure struct {
	text, pages       int // bytes
	images, documents int
}

// partBytes is what a part takes besides what it says: its braces and names.
const partBytes = 40

func (m *measure) parts(parts []sdk.Part) {
	for _, p := range parts {
		m.text += partBytes + len(p.Text) + len(p.Input) + len(p.Name) + len(p.ID) + len(p.Signature) + len(p.Redacted) + len(p.URL)
		switch p.Kind {
		case sdk.PartImage:
			m.images++
		case sdk.PartDocument:
			m.documents++
			m.pages += len(p.Data)
		case sdk.PartText, sdk.PartReasoning, sdk.PartToolCall, sdk.PartToolResult:
		}
		m.parts(p.Result)
	}
}

func (m *measure) tokens() int {
	return m.text/textBytesPerToken + m.images*imageTokens + m.pages/documentBytesPerToken
}
