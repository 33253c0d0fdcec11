package caller

import (
	"encoding/json"
	"errors"
	"fmt"
)

// messages reads Anthropic Messages.
type messages struct {
	started bool
	blocks  int    // begun
	open    string // the kind of the last one, "" once it is closed
}

type messagesEvent struct {
	Type    string
	Message struct{ ID, Model string }
	Index   int
	Block   struct{ Type, ID, Name string } `json:"content_block"`
	Delta   struct {
		Type     string
		Text     string
		Thinking string
		Input    string `json:"partial_json"`
		Stop     string `json:"stop_reason"`
	}
	Usage struct {
		Output int `json:"output_tokens"`
	}
	Error struct{ Message string }
}

func (g *messages) frame(a *Answer, f frame) error {
	var e messagesEvent
	if err := json.Unmarshal([]byte(f.data), &e); err != nil {
		return err
	}
	if e.Type == "error" {
		a.Problem = e.Error.Message
	}
	switch {
	case e.Type != f.event:
		return fmt.Errorf("type %q", e.Type)
	case g.started == (e.Type == "message_start"):
		return errors.New("want one message_start, at the start")
	case a.Stop != "" && e.Type != "message_stop" && e.Type != "ping" && e.Type != "error":
		return errors.New("behind the stop_reason")
	}
	switch e.Type {
	case "ping", "error":
		return nil
	case "message_start":
		g.started, a.Model = true, e.Message.Model
		if e.Message.ID == "" {
			return errors.New("no id")
		}
		return nil
	case "content_block_start", "content_block_delta", "content_block_stop":
		return g.block(a, e)
	case "message_delta":
		if g.open != "" {
			return errors.New("a block is open")
		}
		a.Output = e.Usage.Output
		var err error
		a.Stop, err = stop(e.Delta.Stop)
		return err
	case "message_stop":
		a.Done = true
		if a.Stop == "" {
			return errors.New("a terminal without a stop_reason")
		}
		return a.sound()
	}
	return errors.New("unknown event")
}

func (g *messages) block(a *Answer, e messagesEvent) error {
	if e.Type == "content_block_start" {
		if g.open != "" || e.Index != g.blocks {
			return fmt.Errorf("want block %d, and the one before it closed", g.blocks)
		}
		g.blocks++
		g.open = e.Block.Type
		if g.open == "tool_use" {
			a.Calls = append(a.Calls, Call{Name: e.Block.Name})
			if e.Block.ID == "" || e.Block.Name == "" {
				return errors.New("a tool call without its id and name")
			}
		}
		return nil
	}
	if g.open == "" || e.Index != g.blocks-1 {
		return errors.New("of no open block")
	}
	if e.Type == "content_block_stop" {
		g.open = ""
		return nil
	}
	switch want := map[string]string{"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "thinking", "input_json_delta": "tool_use"}; {
	case want[e.Delta.Type] != g.open:
		return fmt.Errorf("%s in a block of %s", e.Delta.Type, g.open)
	case g.open == "tool_use":
		a.add(len(a.Calls)-1, e.Delta.Input)
	}
	a.Text += e.Delta.Text
	a.Reasoning += e.Delta.Thinking
	return nil
}
