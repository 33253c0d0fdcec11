// Package sim is the simulated vendors: HTTP servers on loopback that speak
// Anthropic Messages, OpenAI Chat Completions and OpenAI Responses, streamed and
// not, and that fail as scripted. The demo, the sim and drill commands and the
// end-to-end tests run against it.
//
// A [Server] holds several vendors, each with a listener of its own, so that
// one can refuse connections or reset them while the others answer. A vendor
// serves every dialect; the end of the path chooses: …/messages,
// …/messages/count_tokens, …/chat/completions, …/responses, …/models.
//
// With TLS a vendor serves HTTPS and HTTP/2, for what can go wrong only there;
// who calls it has to trust [Server.Certificate].
//
// What a vendor does with a request is decided in this order: the key must be
// present, and known if the vendor has a list; the body must be JSON; the model
// must be one it serves; in strict mode the request must be valid in its
// dialect; then its script says how to answer ([Parse] has the text form).
//
// The wire formats are written here on their own and share nothing with the
// host's codecs: a test must not be blind to the bugs of what it tests. Refusals
// are real vendor answers, kept in bodies.jsonl with the source of each. A
// vendor signs its reasoning and knows its own again; what is signed by somebody
// else it refuses in strict mode, as real vendors do.
//
// Concurrency: every method may be called from any goroutine. Each vendor has
// one lock over its script and its listener, and its log has another; nothing
// is called back under either. [Server.Close] ends every handler, waits for it
// and for every connection, and leaves no goroutine behind.
//
// Secrets: of a key only its [Fingerprint] is kept, whatever is logged.
package sim
