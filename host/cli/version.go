package cli

import (
	"runtime/debug"
)

// Version of spillway.
const Version = "0.1.0"

// version is what --version tells: the version, and the commit where the program
// was built in a checkout.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return Version
	}
	commit, changed := "", ""
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			commit = s.Value
		case "vcs.modified":
			if s.Value == "true" {
				changed = ", changed"
			}
		}
	}
	if commit == "" {
		return Version
	}
	return Version + " (" + commit[:min(len(commit), 12)] + changed + ")"
}
