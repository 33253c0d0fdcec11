package cli

import "runtime/debug"

// gcPercent is how much garbage a server lets gather before it is collected, as a
// share of what is in use. That is a few megabytes, most of a call's memory is
// garbage at its end, and a collection costs the same whatever it frees: at Go's 100
// they took a tenth of the time under load. Half as many cost as much memory again
// as is in use, some 5 MB.
const gcPercent = 200

// collectLess sets the percentage, unless the environment has said what it is to be.
func (a *app) collectLess() {
	for _, name := range []string{"GOGC", "GOMEMLIMIT"} {
		if _, set := a.env(name); set {
			return
		}
	}
	debug.SetGCPercent(gcPercent)
}
