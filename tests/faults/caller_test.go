package faults

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// reply is what a caller got.
type reply struct {
	id     string // of the request
	status int
	header http.Header
	body   string // of an answer that is no stream
	took   time.Duration
	err    error // how the connection broke off

	text    string
	model   string
	finish  string
	usage   int // tokens of the answer
	done    bool
	problem string // of the error event
}

// hangs is longer than any call of a scenario takes.
const hangs = 90 * time.Second

// body is a streamed request of the chat dialect.
func body(route string) string {
	return fmt.Sprintf(`{"model":%q,"stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"go"}]}`, route)
}

// ask makes a streamed call.
func (s *scene) ask(route string) reply {
	s.t.Helper()
	return s.askWith(s.t.Context(), body(route))
}

// askWith makes a call.
func (s *scene) askWith(ctx context.Context, body string) (r reply) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(ctx, hangs)
	defer cancel()
	began := time.Now()
	defer func() {
		r.took = time.Since(began)
		if errors.Is(r.err, context.DeadlineExceeded) {
			s.t.Errorf("a call hung: %+v", r)
		}
	}()
	var resp *http.Response
	if resp, r.err = s.post(ctx, body); r.err != nil {
		return r
	}
	defer resp.Body.Close()
	r.status, r.header, r.id = resp.StatusCode, resp.Header, resp.Header.Get("X-Spillway-Request-Id")
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		var b []byte
		b, r.err = io.ReadAll(resp.Body)
		r.body = string(b)
		return r
	}
	r.read(resp.Body)
	return r
}

// post sends a request and returns when the answer has begun.
func (s *scene) post(ctx context.Context, body string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/v1/chat/completions", strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	return http.DefaultClient.Do(req)
}

// read takes in a stream.
func (r *reply) read(body io.Reader) {
	lines := bufio.NewScanner(body)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		if data == "[DONE]" {
			r.done = true
			continue
		}
		var chunk struct {
			Model   string
			Choices []struct {
				Delta  struct{ Content string }
				Finish string `json:"finish_reason"`
			}
			Usage struct {
				Output int `json:"completion_tokens"`
			}
			Error json.RawMessage
		}
		if r.err = json.Unmarshal([]byte(data), &chunk); r.err != nil {
			return
		}
		r.model, r.usage, r.problem = chunk.Model, max(r.usage, chunk.Usage.Output), string(chunk.Error)
		for _, c := range chunk.Choices {
			r.text += c.Delta.Content
			r.finish += c.Finish
		}
	}
	r.err = lines.Err()
}

// whole is the answer of one vendor.
func whole(vendor string) string {
	words := make([]string, answerTokens)
	for i := range words {
		words[i] = fmt.Sprintf("w%d@%s", i, vendor)
	}
	return strings.Join(words, " ")
}

// from is the vendor whose whole answer r is, with its end and its usage; else it
// says what r is.
func (r reply) from() string {
	_, vendor, _ := strings.Cut(r.text, "@")
	vendor, _, _ = strings.Cut(vendor, " ")
	if r.err == nil && r.status == http.StatusOK && r.text == whole(vendor) && r.finish == "stop" && r.done && r.usage == answerTokens {
		return vendor
	}
	return fmt.Sprintf("no whole answer: %+v", r)
}

// served checks that r is the whole answer of a vendor.
func (s *scene) served(r reply, vendor string) {
	s.t.Helper()
	if got := r.from(); got != vendor {
		s.t.Errorf("answer: got %s, want that of %s", got, vendor)
	}
}

// refused checks that r is an error of the chat dialect with a status and a
// message that begins so.
func (s *scene) refused(r reply, status int, message string) {
	s.t.Helper()
	var e struct{ Error struct{ Message string } }
	if err := json.Unmarshal([]byte(r.body), &e); err != nil || r.status != status || !strings.HasPrefix(e.Error.Message, message) {
		s.t.Errorf("answer: got %+v, want status %d and the message %q", r, status, message)
	}
}

// many makes calls at once and returns who answered how many.
func (s *scene) many(n int, ask func() reply) (from map[string]int, all []reply) {
	s.t.Helper()
	all = make([]reply, n)
	var wg sync.WaitGroup
	for i := range all {
		wg.Go(func() { all[i] = ask() })
	}
	wg.Wait()
	from = map[string]int{}
	for _, r := range all {
		from[r.from()]++
	}
	return from, all
}
