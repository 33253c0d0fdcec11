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
