// Package session keeps the agent's conversations, so that one can be gone on
// with after it was interrupted, or after the process was killed at any moment.
//
// A session is a file of JSON lines, one [Entry] each, that only grows. An entry
// is on the disk when [Session.Append] returns; the line that was being written
// when a process died is cut off when the session is opened again, and that is
// told ([Session.Torn]). One process at a time has a session, by a lock on its
// file.
//
// The file holds prompts, answers and what tools said: the folder is 0700, the
// files 0600. Entries are never changed. What the model is told is made from them
// anew each time ([Read]): a summary takes the place of what it sums up, but only
// there.
//
// A session of a nested agent lies beside its parent's, under the parent's id, a
// dot and a name; it is listed, exported and deleted with the parent.
package session
