// Package loop says what a role is: what activates it, what it reads, what it
// may say, and how well it must think. It also says what a supervisor has to
// tidy up.
//
// It owns the table of contracts, the activation rules, the derivation of what
// a plan must not do, and nothing that acts. Everything here is a pure function
// of the board's state and of what is passed in: the same state gives the same
// answer, in the same order, on every machine.
//
// It promises that nothing spins: an activation that did its job is never due
// again, one that fails without effect is due only so many times, and what is
// then left over is shown to a person.
//
// It never appends, starts, waits, or looks at the clock.
package loop
