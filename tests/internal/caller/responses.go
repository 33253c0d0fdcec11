package caller

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// responses reads OpenAI's Responses.
type responses struct {
	started bool
	number  int              // of the last frame
	items   []*responsesItem // begun
}

// responsesItem is a part of an answer: a message, some reasoning, a call.
type responsesItem struct {
	id, kind string
	call     int    // of the answer's calls
	said     string // by its pieces
	done     bool
}

type responsesEvent struct {
	Type     string
	Number   *int `json:"sequence_number"`
	Response struct {
		ID      string
		Model   string
		Status  string
		Output  []json.RawMessage
		Details struct{ Reason string } `json:"incomplete_details"`
		Usage   struct {
			Output int `json:"output_tokens"`
		}
		Error struct{ Message string }
	}
	Index  int    `json:"output_index"`
	ItemID string `json:"item_id"`
	Item   responsesBody
	Delta  string
}

// responsesBody is an item as it is when it is whole.
type responsesBody struct {
	ID, Type, Name, Arguments, Input string
	CallID                           string `json:"call_id"`
	Content, Summary                 []struct{ Text string }
}

func (b responsesBody) said() string {
	var s strings.Builder
	s.WriteString(b.Arguments + b.Input)
	for _, part := range append(b.Content, b.Summary...) {
		s.WriteString(part.Text)
	}
	return s.String()
}

func (g *responses) frame(a *Answer, f frame) error {
	if f.data == "[DONE]" {
		return errors.New("the dialect has no [DONE]")
	}
	var e responsesEvent
	if err := json.Unmarshal([]byte(f.data), &e); err != nil {
		return err
	}
	if e.Type == "response.failed" {
		a.Problem = e.Response.Error.Message
	}
	last := g.number
	if e.Number != nil {
		g.number = *e.Number
	}
	switch {
	case e.Type != f.event:
		return fmt.Errorf("type %q", e.Type)
	case e.Type == "keepalive" && g.started: // between two numbers, so it needs none
		g.number = last
		return nil
	case e.Number == nil:
		return errors.New("no sequence_number")
	case g.started && g.number <= last:
		return fmt.Errorf("sequence_number behind %d", last)
	case g.started == (e.Type == "response.created"):
		return errors.New("want one response.created, at the start")
	}
	switch e.Type {
	case "response.failed", "response.in_progress":
		return nil
	case "response.created":
		g.started, a.Model = true, e.Response.Model
		if e.Response.ID == "" {
			return errors.New("no id")
		}
		return nil
	case "response.completed", "response.incomplete":
		a.Done, a.Output = true, e.Response.Usage.Output
		return g.end(a, e)
	case "response.output_item.added":
		return g.begin(a, e)
	case "response.output_item.done":
		return g.close(e)
	}
	return g.piece(a, e)
}

func (g *responses) begin(a *Answer, e responsesEvent) error {
	i := &responsesItem{id: e.Item.ID, kind: e.Item.Type}
	if strings.HasSuffix(i.kind, "_call") {
		i.call = len(a.Calls)
		a.Calls = append(a.Calls, Call{Name: e.Item.Name})
		if e.Item.Name == "" || e.Item.CallID == "" {
			return errors.New("a tool call without its id and name")
		}
	}
	if e.Index != len(g.items) || len(g.items) > 0 && !g.items[len(g.items)-1].done {
		return fmt.Errorf("want item %d, and the one before it closed", len(g.items))
	}
	g.items = append(g.items, i)
	return nil
}

// open is the item that a frame belongs to, nil for none.
func (g *responses) open(e responsesEvent) *responsesItem {
	if e.Index < 0 || e.Index >= len(g.items) || g.items[e.Index].done {
		return nil
	}
	return g.items[e.Index]
}

func (g *responses) piece(a *Answer, e responsesEvent) error {
	i := g.open(e)
	if i == nil || e.ItemID != i.id {
		return errors.New("of no open item")
	}
	i.said += e.Delta
	switch e.Type {
	case "response.output_text.delta":
		a.Text += e.Delta
	case "response.reasoning_text.delta", "response.reasoning_summary_text.delta":
		a.Reasoning += e.Delta
	case "response.function_call_arguments.delta", "response.custom_tool_call_input.delta":
		a.add(i.call, e.Delta)
	default:
		if e.Delta != "" {
			return errors.New("unknown event")
		}
	}
	return nil
}

func (g *responses) close(e responsesEvent) error {
	i := g.open(e)
	switch {
	case i == nil || e.Item.ID != i.id || e.Item.Type != i.kind:
		return errors.New("of no open item")
	case e.Item.said() != i.said:
		return fmt.Errorf("the item is not what its pieces say: %q", i.said)
	}
	i.done = true
	return nil
}

func (g *responses) end(a *Answer, e responsesEvent) error {
	reason := "stop"
	if len(a.Calls) > 0 {
		reason = "tool_calls"
	}
	if e.Response.Status == "incomplete" {
		reason = e.Response.Details.Reason
	}
	var err error
	if a.Stop, err = stop(reason); err != nil {
		return err
	}
	if e.Type != "response."+e.Response.Status || len(e.Response.Output) != len(g.items) {
		return fmt.Errorf("want the status of the event, and %d items", len(g.items))
	}
	for n, raw := range e.Response.Output {
		var b responsesBody
		switch err := json.Unmarshal(raw, &b); {
		case err != nil:
			return err
		case !g.items[n].done || b.said() != g.items[n].said:
			return fmt.Errorf("item %d is open, or not what its pieces say", n)
		}
	}
	return a.sound()
}
