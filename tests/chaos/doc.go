// Package chaos drives a real "spillway serve" through all three client dialects
// while an adversary makes everything around it fail, and judges every call.
//
// # What is real
//
// The serve program, the failover plugin as a process of its own, a SQLite file or a
// Redis, vendors that speak three dialects over HTTP and SSE, and callers that hold
// each answer to the grammar of its dialect (package caller). All of it is in a
// network of its own, in which each vendor has an address that is not loopback's.
// That takes root, or namespaces for users; without them the test says what to type.
//
// # The adversary
//
// A schedule says what is done and when. It follows from a seed, and it is data: it
// can be written down and played again (-chaos.schedule). Its clock is the number of
// calls, so that everything keeps its proportion. Events wait in lanes: one for each
// vendor, and one each for the plugin, the profile, the store and the machine.
//
//	vendor   errors with a status, resets, hangs, cuts, stalls, error events, broken
//	         JSON, drips and more (faults), and nobody there
//	plugin   KILL, STOP and CONT; another binary; a second plugin that panics, is
//	         slow, never decides, floods its outputs, takes memory, sends wrong frames
//	store    SQLite: locked, on a full disk, corrupt. Redis: killed, stopped
//	profile  good edits, saves that cannot be used
//	network  the address of one vendor is gone, or all of them
//	clock    the host is stopped for a moment and goes on. Clocks that jump need
//	         root on the whole machine; tests of brain and driver play those
//	callers  some leave, some ask for what every vendor refuses
//
// One vendor, haven, is left alone, so every call can be served.
//
// # The verdicts
//
// A call is answered whole, by one vendor and in order; or it gets one final error
// in its dialect that had to be. An error has to be where a vendor broke a stream
// after content had come, where the caller's own request was wrong, where all of the
// network was gone, and where the plugin was away for longer than a call waits for
// it, so that the vendor's own error came through; the record says which. All else is
// lost, hung, doubled, truncated or corrupt. Whatever stands against a vendor that
// did not fail was wrongly charged, and counts as corrupt in the last line, too. A
// vendor's log, the record of the call and the host's status are held against each
// other. After each phase the store must be sound, and nothing left behind.
//
// If something is found, halves of the schedule are played as long as they find
// something, too (-chaos.shrink); processes are real, so that may miss.
//
// # Numbers
//
// The limits of the profile are a tenth of the defaults or less (see pace), since
// callers wait for each that a vendor lets run out. Slow faults go to three requests
// in a hundred and to one vendor at a time for the same reason.
package chaos
