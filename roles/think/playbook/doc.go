// Package playbook is the backend that thinks with a file: a plan with
// alternatives, written once by a person, run with feedback.
//
// It owns the playbook format, the matching of an intent to a playbook, and the
// choice of an approach for every slot of the plan under what the controller
// and the memory say. It promises that equal inputs give equal plans, that a
// plan never contains a pair the constraints forbid, and that a task carries
// everything its executor needs. It never judges: success criteria are checks,
// run by others. It never touches the board, and it acts only through
// [orch/roles/think.Tools].
//
// The format is documented in docs/playbooks.md.
package playbook
