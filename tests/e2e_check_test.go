package tests

import (
	"bytes"
	"database/sql"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/tidwall/gjson"
	_ "modernc.org/sqlite" // registers the driver "sqlite"
)

// jsonValue checks that a file is JSON and that the value at a path (as gjson
// writes it) matches all of a regular expression; "" is a value that is not
// there. Without a path every line of the file must be JSON.
func jsonValue(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, (len(args) == 1 || len(args) == 3) && !neg, "json FILE [PATH PATTERN]")
	text := ts.ReadFile(args[0])
	if len(args) == 1 {
		for line := range strings.Lines(text) {
			if !gjson.Valid(line) {
				ts.Fatalf("%s: no JSON: %s", args[0], line)
			}
		}
		return
	}
	if !gjson.Valid(text) {
		ts.Fatalf("%s is no JSON:\n%s", args[0], text)
	}
	pattern, err := regexp.Compile(`(?s)^(?:` + args[2] + `)$`)
	ts.Check(err)
	if got := gjson.Get(text, args[1]).String(); !pattern.MatchString(got) {
		ts.Fatalf("%s: %s is %q, want %s", args[0], args[1], got, args[2])
	}
}

// capture sets a variable to the first group of a regular expression that
// matches a file's content.
func capture(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, len(args) == 3 && !neg, "capture NAME PATTERN FILE")
	pattern, err := regexp.Compile(`(?m)` + args[1])
	ts.Check(err)
	m := pattern.FindStringSubmatch(ts.ReadFile(args[2]))
	if len(m) < 2 {
		ts.Fatalf("%s does not match %s with a group", args[2], args[1])
	}
	ts.Setenv(args[0], m[1])
}

// waitFor runs a program again and again until its standard output matches.
func waitFor(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, len(args) >= 2 && !neg, "waitfor PATTERN PROGRAM [ARGUMENT]...")
	pattern, err := regexp.Compile(`(?m)` + args[0])
	ts.Check(err)
	pause, limit := time.NewTicker(20*time.Millisecond), time.After(readyTime)
	defer pause.Stop()
	for {
		ts.Check(ts.Exec(args[1], args[2:]...))
		if pattern.MatchString(ts.ReadFile("stdout")) {
			return
		}
		select {
		case <-pause.C:
		case <-limit:
			ts.Fatalf("no match for %s within %s", args[0], readyTime)
		}
	}
}

// holds checks whether one of the texts stands in a file below a folder, its
// name included.
func holds(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, len(args) >= 2, "[!] holds FOLDER TEXT...")
	var found []string
	root := ts.MkAbs(args[0])
	ts.Check(filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		data := []byte(path)
		if d.Type().IsRegular() {
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			data = append(data, content...)
		}
		for _, text := range args[1:] {
			if bytes.Contains(data, []byte(text)) {
				found = append(found, path+": "+text)
			}
		}
		return nil
	}))
	if neg != (found == nil) {
		ts.Fatalf("found: %q", found)
	}
}

// empty checks that a folder holds nothing, or does not exist.
func empty(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, len(args) == 1 && !neg, "empty FOLDER")
	entries, err := os.ReadDir(ts.MkAbs(args[0]))
	if err != nil && !os.IsNotExist(err) {
		ts.Fatalf("%v", err)
	}
	if len(entries) > 0 {
		ts.Fatalf("%s holds %v", args[0], entries)
	}
}

// mode checks the permissions of files.
func mode(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, len(args) >= 2 && !neg, "mode PERMISSIONS FILE...")
	for _, file := range args[1:] {
		info, err := os.Stat(ts.MkAbs(file))
		ts.Check(err)
		if got := fmt.Sprintf("%04o", info.Mode().Perm()); got != args[0] {
			ts.Fatalf("%s has mode %s, want %s", file, got, args[0])
		}
	}
}

// locked keeps a state file locked, as another process would, to the end of the
// script.
func locked(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, len(args) == 1 && !neg, "locked FILE")
	db, err := sql.Open("sqlite", "file:"+ts.MkAbs(args[0])+"?_pragma=locking_mode(exclusive)&_txlock=exclusive")
	ts.Check(err)
	ts.Defer(func() { db.Close() })
	_, err = db.Begin()
	ts.Check(err)
}

// processes lists the processes that this script has started, directly or not,
// one a line: id, arguments and environment. It reads /proc.
func processes(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, len(args) == 0 && !neg, "processes")
	_, err := io.WriteString(ts.Stdout(), running(ts))
	ts.Check(err)
}

// gone waits until none of them is left.
func gone(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, len(args) == 0 && !neg, "gone")
	pause, limit := time.NewTicker(20*time.Millisecond), time.After(readyTime)
	defer pause.Stop()
	for {
		left := running(ts)
		if left == "" {
			return
		}
		select {
		case <-pause.C:
		case <-limit:
			ts.Fatalf("still there after %s:\n%s", readyTime, left)
		}
	}
}

// running finds processes by their environment, in which the script's folder
// stands: each gets TMPDIR and HOME, plugins too.
func running(ts *testscript.TestScript) string {
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	ts.Check(err)
	var b strings.Builder
	for _, file := range files {
		// It may end while it is looked at.
		env, _ := os.ReadFile(file)
		cmdline, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
		if bytes.Contains(env, []byte(ts.Getenv("WORK")+"/")) {
			all := bytes.ReplaceAll(append(cmdline, env...), []byte{0}, []byte{' '})
			fmt.Fprintf(&b, "%s %s\n", filepath.Base(filepath.Dir(file)), all)
		}
	}
	return b.String()
}
