// Package story turns stored facts into text that people read: the story of a
// request ([Request], for "spillway explain" and the demo), the one line shown
// when a request is switched ([Notice]), the state of a host ([Status]), why an
// answer is taken for what it is ([Judge], for "spillway classify"), tool calls and
// conversations ([Calls], [Sessions]), and what an agent says to the person it works
// for ([Talk], for "spillway run" and "chat").
//
// It knows nothing but what it is given: a record.Request, a [StatusView], a
// [Judgement]. It opens no store, reads no clock when Options.Now is set, and
// asks no vendor. What follows from a failure is the failover plugin's business;
// outlook.go has its defaults as one table, which a test holds against the
// plugin.
//
// Order of things: wording is looked up (verdict.go for failures, rule.go and
// phrase.go for what decided, reason.go for the plugin's words, judged_words.go and
// talk_words.go for what Judge and Talk say, acts.go for the agent's tools, english.go
// and chinese.go for the rest), laid out as lines of styled text (page.go), and
// painted once. Talk gives lines without a style.
//
// Vendors' messages, model names and errors are strangers' text. Every piece of
// text becomes a span through the function text, or stands in a line through Line,
// which drop control and formatting characters and escape sequences, so none reaches
// a terminal. In
// vendors' messages what looks like an API key is masked as well.
//
// A code, rule or reason without an entry in the tables is shown as it is. The
// only errors are those of the writer.
package story
