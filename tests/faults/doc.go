// Package faults plays what vendors, networks, stores and people do to a running
// spillway: a real serve process, the failover plugin as a process of its own,
// vendors that answer over real HTTP as their scripts say, and real callers.
//
// Each scenario looks at four things: what the caller got, which calls reached
// which vendor and when, what stands against whom, and what the record tells, the
// last two as the host tells "status" and "explain". Callers hold every answer to
// the grammar of its dialect.
//
// The numbers of the scenarios are those of the public Failover Bench (S), which
// TestFailoverBench plays in each dialect and with the flag -scorecard in real time,
// and of our own list (B). What would take long is played at a fifth of its time,
// scripts and settings alike.
package faults
