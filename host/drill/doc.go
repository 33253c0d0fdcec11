// Package drill rehearses failures of a profile: it runs the profile as it is,
// with its own entries, plugins, lists and settings, against simulated vendors on
// loopback, makes each route fail in each way of a catalogue ([Scenarios]), and
// tells what a user would have seen.
//
// The order of things: the profile is checked ([spillway/host.Check]); the plugins
// are asked, by failing everybody, who stands in for whom (a [Line]); then each
// route of the lines fails in each way, every play with a runtime, vendors and a
// memory of its own, several plays at a time.
//
// Which answer is right follows from the profile. With somebody left who may
// answer, the request must be answered, whole and by one vendor; with nobody, it
// must end in one clean error, soon. A request's own fault must not be repeated. A
// stream that breaks after content must not look complete. What cannot work
// whatever happens, a route that names nobody or that nobody may choose, is Broken
// and counts as failed.
//
// In a rehearsal nothing leaves this machine: see [spillway/host.Rehearsal]. Plugins other than
// failover run too, and what they send is their own business.
//
// Limits on silence, and waits, are cut by Options.Faster and by nothing else, so
// that what takes a minute in earnest is seen in seconds.
//
// [Live] and [Eval] ask the real vendors, with the profile's providers and nothing
// else of it: whether each route would serve at all, and how well it does the tasks of
// a file. What Eval finds is kept where the failover plugin reads it
// ([spillway/sdk.Measurement]); prompts and answers are not kept.
package drill
