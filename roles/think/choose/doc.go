// Package choose decides what each role thinks and acts with: from the
// configuration, from what was found on the machine where nothing is
// configured, and from a playbook otherwise. It also stands between a role and
// its models while a step runs: it counts what they cost, lets a fallback take
// over, and stops a step that cannot go on for now.
//
// It promises that the choice is a function of what it is given, that a cost
// that is not known is never counted as nothing without saying so, and that a
// limit of an account never becomes an attempt, a crash or a verdict.
//
// It never reads the environment or the network, never touches the board, and
// holds no key: it knows the names of the variables that do.
package choose
