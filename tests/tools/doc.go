// Package tools tests the agent's tools with real MCP servers: those for files
// and for everything of the protocol, from npm (folder npm, pinned there), over
// standard input and output and over HTTP. A relay between the agent and a server
// loses replies. The test binary is also the relay and, for the agent as a whole,
// the program spillway.
package tools
