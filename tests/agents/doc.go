// Package agents tests that the agents people use do a whole task through
// "spillway serve" although vendors fail: the model calls the agent's shell
// once, gets what the command printed, and answers with it. A run checks what
// the agent printed and its exit status, that the command ran once, how often
// each vendor was asked, and that no key stands where it must not.
//
// Agents, gateway and simulated vendors live in a network namespace with
// loopback alone: the test binary installs the agents, pinned by the lock files
// in npm, builds the programs and then runs itself in there. Names are answered
// there too, with a no; an agent that looks one up fails the test.
package agents
