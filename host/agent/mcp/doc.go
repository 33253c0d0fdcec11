// Package mcp gives the agent the tools of an MCP server: of a program that
// speaks over its standard input and output, or of one that is reached by
// streamable HTTP. The protocol is the official SDK's; this package decides what
// a reply, or its absence, means, and holds the server at a distance.
//
// # Calls
//
// A call is sent once. Of its outcome is known what the server replied: a result,
// or an error in the protocol's own words. A call that did not leave this process,
// or that an HTTP server turned away, was not run ([tool.ErrNotRun]). Everything
// else is unknown: no reply in time, a connection or process that ended, a caller
// who cancelled, an answer that says "timed out". So the SDK's own repetition of
// calls is off, a request's body is given out once, and redirections are followed
// on the server's own origin only. A broken event stream is resumed where it was:
// that asks for the reply, not for the call.
//
// The key of the user's action goes with each call as "spillway/key" in _meta,
// and in the argument that the profile names.
//
// # The server
//
// It is started by [Open] and, once it has ended, again by the next call: at once
// if it had answered a call, else after a growing pause. A program that ends
// maxFailures times in a row without an answer stays off; a server on the network
// is tried again for ever. Calls that were under way when it ended are unknown.
//
// A program gets an allow-listed environment and what its row adds, a process
// group of its own, and the working folder as its own. It is stopped by closing
// its standard input, then asked by a signal, then killed; each step is bounded.
// Its standard error is logged at debug, bounded, without the row's secrets.
//
// The working folder is announced as the one root. Sampling and elicitation are
// not offered: a server asks neither the model nor the person. What it says of
// itself is a stranger's text: descriptions are cut and cleaned, a tool whose
// schema no vendor would take is left out, and results have bounds.
//
// The protocol is spoken as of 2025-11-25 or earlier, as the server answers. That
// version has the roots and the cancellation of calls; servers of later ones
// still speak it.
package mcp
