// Package tools has the built-in tools of the agent, one constructor for each module
// of a profile: [Files], [Shell] and [Fetch]. Each takes its row's configuration,
// which the host has validated, and returns tools for one working folder.
//
// # What is promised
//
// Files are reached through os.Root alone: no path leaves the working folder,
// neither by "..", nor as an absolute path, nor through a symbolic link, nor because
// somebody exchanges one in the meantime. The files of the profile that the agent runs
// with are closed. Files are replaced whole or not at all.
//
// Commands of the shell may do what the user may: they are held back by the question
// that precedes them ([tool.Confirmer]), not by a sandbox. They see few variables of
// the environment, none that holds a vendor's key unless the row names it, and have a
// time limit.
//
// Pages are fetched from listed hosts only, which is looked at again for each
// redirect and each address that a name stands for.
//
// # How they fail
//
// What a model can put right is a Result with Error that says how: a path that is not
// there and the nearest that is, a text that occurs twice and in which lines. A
// command that was stopped, because of its time limit or because the agent is, has a
// known end, too: its processes are dead by then, but for those that have left their
// group. An agent that is killed leaves its commands running; what became of them is
// unknown then.
//
// Inputs are objects with known members; what is returned is bounded, and says what
// was left out.
package tools
