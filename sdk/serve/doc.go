// Package serve is the process boundary between a host and a plugin, both sides
// of it: go-plugin's handshake, the gRPC wire and the conversion to and from the
// types of package sdk.
//
// A plugin's main calls [Main] and nothing else. A host connects to a started
// process with [Open], which gives a [Session], and puts a [Remote] into its
// waterfall: an ordinary sdk.Hook that asks whichever session its [Source]
// supplies.
//
// # Who owns what
//
// One session stream per process carries every decision. Each side has a
// bounded queue and one goroutine that writes, so nobody who sends holds a lock
// while the peer does not read. The reading goroutine never runs an author's
// code and never waits: a plugin's listeners run in a goroutine per turn, its
// observers in one goroutine in the order of arrival.
//
// # A turn
//
// The host sends Open and holds the caller's goroutine. The plugin answers with
// an Attempt; the host makes it, in that same goroutine, and either commits at
// the first visible content (the rule travels with the attempt) or answers Ended
// with the failure. After the commit the plugin is not needed: it may die or be
// replaced, and its Outcome goes to whoever follows. A process that is lost
// during a turn costs nothing that was paid for: an attempt under way goes on,
// and only if it fails is the successor asked, who is told what was tried.
//
// The decision timer runs only while the plugin holds the turn. A slow vendor is
// not a slow plugin.
//
// # The standing plan
//
// A plugin may publish its first decision about requests of some classes (sdk.Plan).
// The host then makes that attempt without a frame; its outcome follows, clean ends
// in batches. The plan is the session's: it ends with the process, and a call under
// it holds the process as a turn does, so that a drain waits for it. An attempt
// that fails opens an ordinary turn. One that shows nothing yet when its class
// leaves the plan opens a turn with the attempt running, which the plugin may drop.
//
// A turn is told after the outcomes of what had ended before, on both sides: a
// clean end must not seem to follow, and so undo, the failure of a later attempt.
//
// # The slow path
//
// A listener that looks at events, or makes its own, gets a Relay call for that
// turn: two process hops an event under gRPC's own flow control.
package serve
