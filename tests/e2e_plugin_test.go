package tests

import (
	"fmt"
	"os"
	"regexp"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"
)

// atMost checks the size of a file, of stdout or of stderr.
func atMost(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, len(args) == 2 && !neg, "atmost BYTES FILE")
	limit, err := strconv.Atoi(args[0])
	ts.Check(err)
	if n := len(ts.ReadFile(args[1])); n > limit {
		ts.Fatalf("%s has %d bytes, at most %d are allowed", args[1], n, limit)
	}
}

var residentLine = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)

// memory checks how much of it the program that runs beside the script has had
// at most. It reads /proc.
func memory(ts *testscript.TestScript, neg bool, args []string) {
	r := rigOf(ts)
	usage(ts, len(args) == 1 && !neg && r.daemon != nil, "memory MEGABYTES (after start)")
	limit, err := strconv.Atoi(args[0])
	ts.Check(err)
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", r.daemon.cmd.Process.Pid))
	ts.Check(err)
	m := residentLine.FindSubmatch(status)
	if m == nil {
		ts.Fatalf("no peak of memory in %s", status)
	}
	kb, err := strconv.Atoi(string(m[1]))
	ts.Check(err)
	if kb/1024 > limit {
		ts.Fatalf("%d MB were resident, at most %d are allowed", kb/1024, limit)
	}
}
