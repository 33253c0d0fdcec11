// Package llm is the waterfall: the one way by which every model call of the
// runtime reaches a vendor.
//
// A [Waterfall] is immutable. [Waterfall.Stream] runs a [Call] through its
// listeners in order and ends at the terminal, which looks the provider up and
// returns a lazy stream. A listener's next gives a handle that runs the rest of
// the chain only when somebody uses it; its second use is an error. Reenter
// runs the whole waterfall again, one level deeper, up to MaxDepth.
//
// Whatever a listener does (an error, a panic, no stream) reaches the caller as
// a stream that ends in a failure; Stream itself cannot fail.
//
// The stream that comes back is looked through with sdk.Find: a [Raw] in it
// means no listener changed an event, and its bytes may be relayed as they are.
package llm
