// Package brain decides what the failover plugin does. It knows which routes
// and vendors are healthy, which route a request tries first, and what follows
// a failure. It acts on nothing: every function takes the moment as an argument
// and returns values, so any sequence of events can be replayed in a test.
//
// # Ownership
//
// A [Brain] holds the health of all targets and is not safe for concurrent use:
// its owner, the driver, calls it under one mutex and does all I/O outside. A
// [Turn] is the state of one request and belongs to the goroutine that serves
// it. A [Policy] is immutable once given to a brain; a turn ends under the
// policy that it began with.
//
// # Order of calls
//
// Start gives the first [Step]. A step is either an attempt, to be dispatched
// with the step's route, delay and tag, or a stop. After an attempt:
//
//   - it failed before visible content: Failed, which gives the next step;
//   - visible content came: Committed, which ends the turn; later, when the
//     host reports the outcome of the stream: Settled.
//
// Rule gives the first step of a whole class of requests in advance. An attempt so
// ordered ends in Settled, in the past of a Start, or, while it runs, in the turn
// that Join begins for it.
//
// Every attempt must end in Failed or Settled, also when the caller went away
// (code ABORTED). Ends that arrive twice, late, or in a later process are
// recognised by the tag and change nothing more. After each call TakeChanged
// names the targets to write to the store, and Export gives their bytes.
//
// # Circuits
//
// A route or vendor is out while one of its ladders (deterministic, transient,
// halt) or a vendor's stated time says so. When that time is over and a ladder
// was climbed, the target is half-open: one real request at a time carries a
// permit and tests it. Only a stream's clean end proves a target healthy and
// forgets its ladders; the permit itself returns at the first visible content.
//
// Late results are told by epochs: every charge advances one counter, an
// attempt remembers the counter from when it was decided, and a result older
// than the target's last charge adds nothing. Only a limit on the first content
// that ran out counts until the target trips. The counter is shared between
// processes as a Lamport clock through Export and Load.
//
// # Time
//
// Deadlines stand on both clocks and are over as soon as either has passed
// them: a laptop that slept keeps nobody out, nor does a clock set back.
//
// # Errors
//
// Only Load and ParseTarget read what others wrote, and only they return
// errors. A tag that cannot be read is the tag of nobody's attempt.
//
// The default numbers are in DefaultPolicy; fixed ones are constants beside the
// rule that uses them.
package brain
