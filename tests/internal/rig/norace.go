//go:build !race

package rig

// Race reports whether the programs are built with the race detector, which slows
// them down.
const Race = false
