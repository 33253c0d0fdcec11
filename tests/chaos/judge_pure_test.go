package chaos

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"spillway/tests/internal/caller"
)

// TestJudge: each verdict, by what a caller got and what its vendors saw.
func TestJudge(t *testing.T) {
	sound := hit{vendor: "alpha", whole: true, said: 3}
	broke := hit{vendor: "alpha", fault: "cut", said: 2}
	wrong := hit{vendor: "alpha", fault: theirs}
	all := caller.Answer{Status: http.StatusOK, Done: true, Stop: "stop", Header: http.Header{"X-Spillway-Route": {"alpha/m"}}}
	part := caller.Answer{Status: http.StatusOK, Err: errors.New("unexpected EOF"), Problem: "broken"}
	refused := caller.Answer{Status: http.StatusServiceUnavailable, Problem: "no"}
	for _, tt := range []struct {
		name   string
		wants  wish
		answer caller.Answer
		text   string
		stop   string
		hits   []hit
		late   int
		want   verdict
	}{
		{name: "whole", answer: all, text: text(3, "alpha", 9), stop: "stop", hits: []hit{sound}, want: fine},
		{name: "whole after a failure", answer: all, text: text(3, "alpha", 9), stop: "stop", hits: []hit{{vendor: "beta", fault: "500"}, sound}, want: fine},
		{name: "a word less", answer: all, text: text(2, "alpha", 9), stop: "stop", hits: []hit{sound}, want: truncated},
		{name: "nothing", answer: all, stop: "stop", hits: []hit{sound}, want: truncated},
		{name: "of a vendor that broke", answer: all, text: text(3, "alpha", 9), stop: "stop", hits: []hit{broke}, want: truncated},
		{name: "a word more", answer: all, text: text(4, "alpha", 9), stop: "stop", hits: []hit{sound}, want: doubled},
		{name: "two vendors", answer: all, text: text(2, "alpha", 9) + " " + word(2, "beta", 9), stop: "stop", hits: []hit{sound}, want: doubled},
		{name: "twice", answer: all, text: text(3, "alpha", 9) + " " + text(3, "alpha", 9), stop: "stop", hits: []hit{sound}, want: corrupt},
		{name: "of another call", answer: all, text: text(3, "alpha", 8), stop: "stop", hits: []hit{sound}, want: corrupt},
		{name: "a vendor after the one that served", answer: all, text: text(3, "alpha", 9), stop: "stop", hits: []hit{sound, {vendor: "beta"}}, want: doubled},
		{name: "a vendor after the end", answer: all, text: text(3, "alpha", 9), stop: "stop", hits: []hit{sound}, late: 1, want: doubled},
		{name: "no reason for the end", answer: all, text: text(3, "alpha", 9), hits: []hit{sound}, want: corrupt},
		{name: "broken by its vendor", answer: part, text: text(2, "alpha", 9), hits: []hit{broke}, want: fine},
		{name: "broken, though the vendor was sound", answer: part, text: text(2, "alpha", 9), hits: []hit{sound}, want: lost},
		{name: "broken, and another one asked", answer: part, text: text(2, "alpha", 9), hits: []hit{broke, {vendor: "beta"}}, want: doubled},
		{name: "more words than were said", answer: part, text: text(3, "alpha", 9), hits: []hit{broke}, want: corrupt},
		{name: "an error before any word", answer: part, hits: []hit{broke}, want: refusal},
		{name: "an error", answer: refused, want: refusal},
		{name: "no error of the dialect", answer: caller.Answer{Status: http.StatusBadGateway, Body: "bad"}, want: lost},
		{name: "no answer", answer: caller.Answer{Err: errors.New("connection refused")}, want: lost},
		{name: "no end", answer: caller.Answer{Err: context.DeadlineExceeded}, want: hung},
		{name: "a rule is broken", answer: caller.Answer{Status: http.StatusOK, Broken: errors.New("two starts")}, want: corrupt},
		{name: "left", wants: toLeave, answer: caller.Answer{Err: context.DeadlineExceeded}, want: fine},
		{name: "its own fault", wants: itsFault, answer: caller.Answer{Status: http.StatusBadRequest, Problem: "messages: call 9 is wrong"}, hits: []hit{wrong}, want: fine},
		{name: "its own fault, told by two", wants: itsFault, answer: caller.Answer{Status: http.StatusBadRequest, Problem: "messages: call 9 is wrong"}, hits: []hit{wrong, wrong}, want: doubled},
		{name: "its own fault in our words", wants: itsFault, answer: caller.Answer{Status: http.StatusBadRequest, Problem: "bad request"}, hits: []hit{wrong}, want: corrupt},
		{name: "its own fault behind another's", wants: itsFault, answer: refused, hits: []hit{wrong}, want: refusal},
		{name: "its own fault is answered", wants: itsFault, answer: all, text: text(3, "alpha", 9), stop: "stop", hits: []hit{sound}, want: corrupt},
	} {
		c := &call{n: 9, words: 3, wants: tt.wants, answer: tt.answer, text: tt.text, stop: tt.stop, late: tt.late}
		for _, h := range tt.hits {
			h.call, h.end = c, time.Now()
			c.hits = append(c.hits, &h)
		}
		if got, why := c.judge(); got != tt.want {
			t.Errorf("%s: got %q (%s), want %q", tt.name, got, why, tt.want)
		}
	}
}
