package dialecttest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// responses is the grammar of OpenAI's Responses.
type responses struct {
	id     string // of the answer
	number int    // of the last frame
	items  []*responsesItem
}

// responsesItem is an item whose start was seen.
type responsesItem struct {
	id, kind string
	part     bool // one is open
	pieces   strings.Builder
	whole    string // what its done event says
	said     bool   // that event came
	done     json.RawMessage
}

type responsesFrame struct {
	Type     string `json:"type"`
	Number   *int   `json:"sequence_number"`
	Response *struct {
		ID     string            `json:"id"`
		Object string            `json:"object"`
		Status string            `json:"status"`
		Model  string            `json:"model"`
		Output []json.RawMessage `json:"output"`
		Usage  *struct {
			usage
			Total *int `json:"total_tokens"`
		} `json:"usage"`
		Error *struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
		Details *struct {
			Reason string `json:"reason"`
		} `json:"incomplete_details"`
	} `json:"response"`
	Index   *int            `json:"output_index"`
	ItemID  string          `json:"item_id"`
	Content *int            `json:"content_index"`
	Summary *int            `json:"summary_index"`
	Item    json.RawMessage `json:"item"`
	Part    *struct {
		Type string  `json:"type"`
		Text *string `json:"text"`
	} `json:"part"`
	Delta     *string `json:"delta"`
	Text      *string `json:"text"`
	Arguments *string `json:"arguments"`
	Input     *string `json:"input"`
}

func (r *responses) frame(event string, data []byte) (end, error) {
	var f responsesFrame
	if err := json.Unmarshal(data, &f); err != nil {
		return open, err
	}
	switch {
	case event != f.Type:
		return open, fmt.Errorf("event %q, type %q", event, f.Type)
	case f.Type == "error":
		return open, errors.New("agents pass over an error event: want response.failed")
	case f.Type == "keepalive" && f.Number == nil && r.started():
		return open, nil // between a vendor's frames there is no number left
	case f.Number == nil || r.started() && *f.Number <= r.number:
		return open, errors.New("want a sequence_number above the last")
	}
	r.number = *f.Number
	switch f.Type {
	case "response.created":
		return open, r.start(&f)
	case "response.failed":
		if a := f.Response; a == nil || a.ID == "" || a.Status != "failed" || a.Error == nil || a.Error.Code == "" || a.Error.Message == "" {
			return open, errors.New("incomplete failure")
		}
		return failed, nil
	}
	if !r.started() {
		return open, errors.New("before response.created")
	}
	switch f.Type {
	case "keepalive":
		return open, nil
	case "response.in_progress":
		if f.Response == nil || f.Response.ID != r.id {
			return open, errors.New("another answer")
		}
		return open, nil
	case "response.completed", "response.incomplete":
		return closed, r.finish(&f)
	case "response.output_item.added":
		return open, r.added(&f)
	}
	return open, r.within(&f)
}

func (r *responses) started() bool { return r.id != "" }

func (r *responses) start(f *responsesFrame) error {
	a := f.Response
	switch {
	case r.started():
		return errors.New("second response.created")
	case a == nil || !strings.HasPrefix(a.ID, "resp_") || a.Object != "response" || a.Status != "in_progress" || a.Model == "":
		return errors.New("incomplete response")
	case a.Output == nil || len(a.Output) > 0:
		return errors.New("want an empty output")
	}
	r.id = a.ID
	return nil
}

// responsesBody is an item as it stands in the frames that hold one.
type responsesBody struct {
	ID        string                           `json:"id"`
	Type      string                           `json:"type"`
	Status    string                           `json:"status"`
	CallID    string                           `json:"call_id"`
	Name      string                           `json:"name"`
	Arguments *string                          `json:"arguments"`
	Input     *string                          `json:"input"`
	Content   []struct{ Text, Refusal string } `json:"content"`
	Summary   []struct{ Text string }          `json:"summary"`
}

// said is what an item says, in the words of the pieces before it.
func (b *responsesBody) said() string {
	var s strings.Builder
	for _, c := range b.Content {
		s.WriteString(c.Text + c.Refusal)
	}
	for _, c := range b.Summary {
		s.WriteString(c.Text)
	}
	for _, p := range []*string{b.Arguments, b.Input} {
		if p != nil {
			s.WriteString(*p)
		}
	}
	return s.String()
}

// isCall reports whether the item is a call that the caller has to make.
func (b *responsesBody) isCall() bool {
	return b.Type == "function_call" || b.Type == "custom_tool_call"
}

