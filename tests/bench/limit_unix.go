//go:build unix

package main

import "syscall"

// mostIdle is how many idle streams are opened where nothing forbids it.
const mostIdle = 10000

// idleStreams is how many streams a gateway can hold here: each takes two
// descriptors, and some are needed besides.
func idleStreams() int {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		return 100
	}
	return int(min(mostIdle, (l.Max-min(l.Max, 400))/2))
}
