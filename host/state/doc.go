// Package state is the host's store: the small key-value store that plugins
// see as sdk.State, the records of requests, and the last status of each
// plugin. One [Store] serves a profile; several processes may open the same
// folder, or several machines the same [Redis], and see each other's changes
// within a second.
//
// # Order of things
//
// An operation runs [Namespace] or [Records] → guard → backend or journal. The
// guard gives it at most 100 ms (1 s for records, which only people wait for)
// and turns every trouble of the store into sdk.ErrUnavailable, which it
// reports once an outage. The rules of sdk.State are made in Namespace out of
// one primitive, backend.update: a put, an extension or a removal, if the item
// is at a certain revision. There are three backends, memory, file (SQLite) and
// remote (Redis). The first two are journals too: records and statuses stay on
// the machine.
//
// Whatever fails for want of time may have been done. Leases that nobody knows of
// are therefore given back behind the calls.
//
// # The file
//
// The file backend owns spillway.db in its folder. One goroutine tends it: it
// opens the file, looks for changes of other processes every 250 ms, removes
// expired items, and mends what can be mended. A file that cannot be opened is
// tried again; one that was moved or removed is begun anew; a corrupt one is
// set aside as spillway.db.corrupt-TIME and never deleted. Operations never
// wait for that: while there is no file they fail at once.
//
// # The Redis
//
// The remote backend keeps a profile's namespaces in a Redis from version 6, or
// a Valkey: one server, its primary, or a proxy before it. A cluster is not
// supported, although all keys are in one slot, {prefix}. What the keys are
// stands in lua/common.lua; an operation is one script, hence one round trip and
// one atomic step, and time is the server's. A server that evicts keys may end
// leases early: its maxmemory-policy should be noeviction.
//
// Opening the store does not wait for a connection, and no operation is tried
// twice: the next one is the next try. Once as many connections as the pool has
// could not be made, operations fail at once, and one connection a second is
// tried.
//
// Scripts publish each change of an item on a channel, with the item, so a watcher
// that hears asks for nothing. A message names the one before it. After a gap, after
// each subscription, and when it has fallen behind, a watcher asks for all changes
// since the last that it knows, so a lost message is a late one. Where nothing can
// be heard it asks every half second. What nodes cost the server is counted, and
// held to a budget, in tests/cluster.
//
// A server that has lost its data goes on with revisions above all before,
// because they are at least the time in microseconds, and so are generations of
// leases. Watchers are not told of such a loss: a plugin keeps what it knows, and
// its swaps are conflicts until it reads again.
//
// # Records
//
// [Records.Put] and [Store.PutStatus] only queue; a writer goroutine stores
// what is queued, a moment later and in batches. While the store is not there
// the queue fills up and then loses its oldest records, counted.
package state