func (r *responses) added(f *responsesFrame) error {
	var b responsesBody
	if err := json.Unmarshal(f.Item, &b); err != nil {
		return fmt.Errorf("item: %w", err)
	}
	switch {
	case f.Index == nil || *f.Index != len(r.items):
		return fmt.Errorf("want output_index %d", len(r.items))
	case b.ID == "" || b.Type == "":
		return errors.New("item without id or type")
	case b.isCall() && (b.CallID == "" || b.Name == ""):
		return errors.New("call without call_id or name")
	case b.said() != "":
		return errors.New("an item begins empty")
	}
	r.items = append(r.items, &responsesItem{id: b.ID, kind: b.Type})
	return nil
}

// within takes a frame that belongs to an open item.
func (r *responses) within(f *responsesFrame) error {
	if f.Index == nil || *f.Index < 0 || *f.Index >= len(r.items) || r.items[*f.Index].done != nil {
		return errors.New("of no open item")
	}
	i := r.items[*f.Index]
	if f.Type == "response.output_item.done" {
		return i.end(f)
	}
	if f.ItemID != i.id {
		return fmt.Errorf("want item_id %q", i.id)
	}
	call := i.kind == "function_call" || i.kind == "custom_tool_call"
	if number := map[string]*int{"message": f.Content, "reasoning": f.Summary}[i.kind]; !call && number == nil {
		return errors.New("the part has no number")
	}
	name, _ := strings.CutPrefix(f.Type, "response.")
	stem, step, _ := strings.Cut(name, ".")
	if want := map[string]string{
		"content_part": "message", "output_text": "message", "refusal": "message",
		"reasoning_summary_part": "reasoning", "reasoning_summary_text": "reasoning",
		"function_call_arguments": "function_call", "custom_tool_call_input": "custom_tool_call",
	}[stem]; want != i.kind {
		return fmt.Errorf("%s in an item of type %s", f.Type, i.kind)
	}
	isPart := strings.HasSuffix(stem, "_part")
	switch {
	case isPart && (f.Part == nil || f.Part.Text == nil || i.part != (step == "done")):
		return errors.New("a part begins or ends out of place, or is empty")
	case isPart && step == "added":
		i.part = true
	case isPart && (!i.said || *f.Part.Text != i.whole):
		return errors.New("the part is not what its pieces say")
	case isPart:
		i.part = false
	case !call && !i.part:
		return errors.New("a piece of no open part")
	case step == "delta" && f.Delta != nil && !i.said:
		i.pieces.WriteString(*f.Delta)
	case step == "done" && !i.said:
		return i.saidAll(f)
	default:
		return errors.New("unknown, out of place, or without its text")
	}
	return nil
}

// saidAll takes the event behind the pieces.
func (i *responsesItem) saidAll(f *responsesFrame) error {
	whole := f.Text
	switch i.kind {
	case "function_call":
		whole = f.Arguments
	case "custom_tool_call":
		whole = f.Input
	}
	if whole == nil || *whole != i.pieces.String() {
		return fmt.Errorf("want the pieces joined: %q", i.pieces.String())
	}
	i.said, i.whole = true, *whole
	return nil
}

func (i *responsesItem) end(f *responsesFrame) error {
	var b responsesBody
	if err := json.Unmarshal(f.Item, &b); err != nil {
		return fmt.Errorf("item: %w", err)
	}
	switch {
	case b.ID != i.id || b.Type != i.kind:
		return errors.New("the item has become another")
	case i.part:
		return errors.New("its part is still open")
	case !i.said || b.said() != i.whole:
		return errors.New("the item is not what its pieces say")
	case b.Type == "function_call" && b.Status != "incomplete" && !isObject(i.whole):
		return fmt.Errorf("arguments are no object: %q", i.whole)
	}
	i.done = f.Item
	return nil
}

func (r *responses) finish(f *responsesFrame) error {
	a := f.Response
	switch {
	case a == nil || a.ID != r.id || "response."+a.Status != f.Type || a.Error != nil:
		return errors.New("not this answer, or not its end")
	case a.Status == "incomplete" && (a.Details == nil || a.Details.Reason == ""):
		return errors.New("incomplete without a reason")
	case a.Usage == nil || a.Usage.Input == nil || a.Usage.Output == nil || a.Usage.Total == nil:
		return errors.New("no usage")
	case len(a.Output) != len(r.items):
		return fmt.Errorf("want %d items in the output", len(r.items))
	}
	for n, i := range r.items {
		if i.done == nil {
			return fmt.Errorf("item %d is still open", n)
		}
		if !bytes.Equal(i.done, a.Output[n]) {
			return fmt.Errorf("item %d differs in the output", n)
		}
	}
	return nil
}
