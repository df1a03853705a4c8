// Package code holds the rules of the coding profile that need no board, no
// disk and no model: the gates a draft passes before anybody works on it, when
// a block or a rescope is specific enough, what code puts into a verdict, what
// a coding task came to, and the figures of a sprint.
//
// It promises that everything here is a pure function of its arguments: the
// same draft misses the same gates on every machine.
//
// It never appends, starts, reads or waits, and never decides what happens
// next: that is the fold's, activation's and the controller's. What it calls
// vague it can show; what it lets pass may still be wrong, which is for the
// reviewer to say.
package code
