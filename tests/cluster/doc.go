// Package cluster plays several machines that share a Redis: real serve processes
// with their plugins, each in a network of its own (a Linux network namespace at a
// bridge), a real redis-server in another one, simulated vendors on the bridge, and
// a balancer before them. Links are cut, processes killed and nodes replaced while
// callers ask, and each answer is held to the grammar of its dialect and to the
// words that its vendor says.
//
// # The networks
//
// A test that needs them runs once more in a process with a network, mounts and
// process ids of its own (see alone), so nothing is named on the machine, tests do
// not meet, and all of it is gone with that process however it ends. That takes
// root, or a system that lets users have namespaces; else the test fails and says
// what to type. In there the process itself is the host at the bridge: vendors and
// the balancer live in it.
//
// # The balancer
//
// It is one of ours, of a page, because the tests need to know what a real one does
// not tell: to which node each call went, whether anything had been sent when it
// failed, and which calls a node had when it died. It does what is said of real ones:
// round robin over the nodes whose /health is ok, another node only after a failed
// connect, and an end of a dead node's calls.
//
// # What is lost
//
// With a node go the calls that it has: their clients see a broken connection. No
// other call is lost, in no test here.
package cluster
