package dialect

import (
	"cmp"
	"strconv"
	"strings"

	"spillway/sdk"
)

// responsesForm is how a block looks on the wire: the item, its part and the
// events of its pieces.
type responsesForm struct {
	item   string // type
	prefix string // of its id
	part   string // event of its one part, "" if it has none
	index  string // member that numbers the part
	pieces string // event of the pieces
	whole  string // member of the event behind them that has all of them
}

func responsesFormOf(k sdk.BlockKind, plain bool) responsesForm {
	switch {
	case k == sdk.BlockReasoning:
		return responsesForm{"reasoning", madePrefix, "response.reasoning_summary_part", "summary_index", "response.reasoning_summary_text", "text"}
	case k == sdk.BlockToolCall && plain:
		return responsesForm{"custom_tool_call", "ctc_", "", "", "response.custom_tool_call_input", "input"}
	case k == sdk.BlockToolCall:
		return responsesForm{"function_call", "fc_", "", "", "response.function_call_arguments", "arguments"}
	}
	return responsesForm{"message", "msg_", "response.content_part", "content_index", "response.output_text", "text"}
}

// id is the id of item n of an answer. Clients send it back, and the vendor
// takes it by its prefix.
func (f responsesForm) id(answer string, n int) string {
	return f.prefix + strings.TrimPrefix(answer, "resp_") + "_" + strconv.Itoa(n)
}

// said is the text of an item from that of its block.
func (f responsesForm) said(text string) string {
	switch f.item {
	case "function_call":
		return cmp.Or(text, "{}")
	case "custom_tool_call":
		return freeformText(text)
	}
	return text
}

func (f responsesForm) partOf(text string) responsesPart {
	if f.item == "reasoning" {
		return responsesPart{Type: "summary_text", Text: &text}
	}
	return responsesPart{Type: "output_text", Text: &text, Annotations: []any{}}
}

// begun is the item of a block that has just begun.
func (f responsesForm) begun(id string, b answerBlock) *responsesItem {
	i := &responsesItem{ID: id, Type: f.item, Status: "in_progress"}
	none := []responsesPart{}
	switch f.item {
	case "message":
		i.Role, i.Content = "assistant", none
	case "reasoning":
		i.Status, i.Summary = "", none
	case "custom_tool_call":
		i.CallID, i.Name, i.Input = b.id, b.name, new("")
	default:
		i.CallID, i.Name, i.Arguments = b.id, b.name, new("")
	}
	return i
}

// done is the item of a block that is complete, whose text is what the item
// says. A call that was cut must not be made.
func (f responsesForm) done(id string, b answerBlock) *responsesItem {
	i := f.begun(id, b)
	switch f.item {
	case "message":
		i.Status, i.Content = "completed", []responsesPart{f.partOf(b.text)}
	case "reasoning":
		i.Summary = []responsesPart{f.partOf(b.text)}
	case "custom_tool_call":
		i.Status, i.Input = "completed", &b.text
	default:
		i.Status, i.Arguments = "completed", &b.text
		if objectOf(b.text) == nil {
			i.Status = "incomplete"
		}
	}
	return i
}
