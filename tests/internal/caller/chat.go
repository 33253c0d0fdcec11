package caller

import (
	"encoding/json"
	"errors"
	"fmt"
)

// chat reads Chat Completions.
type chat struct {
	id    string
	role  bool
	usage bool
}

type chatChunk struct {
	ID      string
	Model   string
	Choices []struct {
		Index int
		Delta struct {
			Role      string
			Content   string
			Reasoning string     `json:"reasoning_content"`
			Calls     []chatCall `json:"tool_calls"`
		}
		Finish string `json:"finish_reason"`
	}
	Usage *struct {
		Output int `json:"completion_tokens"`
	}
	Error *struct{ Message string }
}

type chatCall struct {
	Index    int
	ID       string
	Function struct{ Name, Arguments string }
}

func (g *chat) frame(a *Answer, f frame) error {
	if f.event != "" {
		return errors.New("the dialect names no events")
	}
	if f.data == "[DONE]" {
		a.Done = true
		if a.Stop == "" {
			return errors.New("a terminal without a finish_reason")
		}
		return a.sound()
	}
	var c chatChunk
	if err := json.Unmarshal([]byte(f.data), &c); err != nil {
		return err
	}
	switch {
	case c.Error != nil:
		a.Problem = c.Error.Message
		if !g.role {
			return errors.New("an error before the start")
		}
		return nil
	case c.ID == "" || g.id != "" && c.ID != g.id:
		return fmt.Errorf("id %q, want one for all chunks", c.ID)
	case c.Usage != nil && (g.usage || a.Stop == ""):
		return errors.New("usage twice, or before the finish_reason")
	case len(c.Choices) > 1, len(c.Choices) == 0 && c.Usage == nil:
		return errors.New("want one choice, or usage")
	}
	g.id, a.Model = c.ID, c.Model
	if c.Usage != nil {
		g.usage, a.Output = true, c.Usage.Output
	}
	if len(c.Choices) == 0 {
		return nil
	}
	choice := c.Choices[0]
	switch {
	case choice.Index != 0:
		return errors.New("want index 0")
	case a.Stop != "":
		return errors.New("a choice behind the finish_reason")
	case (choice.Delta.Role != "") == g.role:
		return errors.New("want the role once, at the start")
	}
	g.role = true
	a.Text += choice.Delta.Content
	a.Reasoning += choice.Delta.Reasoning
	for _, call := range choice.Delta.Calls {
		if err := a.chatCall(call); err != nil {
			return err
		}
	}
	if choice.Finish == "" {
		return nil
	}
	var err error
	a.Stop, err = stop(choice.Finish)
	return err
}

// chatCall takes a piece of a call: its start, or some of the last one's arguments.
func (a *Answer) chatCall(c chatCall) error {
	switch n := len(a.Calls); {
	case c.Index == n && c.ID != "" && c.Function.Name != "":
		a.Calls = append(a.Calls, Call{Name: c.Function.Name})
	case c.Index != n-1 || c.ID != "":
		return errors.New("a tool call out of turn, or without its id and name")
	}
	a.add(c.Index, c.Function.Arguments)
	return nil
}
