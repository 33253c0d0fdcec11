// Package host is the runtime as a library: it turns a profile into a running
// graph of providers, plugins and the waterfall, and makes model calls.
//
// A [Graph] is immutable: what is running. [Open] reads the profile, opens the
// store, starts what the profile names, and returns a [Runtime]; an entry that
// cannot start fails alone and is listed with its reason. A call ends on the
// graph it began on. [Runtime.Reload], which a change of the profile's files calls
// if asked to, starts what is new, puts the next graph in force and then drains
// what only the last one had. [Runtime.Close] drains plugins and stops them.
//
// Volatile fields are listed by [Runtime.Settings] and saved by
// [Runtime.SaveSettings]: into the profile's patch, by way of the same reload, and
// back to the old text if an entry does not want them.
//
// Commands and servers stand on top of this package (host/cli, host/gateway);
// it knows neither.
package host
