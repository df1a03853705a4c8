// Package gate decides whether a shell command or a file write may happen
// without asking a person.
//
// Three things need a yes: deleting, overwriting what the goal did not create,
// and changing what is outside the workspace. The gate reads the command as
// the shell would (syntax tree, wrappers, substitutions, loops, functions,
// variables it can follow) and refuses what it can not follow where that
// matters: as the program, as the victim of a deletion, as the target of a
// write. Each refusal names a Rule that, once allowed, lets the call pass.
//
// It is a pure function of the command, the rules and the Facts it is given.
// It never runs anything, never panics, and always ends: input size, nesting
// and the number of possible values are bounded, and what exceeds a bound
// needs permission.
//
// # What it is not
//
// It judges what a command says, not what a program does: `make`, `go test` or
// a script of the project run unread. The confinement of the process is the
// boundary; the gate keeps honest mistakes from costing a person their work.
package gate
