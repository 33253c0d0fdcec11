// Package driver acts on what package brain decides: it is the plugin that the
// host sees. It owns the clock, the random numbers, the store, the settings and
// the one mutex around the brain; it decides nothing itself.
//
// A call runs in the goroutine of its listener: ask the brain for a step, make
// the attempt, tell the brain how it went, until it is the caller's or there is
// nothing left to try. The mutex is never held across an attempt or any other
// wait.
//
// Health lives in the brain's memory. Changed circuits are written to the store
// behind the calls, by one goroutine, and changes that other processes make are
// read in by another, so a store that is slow or gone delays nothing.
package driver
