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
// # The slow path
//
// A listener that looks at events, or makes its own, gets a Relay call for that
// turn: two process hops an event under gRPC's own flow control.
package serve
