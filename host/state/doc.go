// Package state is the host's store: the small key-value store that plugins
// see as sdk.State, the records of requests, and the last status of each
// plugin. One [Store] serves a profile; several processes may open the same
// folder and see each other's changes within a second.
//
// # Order of things
//
// An operation runs [Namespace] or [Records] → guard → backend or journal. The
// guard gives it at most 100 ms (1 s for records, which only people wait for)
// and turns every trouble of the store into sdk.ErrUnavailable, which it
// reports once an outage. The rules of sdk.State, revisions, conflicts and leases, are made in
// Namespace out of one primitive, backend.update; a backend only keeps items.
// There are two backends, memory and file (SQLite), which are journals too. One
// for several machines would be a backend only: records stay on the machine.
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
// # Records
//
// [Records.Put] and [Store.PutStatus] only queue; a writer goroutine stores
// what is queued, a moment later and in batches. While the store is not there
// the queue fills up and then loses its oldest records, counted.
package state
