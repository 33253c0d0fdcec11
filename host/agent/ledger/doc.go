// Package ledger runs tools that change something at most once for each of the
// user's actions, and remembers durably what became of them.
//
// A model call may be replayed: after a crash, by another vendor, by a resumed
// session. Then the same tool call comes again, under another id of the model's.
// So the ledger knows a call by what the user set going ([Action.Key]): session,
// user's message, tool, canonical arguments, and the ordinal among equal calls of
// the accepted answers. A key that has an outcome is not run again; its recorded
// result is the answer.
//
// # States
//
//	planned ──► started ──► succeeded, failed
//	   ▲           │
//	   │           └──────► unknown ──► what a person says
//	   └── the tool began nothing
//
// [Ledger.Plan] records all calls of an accepted answer before the first runs.
// [Ledger.Run] commits started to the disk before it calls the tool, and the
// outcome after. Whatever comes between, a kill, a full disk, a lost reply, leaves
// a call of which nobody knows whether it happened: it is unknown, is not run
// again by itself, and a person settles it ([Ledger.Settle]). A tool that is
// idempotent is run again instead. Read-only tools are neither recorded nor held
// back.
//
// # Who is running
//
// Whoever runs a call holds a lock on a file of the call's own, in the folder
// tools.running, as long as it takes. The lock ends with the process, however that
// ends, and says what no process id can: a started call whose lock is free has lost
// its outcome. Calls of the same key wait for one another, in one process as in
// several.
//
// # The file
//
// tools.db lies in the profile's state folder beside the store, apart from it
// because its rules are others: each commit is on the disk before it counts
// (synchronous FULL), and a file that is corrupt, newer or cannot be read is never
// replaced by an empty one, which would run everything again. The ledger then
// refuses ([ErrUnusable]) until a person has moved the file away.
//
// The file holds arguments and results of tools, both cut at 256 KiB, for its owner
// alone to read. Calls that are over go after 90 days, or once there are 100 000
// or 1 GiB of them; unknown ones stay.
//
// The rules are those of the project's failure semantics, section 10.
package ledger
