package cli

import "golang.org/x/sys/unix"

// keepOthersOut keeps other processes of the user out of this one's memory and
// environment, which hold the vendors' keys: plugins, MCP servers and the commands of
// a model run as the same user, and /proc shows both to them otherwise. They
// themselves are not affected. It costs core dumps and debuggers that attach; where
// the system refuses, nothing else is worse.
func keepOthersOut() { _ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }
