// Package usage reads from /proc what processes use. Where there is no /proc it
// reads zeros: the figures are then missing and nothing else.
package usage

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of CPU times in /proc: USER_HZ is 100 wherever Go runs.
const tick = time.Second / 100

// Usage is what processes use together.
type Usage struct {
	CPU time.Duration // user and system time, with that of children that ended
	RSS int64         // bytes; what processes share counts for each of them
}

// Tree is pid and all that descend from it; nothing if it does not run.
func Tree(pid int) []int {
	parent := map[int]int{}
	folders, _ := filepath.Glob("/proc/[0-9]*")
	for _, f := range folders {
		id, _ := strconv.Atoi(filepath.Base(f))
		if s := stat(id); s != nil {
			parent[id] = int(number(s, 4))
		}
	}
	var tree []int
	for id := range parent {
		at := id
		for at > 1 && at != pid {
			at = parent[at]
		}
		if at == pid {
			tree = append(tree, id)
		}
	}
	return tree
}

// Of is what the processes use. Those that are gone do not count.
func Of(pids []int) (u Usage) {
	for _, pid := range pids {
		s := stat(pid)
		if s == nil {
			continue
		}
		u.CPU += time.Duration(number(s, 14)+number(s, 15)+number(s, 16)+number(s, 17)) * tick
		u.RSS += number(s, 24) * int64(os.Getpagesize())
	}
	return u
}

// PSS is the memory of the processes in bytes, what they share divided among
// those who share it. It costs more than Of: the kernel walks their pages.
func PSS(pids []int) (total int64) {
	for _, pid := range pids {
		text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/smaps_rollup")
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			if value, ok := strings.CutPrefix(line, "Pss:"); ok {
				kb, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
				total += kb << 10
			}
		}
	}
	return total
}

// Busy is the CPU time that everything on the machine has used.
func Busy() time.Duration {
	text, _ := os.ReadFile("/proc/stat")
	first, _, _ := bytes.Cut(text, []byte("\n"))
	fields := strings.Fields(string(first))
	var ticks int64
	for _, i := range []int{1, 2, 3, 6, 7, 8} { // user, nice, system, irq, softirq, steal
		if i < len(fields) {
			n, _ := strconv.ParseInt(fields[i], 10, 64)
			ticks += n
		}
	}
	return time.Duration(ticks) * tick
}

// stat is the fields of a process's stat after its name, which may hold spaces:
// the first is the one that proc(5) calls the third.
func stat(pid int) []string {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return nil
	}
	return strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
}

// number is the field that proc(5) gives this number.
func number(stat []string, field int) int64 {
	if field-3 >= len(stat) {
		return 0
	}
	n, _ := strconv.ParseInt(stat[field-3], 10, 64)
	return n
}
