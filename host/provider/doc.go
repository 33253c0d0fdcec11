// Package provider makes the attempts: it sends a call to one vendor over HTTP
// in one of the vendor's dialects and turns what comes back into a stream.
//
// A [Provider] is one named endpoint of a profile with its keys. A [Set] of them
// is the waterfall's terminal. Vendors are data ([Vendor], read from
// vendors.yml); the code knows dialects only.
//
// # An attempt
//
// Dispatch returns a lazy attempt; the first use sends it. Until visible content
// has come, frames are held back, so that a failure there stays invisible. One
// goroutine at a time reads the vendor's body: whoever awaits, and after that
// whoever consumes. There is no goroutine per attempt; limits are timers that
// cancel the request with a cause, and the cause becomes the failure's code.
//
// When client and vendor speak the same dialect the request's bytes go out as
// they came (but for the model's name) and the answer's frames can be relayed
// as they are: every frame is scanned, none is decoded.
//
// # What an event and a call cost
//
// An event of a relayed answer costs no allocation, no timer, no goroutine and no
// look at the clock unless it had to be waited for. Its bytes are copied where they
// change hands: from the connection into its buffer, from there into the reader's,
// into what the gateway gathers for one write, and into the server's buffers. The one
// scan of each frame, for what it means, is what is left to save.
//
// A call allocates its attempt, its context, its request and headers, what was read
// of the answer before visible content (one piece a frame), and a buffer of 4 KB if
// it is a stream, which holds what has come and is not taken yet: all that a fast
// vendor can make us keep of one stream, but for a frame that is larger (see package
// sse). An answer that is not streamed is one piece of memory. The goroutines are
// package http's: two for each of a vendor's connections. The one timer is moved
// only when it would fire too late.
//
// # Histories
//
// A client's history is its own, and it is of the vendor that the client chose.
// Another vendor, and the same one once others have served, gets a projection of
// it: package dialect makes it, [Seals] know who sealed which reasoning. What was
// left behind is in the attempt's record.
//
// # Keys
//
// A key exists as profile.Secret here and in the request's header, nowhere else.
// Errors, records and logs name its fingerprint.
package provider
