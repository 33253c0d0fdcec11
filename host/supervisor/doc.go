// Package supervisor keeps plugin processes: it decides which binary may run,
// starts it, restarts it when it is lost, and stops it without leaving anything
// behind.
//
// # A plugin is a stranger's program
//
// It runs from a private copy whose name is its content's hash, with an
// allow-listed environment (no key is in it), in a process group of its own,
// with standard input from /dev/null, and with a pipe whose end tells it that
// the host is gone. What it writes to its outputs is data: read in bounded lines
// and parsed without trust. go-plugin's own runner does none of that, and one
// line on standard error can take a host down that uses it; see [runner].
//
// # Life
//
// Start returns once the plugin is configured, or with the reason why it is not;
// then a goroutine watches it. The end of the session is the sign of a crash,
// not the end of the process, which a grandchild's pipes can hide. A process
// that had answered is restarted at once, others after a pause that doubles;
// five that end before they answer are a crash loop, and the plugin stays off.
//
// Every stop is bounded: drain, close the session and the lifeline, TERM, KILL to
// the whole group.
package supervisor
