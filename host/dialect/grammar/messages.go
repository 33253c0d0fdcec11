package grammar

import (
	"errors"

	"github.com/tidwall/gjson"
)

// messages is the grammar of the Messages API.
type messages struct {
	blocks   numbered
	started  bool
	finished bool // a stop_reason was given
}

var (
	errStart  = errors.New("a second start, or something before the first")
	errName   = errors.New("the event's name is not its type")
	errReason = errors.New("an end without a reason")
	errLate   = errors.New("content after the reason of the end")
)

func (m *messages) frame(event string, data []byte) (ending, error) {
	kind := gjson.GetBytes(data, "type").Str
	if event != kind {
		return open, errName
	}
	switch kind {
	case "ping":
		return open, nil
	case "error":
		return failed, nil
	case "message_start":
		if m.started {
			return open, errStart
		}
		m.started = true
		return open, nil
	}
	if !m.started {
		return open, errStart
	}
	n := index(gjson.GetBytes(data, "index"))
	switch kind {
	case "content_block_start":
		if m.finished {
			return open, errLate
		}
		return open, m.blocks.begin(n)
	case "content_block_delta":
		return open, m.blocks.has(n)
	case "content_block_stop":
		return open, m.blocks.stop(n)
	case "message_delta":
		if gjson.GetBytes(data, "delta.stop_reason").Str != "" {
			m.finished = true
			return open, m.blocks.none()
		}
	case "message_stop":
		if !m.finished {
			return open, errReason
		}
		return closed, nil
	}
	return open, nil
}
