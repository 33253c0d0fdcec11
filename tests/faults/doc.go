// Package faults plays what vendors, networks, stores and people do to a running
// spillway: a real serve process, the failover plugin as a process of its own,
// vendors that answer over real HTTP as their scripts say, and real callers.
//
// Each scenario looks at four things: what the caller got, which calls reached
// which vendor and when, what stands against whom ("status --json"), and what the
// record tells ("explain --json").
//
// The numbers of the scenarios are those of the public Failover Bench (S) and of
// our own list (B). Durations are a fifth of theirs, in the scripts and in the
// settings alike, unless a test says otherwise.
package faults
