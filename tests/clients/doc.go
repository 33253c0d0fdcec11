// Package clients tests that real clients get whole answers through "spillway
// serve" although vendors fail: the official SDKs of all dialects in Go (module
// gosdk) and JavaScript (folder npm), pinned there. Vendors are simulated; all
// else is the program as users have it.
package clients
