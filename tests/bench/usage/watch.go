package usage

import (
	"sync"
	"time"
)

const (
	sampleEvery = 100 * time.Millisecond
	pssEvery    = 5 // samples; the processes stand still for each
)

// Spent is what a process and its descendants used while they were watched.
type Spent struct {
	CPU              time.Duration
	RSSStart         int64 // bytes, as the next two
	RSSPeak, PSSPeak int64
}

// Watch samples pid and those that descend from it now. The function that it
// returns ends that and says what they used; of pid 0 that is nothing.
func Watch(pid int) (stop func() Spent) {
	if pid == 0 {
		return func() Spent { return Spent{} }
	}
	tree := Tree(pid)
	first := Of(tree)
	spent := Spent{RSSStart: first.RSS, RSSPeak: first.RSS}
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		t := time.NewTicker(sampleEvery)
		defer t.Stop()
		for n := 1; ; n++ {
			select {
			case <-done:
				return
			case <-t.C:
			}
			spent.RSSPeak = max(spent.RSSPeak, Of(tree).RSS)
			if n%pssEvery == 0 {
				spent.PSSPeak = max(spent.PSSPeak, PSS(tree))
			}
		}
	})
	return func() Spent {
		close(done)
		wg.Wait()
		last := Of(tree)
		spent.CPU = last.CPU - first.CPU
		spent.RSSPeak = max(spent.RSSPeak, last.RSS)
		return spent
	}
}
