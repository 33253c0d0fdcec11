package grammar

import (
	"errors"

	"github.com/tidwall/gjson"
)

// responses is the grammar of OpenAI's Responses.
type responses struct {
	started bool
	number  int // of the last frame that had one
	items   numbered
}

var (
	errSequence = errors.New("a sequence_number is not above the last")
	errDeaf     = errors.New("an error event, which agents pass over")
)

func (r *responses) frame(event string, data []byte) (ending, error) {
	kind := gjson.GetBytes(data, "type").Str
	if event != "" && event != kind {
		return open, errName
	}
	if n := gjson.GetBytes(data, "sequence_number"); n.Exists() {
		if index(n) <= r.number {
			return open, errSequence
		}
		r.number = index(n)
	}
	switch kind {
	case "error":
		return open, errDeaf
	case "response.failed":
		return failed, nil
	case "response.created":
		if r.started {
			return open, errStart
		}
		r.started = true
		return open, nil
	}
	if !r.started {
		return open, errStart
	}
	n := index(gjson.GetBytes(data, "output_index"))
	switch kind {
	case "response.output_item.added":
		return open, r.items.begin(n)
	case "response.output_item.done":
		return open, r.items.stop(n)
	case "response.completed":
		return closed, r.items.none()
	case "response.incomplete":
		return closed, nil // items may be as incomplete
	}
	return open, nil
}
