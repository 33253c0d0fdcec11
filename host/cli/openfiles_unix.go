//go:build unix

package cli

import (
	"context"
	"log/slog"
	"syscall"
)

// wantedFiles is what ten thousand streams at once need if their vendor has one
// connection for each.
const wantedFiles = 20_000

// tellOpenFiles says how many streams the limit on open files leaves room for, if
// those are few. The limit itself is as high as it may be: Go raises it when a
// program starts.
func tellOpenFiles(log *slog.Logger) {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil || l.Cur >= wantedFiles {
		return
	}
	level := slog.LevelInfo
	if l.Cur < wantedFiles/10 {
		level = slog.LevelWarn
	}
	log.Log(context.Background(), level, "few files may be open at once: raise the limit (ulimit -n) for more streams", "limit", l.Cur, "streams", l.Cur/2)
}
