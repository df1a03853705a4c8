// Package memory is what the system has learned: an index of the log that
// answers what is known about a pair, and the Dreamer that makes rules of what
// recurs and forgets what has faded.
//
// It owns the store in .orch/memory. The log is the truth: Megrams, facts,
// feedback, recalls, what a person forgets and what the Dreamer did are
// messages, and Apply is the only way into the store. Rebuild makes the same
// store again from the same messages.
//
// Duties of the caller:
//
//  1. CatchUp, or Apply, is given every message of the log in order, as read from
//     it; those that say nothing about memory are passed over. It may be given a
//     message twice.
//  2. A *CorruptError, from anywhere, means: close the store and Rebuild.
//  3. What Dream says is appended to the log and applied before the function
//     that it is said to returns.
//  4. One process opens a store at a time; a second gets a *HeldError.
//
// It promises that nothing is mutated but the index (which rule a Megram became
// part of, when a rule was recalled, whether it still is one); that a scan of one
// pair never returns another's entries; that a query makes no model call and
// does not wait for the Dreamer; and that a crash anywhere leaves a store
// that is behind the log at worst. It never appends to the log itself.
//
// # Keys
//
// Components are escaped (% and :), so none contains the separator.
//
//	megram:<id>                            the Megram as JSON; never changed
//	idx:<space>:<entity>:<id>              its weights; only while it counts
//	lvl:<level>:<id>                       "", only while it counts; not for M, the rest
//	tag:<tag>:<class>:<ts>:<id>            "", only while it counts; class is r for C and T, m for others
//	time:<ts>:<id>                         ""
//	done:<id>                              the rule it became part of, and its weights
//	recall:<id>                            when a query last returned the rule
//	meta:at                                seq and hash of the last message indexed
//	meta:format                            version of this layout
//
// <ts> is the time of creation in nanoseconds, so that the newest are found
// without reading all.
package memory
