// Package plugintest tests a plugin without a host: the plugin runs in the test's
// own process, but every decision crosses the real wire of package serve, so
// what passes here behaves the same as a process of its own.
//
// [Start] gives a [Host] with a scripted [Upstream] in the place of the vendors;
// [Host.Call] runs one model call through the plugin. [Conformance] is a suite
// that every plugin should pass.
package plugintest
