// Package doctor looks for what would keep a profile from working on this machine:
// its files, its keys, its plugins, the port, the store, the clock, and other hosts.
// Each finding says how to mend it.
//
// Nothing is started but for what [spillway/host.Check] starts, and nothing is sent
// anywhere unless Options.Online asks for it: then each vendor is asked for its model
// list with each key, which costs nothing. Keys are named by their variables and
// fingerprints; no value is told.
package doctor
