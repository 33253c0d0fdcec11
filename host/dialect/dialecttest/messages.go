package dialecttest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// messages is the grammar of the Messages API.
type messages struct {
	started bool
	next    int    // index of the next block
	block   string // type of the open block, "" if there is none
	input   strings.Builder
	whole   []string // inputs of the tool calls
	reason  string
}

type messagesFrame struct {
	Type    string `json:"type"`
	Message *struct {
		ID         string          `json:"id"`
		Type       string          `json:"type"`
		Role       string          `json:"role"`
		Model      string          `json:"model"`
		Content    json.RawMessage `json:"content"`
		StopReason *string         `json:"stop_reason"`
		Usage      *usage          `json:"usage"`
	} `json:"message"`
	Index        *int `json:"index"`
	ContentBlock *struct {
		Type  string          `json:"type"`
		ID    string          `json:"id"`
		Name  string          `json:"name"`
		Input json.RawMessage `json:"input"`
	} `json:"content_block"`
	Delta *struct {
		Type        string  `json:"type"`
		Text        *string `json:"text"`
		Thinking    *string `json:"thinking"`
		Signature   *string `json:"signature"`
		PartialJSON *string `json:"partial_json"`
		StopReason  string  `json:"stop_reason"`
	} `json:"delta"`
	Usage *usage `json:"usage"`
	Error *struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"error"`
}

type usage struct {
	Input  *int `json:"input_tokens"`
	Output *int `json:"output_tokens"`
}

func (m *messages) frame(event string, data []byte) (end, error) {
	var f messagesFrame
	if err := json.Unmarshal(data, &f); err != nil {
		return open, err
	}
	if event != f.Type {
		return open, fmt.Errorf("event %q, type %q", event, f.Type)
	}
	switch {
	case f.Type == "ping":
		return open, nil
	case f.Type == "error":
		if f.Error == nil || f.Error.Type == "" || f.Error.Message == "" {
			return open, errors.New("error without type or message")
		}
		return failed, nil
	case f.Type == "message_start":
		return open, m.start(&f)
	case !m.started:
		return open, errors.New("before message_start")
	case m.reason != "" && f.Type != "message_stop":
		return open, errors.New("between message_delta and message_stop")
	}
	switch f.Type {
	case "content_block_start":
		return open, m.blockStart(&f)
	case "content_block_delta":
		return open, m.blockDelta(&f)
	case "content_block_stop":
		return open, m.blockStop(&f)
	case "message_delta":
		return open, m.delta(&f)
	case "message_stop":
		if m.reason == "" {
			return open, errors.New("message_stop without a stop_reason")
		}
		return closed, nil
	}
	return open, errors.New("unknown event")
}

func (m *messages) start(f *messagesFrame) error {
	s := f.Message
	switch {
	case m.started:
		return errors.New("second message_start")
	case s == nil || s.Type != "message" || s.Role != "assistant" || s.Model == "" || string(s.Content) != "[]":
		return errors.New("incomplete message")
	case !strings.HasPrefix(s.ID, "msg_") || s.StopReason != nil:
		return errors.New("bad id or stop_reason")
	case s.Usage == nil || s.Usage.Input == nil || s.Usage.Output == nil:
		return errors.New("message_start without usage")
	}
	m.started = true
	return nil
}

func (m *messages) blockStart(f *messagesFrame) error {
	b := f.ContentBlock
	switch {
	case m.block != "":
		return fmt.Errorf("block %d is still open", m.next)
	case f.Index == nil || *f.Index != m.next:
		return fmt.Errorf("want index %d", m.next)
	case b == nil:
		return errors.New("no content_block")
	case b.Type == "tool_use" && (b.ID == "" || b.Name == "" || string(b.Input) != "{}"):
		return errors.New("tool_use without id or name, or with input in its start")
	}
	m.block = b.Type
	return nil
}

func (m *messages) blockDelta(f *messagesFrame) error {
	d := f.Delta
	if m.block == "" || f.Index == nil || *f.Index != m.next || d == nil {
		return errors.New("delta of no open block")
	}
	fits := false
	switch d.Type {
	case "text_delta":
		fits = m.block == "text" && d.Text != nil
	case "thinking_delta":
		fits = m.block == "thinking" && d.Thinking != nil
	case "signature_delta":
		fits = m.block == "thinking" && d.Signature != nil
	case "input_json_delta":
		if fits = m.block == "tool_use" && d.PartialJSON != nil; fits {
			m.input.WriteString(*d.PartialJSON)
		}
	}
	if !fits {
		return fmt.Errorf("%s in a block of type %s", d.Type, m.block)
	}
	return nil
}

func (m *messages) blockStop(f *messagesFrame) error {
	if m.block == "" || f.Index == nil || *f.Index != m.next {
		return errors.New("stop of no open block")
	}
	if m.input.Len() > 0 {
		m.whole = append(m.whole, m.input.String())
		m.input.Reset()
	}
	m.block = ""
	m.next++
	return nil
}

func (m *messages) delta(f *messagesFrame) error {
	switch {
	case m.block != "":
		return fmt.Errorf("block %d is still open", m.next)
	case f.Delta == nil || f.Delta.StopReason == "":
		return errors.New("no stop_reason")
	case f.Usage == nil || f.Usage.Output == nil:
		return errors.New("message_delta without usage")
	}
	m.reason = f.Delta.StopReason
	for _, input := range m.whole {
		if m.reason != "max_tokens" && !isObject(input) {
			return fmt.Errorf("tool input is no object: %q", input)
		}
	}
	return nil
}
