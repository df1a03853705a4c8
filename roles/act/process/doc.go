// Package process runs one external command bounded and clean.
//
// It owns everything between "start this" and "nothing of it is left": the
// command's session, its limits (wall clock, silence, output), the way it is
// ended (SIGTERM to the group, a grace, SIGKILL) and the hunt for whatever
// escaped from its group.
//
// It promises that Run returns, within the limits plus the grace plus a few
// seconds, whatever the command does: ignoring SIGTERM, flooding its output,
// leaving a grandchild that holds the output pipe, or calling setsid. Those who
// take the output (Full, Stdout, Stderr, OnOutput) get all that was written
// before its end, for which they may have half a minute more; the one that has
// not returned by then is left alone with it.
//
// It never interprets output, never retries, and never kills a process of
// which it has not just checked the start time.
//
// # How survivors are found
//
// In this order, each covering what the one before may miss:
//
//   - the process group and the session of the command;
//   - descendants of the command, seen while it lives;
//   - a cgroup (version 2) of its own, where one may be made;
//   - the marker: ORCH_MARKER in the environment of every descendant that did
//     not clear it;
//   - a guard (Spec.Guard): a small parent of the command that is a child
//     subreaper, so that everything orphaned below it comes back to it, and
//     that ends it all when the process holding its lifeline dies, even by
//     SIGKILL.
//
// Without a cgroup and without a guard, a process that forks twice, calls
// setsid and clears its environment escapes. With either it does not.
//
// # Systems
//
// Linux has all of the above. macOS has groups, sessions, descendants and
// markers, and a guard that is no subreaper. Windows ends the process tree
// with taskkill, has no grace, no marker sweep and no guard, and drops what of
// the output has not been taken two seconds after the end.
package process
