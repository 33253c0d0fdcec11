package grammar

import (
	"errors"

	"github.com/tidwall/gjson"
)

// chat is the grammar of Chat Completions.
type chat struct {
	id       string
	choices  map[int]*choice
	finished bool // of a choice a reason was given
}

// choice is one of the answers in one.
type choice struct {
	finished bool
	call     int // number of the newest tool call
}

// maxChoices is what the API allows.
const maxChoices = 128

var (
	errID      = errors.New("the answer's id changes")
	errChoices = errors.New("too many choices")
	errCall    = errors.New("a tool call's number is missing, or not above the last")
)

func (c *chat) frame(_ string, data []byte) (ending, error) {
	if string(data) == sentinel {
		if !c.finished {
			return open, errReason
		}
		return closed, nil
	}
	chunk := gjson.ParseBytes(data)
	if e := chunk.Get("error"); e.IsObject() && e.Get("message").Exists() {
		return failed, nil
	}
	if id := chunk.Get("id").Str; id != "" {
		if c.id != "" && c.id != id {
			return open, errID
		}
		c.id = id
	}
	var err error
	chunk.Get("choices").ForEach(func(_, v gjson.Result) bool {
		err = c.choice(v)
		return err == nil
	})
	return open, err
}

func (c *chat) choice(v gjson.Result) error {
	n := int(v.Get("index").Int())
	k := c.choices[n]
	if k == nil {
		if len(c.choices) == maxChoices {
			return errChoices
		}
		if c.choices == nil {
			c.choices = map[int]*choice{}
		}
		k = &choice{call: -1}
		c.choices[n] = k
	}
	delta := v.Get("delta")
	calls := delta.Get("tool_calls")
	if k.finished && (delta.Get("content").Str != "" || len(calls.Array()) > 0) {
		return errLate
	}
	if v.Get("finish_reason").Str != "" {
		k.finished, c.finished = true, true
	}
	var err error
	calls.ForEach(func(_, call gjson.Result) bool {
		switch at := index(call.Get("index")); {
		case at < 0 || at < k.call && call.Get("function.name").Str != "":
			err = errCall
		default:
			k.call = max(k.call, at)
		}
		return err == nil
	})
	return err
}
