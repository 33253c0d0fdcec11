// Package procgroup puts a process into a group of its own, so that signals to
// the host's group do not reach it and it can be ended with everything that it
// started. Signals go to whoever has the number: send none to a process that was
// waited for, except right after that.
package procgroup
