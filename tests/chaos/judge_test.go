package chaos

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// verdict is what is wrong with a call.
type verdict string

// The verdicts. The first two are none to complain of.
const (
	fine      verdict = ""
	refusal   verdict = "refusal" // a clean error; the record says whether it had to be
	lost      verdict = "lost"    // neither an answer nor the final error, or one without need
	hung      verdict = "hung"
	doubled   verdict = "doubled"   // two answers in one, or a vendor that acted once too often
	truncated verdict = "truncated" // a part of an answer that looks like all of it
	corrupt   verdict = "corrupt"   // another caller's answer, a broken rule of the dialect, records and state that are wrong
	charged   verdict = "charged"   // a vendor that had not failed
)

// judge says what became of a call whose vendors have all ended.
func (c *call) judge() (verdict, string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := c.answer
	switch {
	case c.wants == toLeave && (c.timedOut() || a.Err != nil && a.Status == 0):
		return fine, ""
	case c.timedOut():
		return hung, "no end"
	case a.Status == 0:
		return lost, fmt.Sprintf("no answer: %v", a.Err)
	case a.Broken != nil:
		return corrupt, a.Broken.Error()
	case a.Refused():
		return c.judgeRefusal()
	case a.Cut() && c.text == "":
		return refusal, "an error as a stream: " + a.Problem
	case a.Cut():
		return c.judgeCut()
	case a.Status != http.StatusOK:
		return lost, fmt.Sprintf("status %d and no error of the dialect: %.200s", a.Status, a.Body)
	case a.Err != nil:
		return lost, fmt.Sprintf("broken off: %v", a.Err)
	}
	return c.judgeWhole()
}

// vendorOf is whose words a text has, "" if they are not those of one answer to the
// call.
func (c *call) vendorOf(said string) (vendor string, words int) {
	first, _, _ := strings.Cut(said, " ")
	_, vendor, _ = strings.Cut(first, "@")
	vendor, _, _ = strings.Cut(vendor, "#")
	words = strings.Count(said, " ") + 1
	if said != text(words, vendor, c.n) {
		return "", words
	}
	return vendor, words
}

func (c *call) judgeWhole() (verdict, string) {
	if c.wants == itsFault {
		return corrupt, "an answer to what every vendor refuses"
	}
	vendor, words := c.vendorOf(c.text)
	served := -1
	for i, h := range c.hits {
		if h.vendor == vendor && h.whole {
			served = i
		}
	}
	switch {
	case c.text == "":
		return truncated, "an empty answer"
	case vendor == "":
		return c.mixed()
	case words < c.words:
		return truncated, fmt.Sprintf("%d words of %d", words, c.words)
	case words > c.words:
		return doubled, fmt.Sprintf("%d words of %d", words, c.words)
	case c.stop != "stop":
		return corrupt, fmt.Sprintf("ended with %q", c.stop)
	case served < 0:
		return truncated, fmt.Sprintf("the answer of %s, which never gave all of it", vendor)
	case served < len(c.hits)-1 || c.late > 0:
		return doubled, fmt.Sprintf("further vendors were asked after %s had served", vendor)
	}
	if route := c.answer.Header.Get("X-Spillway-Route"); !strings.HasPrefix(route, vendor+"/") {
		return corrupt, fmt.Sprintf("route %q, answered by %s", route, vendor)
	}
	return fine, ""
}

// mixed says what a text is that is no vendor's.
func (c *call) mixed() (verdict, string) {
	seen := map[string]bool{}
	for w := range strings.FieldsSeq(c.text) {
		_, from, _ := strings.Cut(w, "@")
		vendor, n, _ := strings.Cut(from, "#")
		if n != fmt.Sprint(c.n) {
			return corrupt, fmt.Sprintf("words of another call: %q", c.text)
		}
		seen[vendor] = true
	}
	if len(seen) > 1 {
		return doubled, fmt.Sprintf("words of several vendors: %q", c.text)
	}
	return corrupt, fmt.Sprintf("words out of turn: %q", c.text)
}

// judgeCut: a stream may break after content only where a vendor broke it, and
// nobody may be asked after that.
func (c *call) judgeCut() (verdict, string) {
	vendor, words := c.vendorOf(c.text)
	if vendor == "" {
		return c.mixed()
	}
	last := c.hits[len(c.hits)-1]
	switch {
	case last.vendor != vendor || c.late > 0:
		return doubled, fmt.Sprintf("%s was asked after %s had been heard", last.vendor, vendor)
	case last.fault == "" || !faults[last.fault].breaks && !faults[last.fault].slow:
		return lost, fmt.Sprintf("broken after %d words, though %s was sound (%q): %s", words, vendor, last.fault, c.answer.Problem)
	case words > last.said:
		return corrupt, "more words than were said"
	}
	return fine, ""
}

// judgeRefusal: a caller's own fault is refused once, in the vendor's words. Where
// another failure came before, that one is told.
func (c *call) judgeRefusal() (verdict, string) {
	if c.wants != itsFault {
		return refusal, c.answer.Problem
	}
	asked := 0
	for _, h := range c.hits {
		if h.fault == theirs {
			asked++
		}
	}
	switch {
	case c.answer.Status == http.StatusServiceUnavailable && strings.Contains(c.answer.Problem, "found out of order while this request waited"):
		return fine, "" // it moved on, and did not hear what it was told
	case c.answer.Status == http.StatusServiceUnavailable && asked <= 1:
		return refusal, c.answer.Problem // the record says whether another failure came before
	case asked != 1 || c.late > 0:
		return doubled, fmt.Sprintf("%d vendors saw a request that is wrong", asked)
	case c.answer.Status != http.StatusBadRequest || !strings.Contains(c.answer.Problem, fmt.Sprintf("call %d is wrong", c.n)):
		return corrupt, fmt.Sprintf("status %d: %s; want the vendor's own words", c.answer.Status, c.answer.Problem)
	}
	return fine, ""
}

// String tells of a call what a person needs to look into it.
func (c *call) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var b strings.Builder
	form := "whole"
	if c.stream {
		form = "stream"
	}
	fmt.Fprintf(&b, "call %d: request %s, %s %s of %s, %d words, status %d after %s, %q;", c.n, c.answer.ID, c.dialect, form, c.head, c.words,
		c.answer.Status, c.answer.Took().Round(time.Millisecond), c.text)
	for _, h := range c.hits {
		fmt.Fprintf(&b, " %s +%s %s", h.vendor, h.begin.Sub(c.answer.Begin).Round(time.Millisecond), strings.TrimSpace(h.fault+" "+h.outcome()))
	}
	return b.String()
}

func (h *hit) outcome() string {
	switch {
	case h.end.IsZero():
		return "under way"
	case h.whole:
		return "whole"
	case h.said > 0:
		return fmt.Sprintf("%d words", h.said)
	}
	return ""
}
