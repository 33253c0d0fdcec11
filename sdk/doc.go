// Package sdk is what the author of a spillway plugin imports: the types of one
// hook, llm/stream, and nothing else. It uses the standard library only, so a
// plugin's module graph stays its own.
//
// Every model call of the runtime runs through a chain of listeners, the
// waterfall, and ends at a terminal adapter that talks to a vendor. A listener
// is a [Hook]: it gets the [Call] and a [Next], and returns a [Stream].
//
//   - Passing a call on: return next(ctx, call.Request).
//   - Sending it elsewhere: change Provider and Model of the copy first. The
//     vendor is chosen after the last listener.
//   - Trying again: [Next] is spent by its first use; every further attempt is
//     [Call.Reenter], which runs the whole waterfall again one level deeper, so
//     other plugins see each attempt.
//   - Answering by itself: return a stream made by [Answer] or [Fail].
//   - Changing what is said: return [Map] of the stream.
//
// A stream is a handle. Nothing is sent upstream until it is ranged over,
// awaited with [AwaitVisible], or returned. A handle returned untouched is
// spliced: the host moves the bytes itself and the plugin only hears the
// [Outcome]. That is the difference between microseconds and milliseconds, so
// touch a stream only when its events matter.
//
// What a vendor did wrong is data, not a Go error: a stream ends with a
// [KindFinish] event that carries a [*Failure]. Go errors are for local faults:
// a handle used twice, a host that is gone.
//
// Package spillway/sdk/serve turns a [Plugin] into a process, and package
// spillway/sdk/plugintest tests one without a host.
package sdk
