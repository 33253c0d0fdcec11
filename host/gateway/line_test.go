package gateway

import (
	"testing"
	"time"

	"spillway/host"
	"spillway/host/dialect"
	"spillway/sdk"
)

// TestOneBeginning: a timer that fires between the decision and the answer's
// first frame does not begin a second answer.
func TestOneBeginning(t *testing.T) {
	x, w := bench(t)(dialect.Anthropic(), sdk.AnswerText("m", "one"))
	l := newLine(x, host.Gateway{HoldHeaders: time.Hour, KeepAlive: time.Hour})
	defer l.close()
	if l.decided() {
		t.Fatal("it has begun")
	}
	l.heard = time.Time{} // long ago
	l.tick()
	if l.begun || w.Body.Len() > 0 {
		t.Errorf("the timer began an answer: %s", w.Body)
	}
	l.encodes()
	l.heard = time.Time{}
	l.tick()
	if w.Body.Len() == 0 {
		t.Error("the timer is silent once the answer has begun")
	}
}
