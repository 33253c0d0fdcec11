package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"spillway/tests/internal/caller"
)

// wish is what a caller is out for.
type wish uint8

const (
	anAnswer wish = iota
	itsFault      // to be refused by the first vendor that is asked
	toLeave       // before the vendor has said anything
)

// call is one request of a caller, and all that came of it.
type call struct {
	n       int64
	dialect caller.Dialect
	stream  bool
	head    string // the model that is asked for
	words   int
	wants   wish
	stay    time.Duration // of who leaves

	answer caller.Answer
	text   string // of the answer
	stop   string

	mu   sync.Mutex
	hits []*hit
	over bool // the caller has what it will get
	late int  // requests that reached a vendor after that
}

// hit is a new request of the call at a vendor.
func (c *call) hit(vendor string) *hit {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := &hit{call: c, n: len(c.hits), vendor: vendor, begin: time.Now()}
	c.hits = append(c.hits, h)
	if c.over {
		c.late++
	}
	return h
}

// settled reports whether no vendor is busy with the call any more.
func (c *call) settled() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, h := range c.hits {
		if h.end.IsZero() {
			return false
		}
	}
	return true
}

// mix says which calls are made. All of a call follows from the seed and its number.
type mix struct {
	seed     uint64
	streamed float64 // share of streams
}

func (m mix) call(n int64) *call {
	c := &call{n: n}
	dice := func(what int) float64 { return c.dice(m.seed, -1, what) }
	c.dialect = caller.Dialects()[int(dice(0)*3)]
	c.stream = dice(1) < m.streamed
	c.head = []string{"alpha/m", "alpha/m", "beta/m", "gamma/m", "haven/m", "auto"}[int(dice(2)*6)]
	c.words = 2 + int(dice(3)*10)
	switch d := dice(4); {
	case d < 0.01:
		c.wants = itsFault
	case d < 0.02:
		c.wants, c.stay = toLeave, time.Duration(5+dice(5)*60)*time.Millisecond
	}
	return c
}

// body is the call as a request. Prompts are as short as can be: it is not the
// reading of them that is tested.
func (c *call) body() string {
	prompt := fmt.Sprintf("%s%d.", marker, c.n)
	switch {
	case c.dialect == caller.Responses:
		return fmt.Sprintf(`{"model":%q,"stream":%t,"input":%q}`, c.head, c.stream, prompt)
	case c.dialect == caller.Messages:
		return fmt.Sprintf(`{"model":%q,"stream":%t,"max_tokens":100,"messages":[{"role":"user","content":%q}]}`, c.head, c.stream, prompt)
	case c.stream:
		return fmt.Sprintf(`{"model":%q,"stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":%q}]}`, c.head, prompt)
	}
	return fmt.Sprintf(`{"model":%q,"messages":[{"role":"user","content":%q}]}`, c.head, prompt)
}

// make makes the call and reads what comes. hang is when it is given up.
func (c *call) make(client *http.Client, url string, hang time.Duration) {
	limit := hang
	if c.wants == toLeave {
		limit = c.stay
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	c.answer = caller.Ask(ctx, client, url, c.dialect, c.body())
	c.text, c.stop = c.answer.Text, c.answer.Stop
	if c.answer.Status == http.StatusOK && c.answer.Err == nil && c.answer.Body != "" {
		c.text, c.stop = wholeText(c.dialect, c.answer.Body)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
}

// timedOut reports whether the call was given up.
func (c *call) timedOut() bool { return errors.Is(c.answer.Err, context.DeadlineExceeded) }

// wholeText reads an answer that is no stream: its text and why it ended, in the
// words of the dialect.
func wholeText(d caller.Dialect, body string) (text, stop string) {
	type parts []struct{ Type, Text string }
	var in struct {
		Choices []struct {
			Message struct{ Content string }
			Finish  string `json:"finish_reason"`
		}
		Content parts
		Stop    string `json:"stop_reason"`
		Status  string
		Output  []struct {
			Type    string
			Content parts
		}
	}
	if err := json.Unmarshal([]byte(body), &in); err != nil {
		return "", "no JSON"
	}
	var b strings.Builder
	say := func(p parts) {
		for _, part := range p {
			b.WriteString(part.Text)
		}
	}
	switch d {
	case caller.Chat:
		if len(in.Choices) == 1 {
			return in.Choices[0].Message.Content, in.Choices[0].Finish
		}
	case caller.Messages:
		say(in.Content)
		if stop = in.Stop; stop == "end_turn" {
			stop = "stop"
		}
	case caller.Responses:
		for _, item := range in.Output {
			say(item.Content)
		}
		if stop = in.Status; stop == "completed" {
			stop = "stop"
		}
	}
	return b.String(), stop
}
