// Package runner sees the tests of a judged run, whatever command is configured.
//
// It owns the channel between a judged command and orch: a folder that shims of
// test runners and orch's reporters within them write to. A shim is this program
// under a runner's name, first on the PATH of the command. It starts the real
// runner so that it also says what it did in a form that can be read, prints what
// the runner would have printed by itself, and ends with its exit code. Python is
// reached through its path of modules instead, whatever starts it.
//
// It promises that a command runs as it would without: where a runner is called
// in a way that is not known, it is called just so, and is not seen. Tests that
// start a runner themselves are not seen either: what is below a runner has
// neither shims nor channel.
//
// What is read from the channel is the word of the judged process, which can
// write there what it likes. Package ledger says what that is good for.
package runner
