package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"
)

const (
	// maxWatching bounds the streams of events that are open.
	maxWatching = 32
	// settle is how long the status is left to change further before it is sent.
	settle = 50 * time.Millisecond
	// lookAgain is how often the status is read although nothing said that it had
	// changed: a plugin's output and the calls that passed it by are not told of.
	// It also finds browsers that are gone.
	lookAgain = 5 * time.Second
	// sendTime is how long a browser may take for an event.
	sendTime = 10 * time.Second
)

// watching counts the streams that are open.
type watching struct{ n atomic.Int32 }

func (c *watching) enter() bool {
	if c.n.Add(1) > maxWatching {
		c.n.Add(-1)
		return false
	}
	return true
}

func (c *watching) leave() { c.n.Add(-1) }

// stream is one browser that follows what happens.
type stream struct {
	w    http.ResponseWriter
	ctl  *http.ResponseController
	last []byte // view that was sent
}

// send writes an event; v is its data.
func (s *stream) send(event string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return s.write(fmt.Sprintf("event: %s\ndata: %s\n\n", event, data))
}

func (s *stream) write(text string) error {
	_ = s.ctl.SetWriteDeadline(time.Now().Add(sendTime))
	if _, err := s.w.Write([]byte(text)); err != nil {
		return err
	}
	return s.ctl.Flush()
}

// events streams to a browser: "status" with the view, at once and whenever it has
// changed, and "request" for each request that has ended. It ends with the browser's
// session.
func (h *Handler) events(w http.ResponseWriter, r *http.Request) {
	if !h.watching.enter() {
		refuse(w, http.StatusServiceUnavailable, fmt.Sprintf("%d pages follow already, and no more may", maxWatching))
		return
	}
	defer h.watching.leave()
	over, _ := h.sessions.find(r)  // nil for whoever shows the token itself, or needs none
	follower := h.runtime.Follow() // before the status is read, so that no change is missed
	defer follower.Close()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	s := &stream{w: w, ctl: http.NewResponseController(w)}
	again := time.NewTicker(lookAgain)
	defer again.Stop()
	due := time.After(0)
	for {
		var err error
		select {
		case <-r.Context().Done():
			return
		case <-h.life.Done():
			return
		case <-over:
			return
		case <-follower.Changed:
			if due == nil {
				due = time.After(settle)
			}
		case <-again.C:
			h.sessions.find(r) // who follows is seen
			if err = s.write(": here\n\n"); err == nil {
				err = h.sendStatus(s, r)
			}
		case <-due:
			due = nil
			err = h.sendStatus(s, r)
		case rec := <-follower.Finished:
			err = s.send("request", summaryOf(rec, telling(r)))
		}
		if err != nil {
			return
		}
	}
}

// sendStatus sends the view if it is another than the last.
func (h *Handler) sendStatus(s *stream, r *http.Request) error {
	v, err := h.view(r.Context(), telling(r))
	if err != nil || bytes.Equal(v, s.last) {
		return err
	}
	s.last = v
	return s.send("status", stamped{time.Now(), v})
}
