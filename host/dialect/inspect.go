package dialect

import (
	"bytes"
	"fmt"

	"spillway/sdk"
)

const (
	// maxName bounds a model's name and a conversation's id: they end up in
	// records, metrics and log lines.
	maxName = 256

	// textBytesPerToken is the usual rule of thumb for prose and code.
	textBytesPerToken = 4
	// imageTokens is what the vendors count for an image of about a megapixel,
	// the size to which most clients scale.
	imageTokens = 1600
	// documentBytesPerToken is for base64 of PDF: a page of some 75 KB is
	// counted as about 2 000 tokens.
	documentBytesPerToken = 50
)

// survey is an inspection under way. The parts of a request in which the
// dialects agree are read here, the others by the dialect's own field.
type survey struct {
	Inspection
	past      past
	images    int // bytes of images
	documents int // bytes of documents
}

// inspect reads body. said is the member that holds the conversation, which read
// reads; field is given the tools and every top-level member that is not common
// to the dialects.
func inspect(body []byte, said string, read func(*survey, []byte) *sdk.Failure, field func(s *survey, key string, val []byte)) (Inspection, error) {
	if !valid(body) {
		return Inspection{}, invalid("body", "not valid JSON")
	}
	if bytes.TrimSpace(body)[0] != '{' {
		return Inspection{}, invalid("body", "not a JSON object")
	}
	var s survey
	found := false
	for w := walk(body); w.member(); {
		var err *sdk.Failure
		switch string(w.key) {
		case "model":
			s.Model = unquote(w.val)
			if len(s.Model) > maxName {
				err = invalid("model", fmt.Sprintf("longer than %d bytes", maxName))
			}
		case "stream":
			s.Stream = string(w.val) == "true"
			if !s.Stream && string(w.val) != "false" && given(w.val) {
				err = invalid("stream", "want true or false")
			}
		case "max_tokens", "max_completion_tokens", "max_output_tokens":
			if given(w.val) && !isNumber(w.val) {
				err = invalid(string(w.key), "want a number")
			}
			s.MaxTokens = max(s.MaxTokens, count(w.val))
		case said:
			if found = given(w.val); found {
				err = read(&s, w.val)
			}
		case "tools":
			s.Shape.Tools = 0
			for t := walk(w.val); t.element(); {
				s.Shape.Tools++
			}
			fallthrough
		default:
			field(&s, string(w.key), w.val)
		}
		if err != nil {
			return Inspection{}, err
		}
	}
	switch {
	case s.Model == "":
		return Inspection{}, invalid("model", "want a name")
	case !found && s.Held == "":
		return Inspection{}, invalid(said, "missing")
	}
	s.Shape.PromptTokens = (len(body)-s.images-s.documents)/textBytesPerToken +
		s.Shape.Images*imageTokens + s.documents/documentBytesPerToken
	s.History = s.past.history(s.Shape.ToolResult, s.Shape.Reasoning)
	return s.Inspection, nil
}

func (s *survey) messages(raw []byte) *sdk.Failure {
	if raw[0] != '[' {
		return invalid("messages", "want a list")
	}
	s.Shape.Messages, s.Shape.ToolResult, s.past = 0, false, past{manual: s.past.manual}
	for w := walk(raw); w.element(); {
		if w.val[0] != '{' {
			return invalid(fmt.Sprintf("messages[%d]", s.Shape.Messages), "want an object")
		}
		s.Shape.Messages++
		s.message(w.val)
	}
	return nil
}

// message reads one message of either dialect: their names do not collide.
func (s *survey) message(raw []byte) {
	var role string
	var c content
	for w := walk(raw); w.member(); {
		switch string(w.key) {
		case "role":
			role = unquote(w.val)
		case "content":
			c.add(s.content(w.val, true))
		case "tool_calls":
			for t := walk(w.val); t.element(); {
				c.calls++
			}
		case "reasoning_content":
			c.reasons = c.reasons || w.val[0] == '"'
		}
	}
	if c.calls > 1 {
		s.Shape.ParallelTools = true
	}
	s.past.turn(role, c)
	// Clients put notices of their own behind a tool's result.
	if role != "system" && role != "developer" {
		s.Shape.ToolResult = c.result || role == "tool"
	}
}

// content is what a message holds.
type content struct {
	first   string // type of its first block
	calls   int    // of tools
	result  bool   // of a tool
	reasons bool
}

func (c *content) add(d content) {
	c.first, c.calls, c.result, c.reasons = d.first, c.calls+d.calls, c.result || d.result, c.reasons || d.reasons
}

// content reads a list of parts; a tool's result's own ones are looked at if
// deep.
func (s *survey) content(raw []byte, deep bool) (c content) {
	if raw[0] != '[' {
		return content{first: "text"}
	}
	for w := walk(raw); w.element(); {
		var kind string
		var inner, id, seal []byte
		for p := walk(w.val); p.member(); {
			switch string(p.key) {
			case "type":
				kind = unquote(p.val)
			case "content":
				inner = p.val
			case "id", "tool_use_id":
				id = p.val
			case "signature", "data":
				seal = p.val
			}
		}
		if c.first == "" {
			c.first = kind
		}
		switch kind {
		case "tool_use":
			c.calls++
			s.called(id)
		case "tool_result":
			c.result = true
			s.called(id)
			if deep && len(inner) > 0 {
				s.content(inner, false)
			}
		case "thinking", "redacted_thinking":
			c.reasons = true
			if filled(seal) {
				s.past.seen |= HistorySealed
			} else {
				s.past.seen |= HistoryUnsealed
			}
		case "image", "image_url", "input_image":
			s.Shape.Images++
			s.images += len(w.val)
		case "document", "file", "input_file":
			s.Shape.Documents++
			s.documents += len(w.val)
		case "input_audio":
			s.documents += len(w.val)
		}
	}
	return c
}

// called reads the id of a call in Messages.
func (s *survey) called(id []byte) {
	if len(id) > 2 && !messagesIDs.fits(id[1:len(id)-1]) {
		s.past.seen |= HistoryOddIDs
	}
}

// conversation returns id if it is fit to name a conversation.
func conversation(id string) string {
	if len(id) > maxName {
		return ""
	}
	return id
}
