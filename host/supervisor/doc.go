// Package supervisor keeps plugin processes: it decides which binary may run,
// starts it, restarts it when it is lost, and stops it without leaving anything
// behind. TRAPS.md lists what can go wrong and the tests that hold each answer.
//
// # A plugin is a stranger's program
//
// It runs from a private copy whose name is its content's hash, with an
// allow-listed environment (no key is in it), in a process group of its own,
// with standard input from /dev/null, and with a pipe whose end tells it that
// the host is gone. What it writes to its outputs is data: read in bounded lines,
// parsed without trust, and logged within limits. go-plugin's own runner does
// none of that, and one line on standard error can take a host down that uses
// it; see [process].
//
// Copies are shared by the hosts of a profile. A lock on its file holds each as
// long as a Plugin runs from it, in whichever process; Install removes those that
// nobody has held or asked for within some minutes.
//
// # Life
//
// Start returns once the plugin is configured, or with the reason why it is not,
// which names the file, what is wrong and what would be right. Then a goroutine
// watches it. The end of the session is the sign of a crash, not the end of the
// process, which a grandchild's pipes can hide.
//
// A process that had answered a turn or a heartbeat is restarted at once, but no
// more than sixty times in ten seconds. One that had not is restarted after a
// pause, which doubles up to five seconds: without an end if it lived for a
// while, since nobody may have asked it; if it died of its start, five in a row
// are a crash loop, and the plugin stays off.
//
// Every stop is bounded: drain, close the session and the lifeline, TERM, KILL to
// the whole group.
package supervisor
