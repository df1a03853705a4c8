// Package exec drives one agent program, or any command, for one prompt: it
// starts it, follows its output, and says what came of it.
//
// It promises that Run returns within the wall limit plus what package process
// allows for an end, whatever the program does, that nothing it started is left
// (its own session, the guard and the marker see to that), that a run counts as
// done only by the program's terminal event, and that every failure is a
// *model.Error that says whether waiting would help.
//
// It never retries, never resumes a session and never judges an answer.
package exec
