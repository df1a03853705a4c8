// Package emptied takes changed functions out of a program, one at a time, so that
// its tests can show that they notice.
//
// A runner's word that tests passed is worth nothing while the code under test
// could make it say so. What can not be faked from inside is that a test fails
// when the function it is about does nothing: the same command is run on the same
// tree, once whole and once with the function empty, and must end differently.
//
// It promises that an emptied function is a function of the same kind that returns
// zero values at once: what it used stays used, so nothing else has to be mended
// for the program to compile. In languages whose functions it does not know it
// takes a changed run of lines back instead, which may well not compile; that says
// nothing. It also finds code that asks whether it is tested, reads its own
// program, or ends the process when it starts.
//
// It reads and writes no file and runs nothing.
package emptied
