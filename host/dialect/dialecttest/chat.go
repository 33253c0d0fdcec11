package dialecttest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// chat is the grammar of Chat Completions.
type chat struct {
	id     string
	role   bool
	calls  []*strings.Builder // the arguments of each
	reason string
	usage  bool
}

type chatChunk struct {
	ID      string        `json:"id"`
	Object  string        `json:"object"`
	Model   string        `json:"model"`
	Choices *[]chatChoice `json:"choices"`
	Usage   *struct {
		Prompt     *int `json:"prompt_tokens"`
		Completion *int `json:"completion_tokens"`
		Total      *int `json:"total_tokens"`
	} `json:"usage"`
	Error *struct {
		Message string `json:"message"`
		Type    string `json:"type"`
	} `json:"error"`
}

type chatChoice struct {
	Index        *int                       `json:"index"`
	Delta        map[string]json.RawMessage `json:"delta"`
	FinishReason *string                    `json:"finish_reason"`
}

type chatCall struct {
	Index    *int    `json:"index"`
	ID       *string `json:"id"`
	Type     *string `json:"type"`
	Function struct {
		Name      *string `json:"name"`
		Arguments *string `json:"arguments"`
	} `json:"function"`
}

func (c *chat) frame(event string, data []byte) (end, error) {
	if event != "" {
		return open, errors.New("the dialect names no events")
	}
	if string(data) == "[DONE]" {
		if c.reason == "" {
			return open, errors.New("terminal without a finish_reason")
		}
		return closed, nil
	}
	var chunk chatChunk
	if err := json.Unmarshal(data, &chunk); err != nil {
		return open, err
	}
	if e := chunk.Error; e != nil {
		if e.Message == "" || e.Type == "" {
			return open, errors.New("error without type or message")
		}
		return failed, nil
	}
	return open, c.chunk(&chunk)
}

func (c *chat) chunk(k *chatChunk) error {
	switch {
	case k.ID == "" || k.Model == "" || k.Object != "chat.completion.chunk":
		return errors.New("incomplete chunk")
	case c.id != "" && c.id != k.ID:
		return fmt.Errorf("id changes from %q", c.id)
	case k.Choices == nil:
		return errors.New("no choices")
	}
	c.id = k.ID
	if len(*k.Choices) == 0 {
		switch {
		case k.Usage == nil || k.Usage.Prompt == nil || k.Usage.Completion == nil || k.Usage.Total == nil:
			return errors.New("neither a choice nor usage")
		case c.usage || c.reason == "":
			return errors.New("usage twice, or before the finish_reason")
		}
		c.usage = true
		return nil
	}
	choice := (*k.Choices)[0]
	switch {
	case len(*k.Choices) > 1 || choice.Index == nil || *choice.Index != 0 || choice.Delta == nil:
		return errors.New("want one choice of index 0 with a delta")
	case c.reason != "":
		return errors.New("a choice after the finish_reason")
	}
	if err := c.delta(choice.Delta); err != nil {
		return err
	}
	if choice.FinishReason != nil {
		return c.finish(*choice.FinishReason)
	}
	return nil
}

func (c *chat) delta(d map[string]json.RawMessage) error {
	if len(d) == 0 {
		return nil
	}
	role, hasRole := d["role"]
	switch {
	case hasRole && c.role:
		return errors.New("role twice")
	case hasRole && string(role) != `"assistant"`:
		return errors.New("want role assistant")
	case !hasRole && !c.role:
		return errors.New("content before the role")
	}
	c.role = true
	for _, key := range []string{"content", "reasoning_content"} {
		if raw, ok := d[key]; ok {
			var s *string
			if err := json.Unmarshal(raw, &s); err != nil {
				return fmt.Errorf("%s: %w", key, err)
			}
		}
	}
	raw, ok := d["tool_calls"]
	if !ok {
		return nil
	}
	var calls []chatCall
	if err := json.Unmarshal(raw, &calls); err != nil {
		return fmt.Errorf("tool_calls: %w", err)
	}
	for _, call := range calls {
		if err := c.call(&call); err != nil {
			return err
		}
	}
	return nil
}

func (c *chat) call(k *chatCall) error {
	f := k.Function
	switch {
	case k.Index == nil || *k.Index < 0 || *k.Index > len(c.calls):
		return fmt.Errorf("tool call: want index up to %d", len(c.calls))
	case *k.Index == len(c.calls):
		if k.ID == nil || *k.ID == "" || f.Name == nil || *f.Name == "" || k.Type == nil || *k.Type != "function" {
			return errors.New("tool call begins without id, type or name")
		}
		c.calls = append(c.calls, &strings.Builder{})
	case *k.Index != len(c.calls)-1:
		return errors.New("tool calls overlap")
	case k.ID != nil || k.Type != nil || f.Name != nil:
		return errors.New("id, type or name twice")
	}
	if f.Arguments != nil {
		c.calls[*k.Index].WriteString(*f.Arguments)
	}
	return nil
}

func (c *chat) finish(reason string) error {
	if !c.role {
		return errors.New("finish_reason before the role")
	}
	c.reason = reason
	for _, args := range c.calls {
		if reason != "length" && !isObject(args.String()) {
			return fmt.Errorf("arguments are no object: %q", args.String())
		}
	}
	return nil
}
