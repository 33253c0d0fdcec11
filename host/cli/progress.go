package cli

import (
	"context"
	"fmt"
	"io"
	"time"
)

// silence is how long a person is left without a word while something is waited
// for.
const silence = 2 * time.Second

// rewrite begins a terminal's line anew.
const rewrite = "\r\x1b[K"

// progress is a line of a terminal that tells how long something takes already. It
// is there once silence has passed, and gone when it is stopped.
type progress struct {
	cancel context.CancelFunc
	done   chan struct{}
}

// showProgress shows what says gives, each second. Nobody else may write to w until
// it is stopped.
func showProgress(w io.Writer, says func(passed time.Duration) string) *progress {
	ctx, cancel := context.WithCancel(context.Background())
	p := &progress{cancel: cancel, done: make(chan struct{})}
	begun := time.Now()
	go func() {
		defer close(p.done)
		for next := silence; ; next += time.Second {
			select {
			case <-ctx.Done():
				if next > silence {
					fmt.Fprint(w, rewrite)
				}
				return
			case <-time.After(time.Until(begun.Add(next))):
				fmt.Fprint(w, rewrite+says(next))
			}
		}
	}()
	return p
}

func (p *progress) stop() {
	p.cancel()
	<-p.done
}

// patiently does something, and calls slow once if it is not done when silence has
// passed. Neither outlives the call.
func patiently(do, slow func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	select {
	case <-done:
	case <-time.After(silence):
		slow()
		<-done
	}
}
