// Package agent is the turn loop: it asks a model, runs the tools that the model
// calls, tells it the results, and so on until an answer calls none.
//
// # The order of things
//
// What happened is on the disk before anything follows from it:
//
//	the user's message, with an id          session
//	a model call
//	its answer, complete and accepted       session
//	the answer's tool calls as planned      ledger
//	each call: started, then its outcome    ledger
//	each result                             session
//	the next model call
//
// So a process that is killed anywhere goes on exactly there ([Agent.Go]): an
// answer that was accepted is not asked for again, a call that is over gives its
// recorded result, and one of which nobody knows whether it happened ends the loop
// until a person has decided ([UndecidedError]).
//
// Calls that only read and follow each other run at the same time; whatever
// changes something runs alone, in the order of the answer.
//
// # When an answer breaks
//
// An answer that breaks off after something of it was shown is withdrawn: that is
// told, nothing of it enters the history, none of its tool calls was run, and the
// model is asked again, at most [maxRestarts] times for one answer. To the user
// that is better than to have another model go on in mid-sentence: the history
// holds whole answers of one author each, and a half tool call needs no repair. A
// profile whose failover plugin says "stream: resume" goes on where text broke,
// before this package hears of it.
//
// # When nobody can serve
//
// The waterfall has tried every vendor by then. The agent waits as long as it was
// told, else up to 1, 2, 4, 8 s (full jitter), and asks again. All waits that follow
// one message of the user have one budget, which nested agents share through the
// context. What a repetition does not help, or what would take longer than a
// minute, is an error at once ([host.Retry]).
//
// # When the conversation is too long
//
// The failover plugin knows which models have a larger window and asks them
// first. If none takes it, the agent has older turns summed up by a model call,
// says so, and asks again. The session keeps every word.
//
// # Nested agents
//
// The tool task starts an agent with a conversation and a session of its own, on
// the same runtime, so the same hook serves it, and a vendor's failure is charged
// to the vendor. Its session and the keys of its tool calls are derived from the
// key of the parent's call. That is why the tool is idempotent: a call that is
// repeated finds the nested session where it stopped, and repeats no write.
//
// # Who owns what
//
// An [Agent] is used by one goroutine at a time. It owns neither session nor
// ledger nor tools: whoever opened them closes them. Functions in [Options] are
// called from the goroutine that runs the agent, but for Tell and Confirm, which
// parallel tools may call, one at a time.
package agent
