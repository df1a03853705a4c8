// Package auditor reads the log of a board and says what went wrong in it.
//
// It owns the detections, the figures a report is made of, and .orch/audit:
// audit.jsonl, a hash-chained log of its own, and run/offset there, which says
// how far it has read. It promises that what it finds is a function of the log
// and the thresholds: read the log again, from any offset or from none, and the
// same findings come out under the same ids, none twice; that every finding
// names the messages that prove it; that it needs a bounded amount of memory
// however long the log is; and that a damaged log is itself a finding and is
// read on behind the damage.
//
// It never appends to the board's log, never reads state.yaml or the folded
// state, takes no instruction from any message, and stops nothing: a supervisor
// reads audit.jsonl and decides to.
//
// New makes the pure part: Observe and ObserveRecord take messages in, Tick lets
// time pass, Findings and Figures say what came of it. Follow reads a log from
// files. Ledger is audit.jsonl. Resident is all of it, kept up.
package auditor
