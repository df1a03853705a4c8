// Package view owns .orch/state.yaml: how the board looks to people.
//
// It renders a state as YAML, keeps the file fresh, takes a person's edit of
// it in as one message, and shows the difference between two of them.
//
// What it promises:
//
//   - Render is a function of the state and the options: same state, same
//     bytes. The file states the seq and the head it is true of, and ends in a
//     checksum over everything before, so that a file nobody touched can be
//     told from one that somebody saved.
//   - A diff shows decisions. Tasks stand under their slots, with what was
//     decided of them first; those of the last goal that are done stay, in
//     short. What changes all the time (seq, head, counters, agents, leases) is
//     in one section, bookkeeping, at the end.
//   - A view of an older form is rendered anew, which Freshness tells.
//   - The file is replaced as a whole, never goes back to an older seq, and is
//     never replaced over bytes that nobody has looked at: what was displaced
//     is examined, and an edit found there is taken in like any other.
//   - An edit becomes one HumanEdit message with just the difference, or is
//     refused with a reason and kept as state.yaml.rejected-<time>. Nothing a
//     person wrote is thrown away: bytes that cannot be taken in are kept.
//
// What it never does: it is not read to load a board, and it holds no truth of
// its own (delete it and it comes back byte for byte).
//
// # Duties of the caller
//
//  1. Offer the state to a Keeper whenever it advanced, and again at the time
//     Offer returns.
//  2. Flush before the process ends, after its last append.
//  3. Call Import when Offer, Flush or a look at the directory say that there
//     is an edit, unless edits have to wait for a person's consent; until then
//     the file is left as the person saved it. The board handed to Import may
//     speak as human.
//  4. Print and log what Import refuses; Result.Refusal is the message.
//
// # Files
//
// All are in .orch; only the first is for people.
//
//	state.yaml               the view
//	state.yaml.rejected-<ts> an edit that was refused
//	state.yaml.new           a view that is being written; worthless after a crash
//	state.yaml.swap          what a replacement displaced, until it has been examined
//	cache/view               which program made the view; a cache
//	run/view.lock            held by who keeps the view fresh: others need not write
//	run/view-write.lock      held while the files are changed
package view
