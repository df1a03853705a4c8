// Package ledger knows tests by name: which ran in a judged run, with what
// result, and what became of those that passed at the base.
//
// It owns the reading of what runners say (go test -json, cargo test, TAP, JUnit
// XML, and the lines that orch's own reporters write for pytest, unittest, node,
// jest and vitest) and the comparison of two ledgers.
//
// It promises that a ledger is the same whatever order the tests ran in, and that
// a test which ran twice in one run has passed only if it never failed. It reads
// and writes no file and runs nothing.
//
// A ledger is the runner's word: the process that writes it also holds the code
// that is judged, which can make it say anything. It shows what honest work did
// to the tests. That the tests still notice the code is for emptying to prove.
package ledger
