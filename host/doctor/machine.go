package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"spillway/host/control"
	"spillway/host/profile"
	"spillway/host/state"
	"spillway/sdk"
)

// files looks at who may read and change the profile.
func (x *examination) files() {
	dir := filepath.Join(x.Host.Dir, profile.StateDir)
	before := len(x.report.Findings)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		x.add("files", Error, "make the folder writable for you", "%v", err)
		return
	}
	probe, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		x.add("files", Error, "make the folder writable for you", "%v", err)
		return
	}
	if err := errors.Join(probe.Close(), os.Remove(probe.Name())); err != nil {
		x.add("files", Error, "", "%v", err)
	}
	if runtime.GOOS != "windows" { // which has other rights
		x.rights(x.Host.Dir, 0o022, "can be changed by others")
		for _, name := range []string{profile.BaseFile, profile.PatchFile, profile.PluginsDir} {
			x.rights(filepath.Join(x.Host.Dir, name), 0o022, "can be changed by others")
		}
		entries, _ := os.ReadDir(dir)
		x.rights(dir, 0o077, "is open to others")
		for _, e := range entries {
			x.rights(filepath.Join(dir, e.Name()), 0o077, "is open to others")
		}
	}
	if len(x.report.Findings) == before {
		x.add("files", OK, "", "%s can be written, by you alone", x.Host.Dir)
	}
}

// rights warns of a file that has some of the rights. One that is not there has
// none.
func (x *examination) rights(path string, too fs.FileMode, what string) {
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&fs.ModeSymlink != 0 || info.Mode().Perm()&too == 0 {
		return
	}
	less := "go-w"
	if too&0o044 != 0 {
		less = "go-rwx"
	}
	x.add("files", Warning, fmt.Sprintf("chmod %s %s", less, path), "%s %s (mode %04o)", path, what, info.Mode().Perm())
}

// hosts tells of a host that runs the profile, and whether serve could listen.
func (x *examination) hosts(ctx context.Context) {
	v, err := control.NewClient(x.Host.Dir).Status(ctx)
	switch {
	case errors.Is(err, control.ErrNotRunning):
		x.add("hosts", OK, "", "no host runs this profile")
	case err != nil:
		x.add("hosts", Warning, "end that process; it may be of another version", "a host runs this profile and cannot be asked: %v", err)
	default:
		x.add("hosts", Info, "", "a host runs this profile, on %s; others may too: they share what they learn", v.Listen)
		if v.Refused != "" {
			x.add("hosts", Warning, "mend the profile: the host takes it up by itself", "it runs an earlier form of the profile: %s", v.Refused)
		}
	}
	l, err := net.Listen("tcp", x.Listen)
	switch {
	case err == nil:
		l.Close()
		x.add("port", OK, "", "%s is free", x.Listen)
	case v.Listen == "http://"+x.Listen:
		x.add("port", OK, "", "%s is the running host's", x.Listen)
	default:
		x.add("port", Error, "serve elsewhere: spillway serve --listen 127.0.0.1:0", "%s cannot be had: %v", x.Listen, err)
	}
}

// storePatience bounds each step of the store's.
const storePatience = 500 * time.Millisecond

// store opens the store, if there is one, and reads in it.
func (x *examination) store(ctx context.Context) {
	dir := filepath.Join(x.Host.Dir, profile.StateDir)
	if found, _ := filepath.Glob(filepath.Join(dir, "*.db")); found == nil {
		x.add("store", OK, "", "nothing is stored yet")
		return
	}
	s, err := state.Open(dir, state.Options{Log: slog.New(slog.DiscardHandler), Limit: storePatience})
	if err != nil {
		x.add("store", Error, "run the spillway that wrote it, or move "+dir+" away", "%v", err)
		return
	}
	defer s.Close()
	last, err := s.Records().Last(ctx)
	switch {
	case errors.Is(err, sdk.ErrNotFound):
		x.add("store", OK, "", "it opens; it has no request yet")
	case err != nil:
		x.add("store", Error, "see whether another program holds it, and whether the disk is full", "it cannot be read: %v", err)
	case last.Started.After(time.Now().Add(clockGrace)):
		x.add("clock", Warning, "set this machine's clock", "the last request is of %s, which has not come yet", last.Started.Local().Format(time.RFC3339))
	default:
		x.add("store", OK, "", "it opens; the last request is of %s", last.Started.Local().Format("2006-01-02 15:04:05"))
	}
}

const clockGrace = time.Minute

// writtenIn is when this program was written: a clock that is before is wrong.
const writtenIn = 2026

// clock looks whether the wall clock can be right.
func (x *examination) clock() {
	now := time.Now()
	newest := ""
	_ = filepath.WalkDir(x.Host.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // what cannot be read tells nothing
		}
		if info, err := d.Info(); err == nil && info.ModTime().After(now.Add(clockGrace)) {
			newest = path
		}
		return nil
	})
	switch {
	case now.Year() < writtenIn:
		x.add("clock", Error, "set this machine's clock: cooldowns and certificates go by it", "it is %s here", now.Format(time.RFC3339))
	case newest != "":
		x.add("clock", Warning, "set this machine's clock: cooldowns go by it", "%s was written in the future", strings.TrimPrefix(newest, x.Host.Dir+"/"))
	default:
		x.add("clock", OK, "", "%s", now.Format(time.RFC3339))
	}
}
