// Package cli knows agent programs that run without a person: how each is
// called, what its events mean, when it is done, and what it says when an
// account is used up.
//
// It owns the vocabulary of an agent's run (Task, Event, Result) and the table
// of presets. It promises that no line of an agent's output, however long,
// malformed or unknown, makes it panic or grow without bound, and that nothing
// counts as done before the agent's terminal event said so: an exit code of 0
// means nothing with these programs.
//
// It starts no process and reads no clock; exec and acp do.
package cli
