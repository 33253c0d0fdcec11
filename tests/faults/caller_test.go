package faults

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"spillway/tests/internal/caller"
)

// reply is what a caller got.
type reply struct{ caller.Answer }

// hangs is longer than any call of a scenario takes.
const hangs = 90 * time.Second

// question is a streamed request.
func (s *scene) question(route string) string {
	return s.speaks.Body(caller.Question{Model: route})
}

// ask makes a streamed call.
func (s *scene) ask(route string) reply {
	s.t.Helper()
	return s.askWith(s.t.Context(), s.question(route))
}

// askWith makes a call. No answer may hang or break a rule of its dialect.
func (s *scene) askWith(ctx context.Context, body string, header ...string) reply {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(ctx, hangs)
	defer cancel()
	r := reply{caller.Ask(ctx, http.DefaultClient, s.URL, s.speaks, body, header...)}
	if errors.Is(r.Err, context.DeadlineExceeded) {
		s.t.Errorf("a call hung: %+v", r)
	} else if r.Broken != nil {
		s.t.Errorf("the answer breaks its dialect: %v", r.Broken)
	}
	return r
}

// from is the vendor whose whole answer r is; else it says what r is.
func (r reply) from() string { return r.From(answerTokens) }

// served checks that r is the whole answer of a vendor.
func (s *scene) served(r reply, vendor string) {
	s.t.Helper()
	if got := r.from(); got != vendor {
		s.t.Errorf("answer: got %s, want that of %s", got, vendor)
	}
}

// refused checks that r is an error with a status and a message that begins so.
func (s *scene) refused(r reply, status int, message string) {
	s.t.Helper()
	if r.Err != nil || r.Status != status || !strings.HasPrefix(r.Problem, message) {
		s.t.Errorf("answer: got %+v, want status %d and the message %q", r.Answer, status, message)
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
