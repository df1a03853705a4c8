// Command orch lets autonomous work run unattended in a project directory,
// converge or stop honestly, and leave a record of every message.
//
// This package wires: flags, output and exit codes. What the program does
// lives in blackboard and roles.
package main

import (
	"os"
	"runtime/debug"
	"sync"

	"orch/roles/act/runner"
)

// gcPercent suits a program whose processes are many, short and small: a
// collection costs more than the memory it gives back.
const gcPercent = 400

// collectLess is for processes that open a board. To set it stops the world,
// which for others costs more than any collection would.
var collectLess = sync.OnceFunc(func() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
})

func main() {
	if runner.Called(os.Args[0]) { // under the name of a test runner, in a judged run
		os.Exit(runner.Main(os.Args[0], os.Args[1:]))
	}
	os.Exit(Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
