// Package caller is an agent in front of a gateway, for black-box tests: it asks
// in one of three dialects and reads the answer as strictly as the strictest agent
// does.
//
// A test makes the [Body] of a question and calls [Ask], or [Post] and [Read] where
// it wants to do something between an answer's begin and its end. An [Answer] says
// what came and, in Broken, the first rule of the dialect that it breaks: one
// start, blocks and items numbered in turn and closed, one end and nothing behind
// it. An answer ends with the dialect's terminal over a connection that ends well,
// or with its error event over one that breaks off, since some agents look at
// nothing else.
//
// It shares no code with the host's readers and writers, so that a test is not
// blind to the bugs of what it tests, and takes any vendor's frames, not only
// those that the host writes.
package caller

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// Dialect is one of the three in which agents speak.
type Dialect string

// The dialects.
const (
	Chat      Dialect = "chat"      // Chat Completions
	Responses Dialect = "responses" // OpenAI Responses
	Messages  Dialect = "messages"  // Anthropic Messages
)

// Dialects returns all of them.
func Dialects() []Dialect { return []Dialect{Chat, Responses, Messages} }

// path is where a gateway takes the dialect's questions.
func (d Dialect) path() string {
	if d == Chat {
		return "/v1/chat/completions"
	}
	return "/v1/" + string(d)
}

// grammar reads the frames of one answer.
func (d Dialect) grammar() grammar {
	switch d {
	case Chat:
		return &chat{}
	case Responses:
		return &responses{}
	case Messages:
		return &messages{}
	}
	panic("caller: no dialect " + string(d))
}

// Answer is what came back.
type Answer struct {
	ID         string // of the request
	Status     int    // 0 if none came
	Header     http.Header
	Begin, End time.Time
	Err        error // how the connection broke off

	Body    string // of an answer that is no stream
	Problem string // the message of the error, in Body or in the error event; "" if it is not in the dialect's form

	Text, Reasoning string
	Calls           []Call
	Model           string
	Stop            string // stop, tool_calls, length or refusal, "" before the end
	Output          int    // tokens used
	Done            bool   // the terminal came
	Broken          error  // the first rule of the dialect that the answer breaks
}

// Call is a tool call.
type Call struct{ Name, Arguments string }

// Took is how long the call lasted.
func (a Answer) Took() time.Duration { return a.End.Sub(a.Begin) }

// Whole reports whether the answer came to its end as it should.
func (a Answer) Whole() bool {
	return a.Status == http.StatusOK && a.Done && a.Err == nil && a.Broken == nil
}

// Cut reports whether the answer began and then, as it should, told of its failure.
func (a Answer) Cut() bool {
	return a.Status == http.StatusOK && !a.Done && a.Err != nil && a.Problem != "" && a.Broken == nil
}

// Refused reports whether the answer is an error in the form of its dialect.
func (a Answer) Refused() bool {
	return a.Status >= 400 && a.Problem != "" && a.Err == nil
}

// Ask asks and reads the answer to its end.
func Ask(ctx context.Context, client *http.Client, url string, d Dialect, body string, header ...string) Answer {
	begin := time.Now()
	resp, err := Post(ctx, client, url, d, body, header...)
	if err != nil {
		return Answer{Begin: begin, End: time.Now(), Err: err}
	}
	return Read(d, resp, begin)
}

// Post asks and returns when the answer has begun. header has names and values in
// turn.
func Post(ctx context.Context, client *http.Client, url string, d Dialect, body string, header ...string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+d.path(), strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	return client.Do(req)
}

// maxBody bounds what is read of an answer that is no stream.
const maxBody = 1 << 20

// Read reads an answer to its end. begin is when it was asked for.
func Read(d Dialect, resp *http.Response, begin time.Time) Answer {
	defer resp.Body.Close()
	a := Answer{ID: resp.Header.Get("X-Spillway-Request-Id"), Status: resp.StatusCode, Header: resp.Header, Begin: begin}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		a.stream(d.grammar(), resp.Body)
	} else {
		var b []byte
		b, a.Err = io.ReadAll(io.LimitReader(resp.Body, maxBody))
		a.Body = string(b)
		if a.Status >= 400 {
			a.Problem = d.problem(b)
		}
	}
	a.End = time.Now()
	return a
}

// errEnd is the rule about what stands behind the end.
var errEnd = errors.New("a frame behind the end")

// stream reads a stream and judges how it ends.
func (a *Answer) stream(g grammar, body io.Reader) {
	n := 0
	a.Err = frames(body, func(f frame) {
		n++
		err := errEnd
		if !a.Done && a.Problem == "" {
			err = g.frame(a, f)
		}
		if err != nil && a.Broken == nil {
			a.Broken = fmt.Errorf("frame %d: %w: %s %s", n, err, f.event, f.data)
		}
	})
	switch {
	case a.Broken != nil:
	case a.Problem != "" && a.Err == nil:
		a.Broken = errors.New("a clean end behind an error event")
	case a.Done && a.Err != nil:
		a.Broken = fmt.Errorf("behind the terminal: %w", a.Err)
	case !a.Done && a.Problem == "" && !errors.Is(a.Err, context.Canceled):
		a.Broken = errors.New("neither a terminal nor an error event")
	}
}
