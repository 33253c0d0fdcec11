// Package agents tests that the agents people use do a whole task through
// "spillway serve" although vendors fail: the model calls the agent's shell
// once, gets what the command printed, and answers with it. A run checks what
// the agent printed and its exit status, that the command ran once, how often
// each vendor was asked, and that no key stands where it must not.
//
// Agents, gateway and simulated vendors live in a network namespace with
// loopback alone: the test binary installs the agents, pinned by the lock files
// here, builds the programs and then runs itself in there. The name server there
// knows no name, and an agent that asks it for one fails the test.
//
// A plain run has the agents that it can wait for: Claude Code, Codex and pi.
// Flag -agents.slow chooses the others; "make clients-all" sets it.
package agents
