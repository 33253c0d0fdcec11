//go:build !race

package rig

// Race reports whether the programs are built with the race detector.
const Race = false
