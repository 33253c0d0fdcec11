package rig

import "time"

// Within reports whether something comes to be in time.
func Within(d time.Duration, cond func() bool) bool {
	limit, tick := time.NewTimer(d), time.NewTicker(5*time.Millisecond)
	defer limit.Stop()
	defer tick.Stop()
	for !cond() {
		select {
		case <-tick.C:
		case <-limit.C:
			return false
		}
	}
	return true
}
