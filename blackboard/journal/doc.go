// Package journal keeps the log of a board: one message a line, in files that any
// number of processes append to at once.
//
// It owns log.jsonl, log.next, orch.lock, archive/log-* and archive/torn-*, and
// run/head and run/poisoned, in the board's directory. It promises that what
// Append acknowledged is there after any crash, in order, without gaps, each line
// chained to the one before; that readers and watchers see each message once; and
// that damage is refused with a line number, never passed over. It never looks at
// payloads, types or roles, never deletes a message, and never appends to a log
// that it has not checked.
//
// Use Create or Open, then Append, Read, Watch and Barrier. Log is the part that
// something else than files could implement.
//
// # Format
//
// A log is UTF-8. Every line is one JSON object without white space and ends in
// "\n"; it is at most 1 MiB long. The fields are always there, in this order:
//
//	seq      number  1 for the first line of a board, then without gaps
//	ts       string  UTC, YYYY-MM-DDThh:mm:ss.nnnnnnnnnZ; never less than before
//	id       string  UUIDv7, unless the writer gave one
//	from, to, type, goal, subject, cause, agent
//	         string  "" if there is none
//	fence    number
//	payload  any     compact JSON; null if there is none
//	synced   number  the highest seq its writer knew durable
//	prev     string  hash of the line before; 64 zeros for the first
//	hash     string  SHA-256, lower-case hex, of the line's bytes before `,"hash":`
//
// The first line of log.jsonl is durable before the file gets its name. A closed
// segment is archive/log-FIRST-LAST.jsonl, the seqs in at least 12 digits. After an
// interrupted rotation the live file may have such a name too, which counts for
// nothing. archive/torn-TIME holds bytes that a recovery cut off.
//
// run/head has 16 notes of a durable seq and its hash, each with a checksum; the
// highest counts. run/poisoned says in words why the log is closed to writers.
// Both may be lost without harm to the log.
//
// # Appending
//
// A writer takes orch.lock; looks for run/poisoned; compares the inode of its file
// with the one that has the name, since somebody may have rotated; reads what was
// added and checks it; asks the condition; writes the line with one write; lets go
// of the lock; syncs; looks for run/poisoned once more; notes the head; and then
// acknowledges. Syncs of different processes overlap and the system merges them;
// goroutines of one process wait for a sync that covers them.
//
// # What a bad line means
//
// A line is bad if it is cut off, its hash does not fit, or it does not follow the
// one before. If run/head, or a later line that is good in itself, says that this
// seq was durable, the log is corrupt and everything stops with the line number.
// The same holds for any bad line in a closed segment, and for the first of a live
// one. Otherwise nobody was promised that line or any after it: the next writer
// copies them to archive/torn-TIME, cuts them off, and appends the message that
// Options.Repaired makes. Readers stop before such a line and wait.
//
// Opening reads the end of the log only, back to a line known durable. What is
// before that is checked when it is read, and by Verify.
//
// # Assumptions about the disk
//
//   - When fsync of a file returns nil, its bytes and size survive a power cut; when
//     fsync of a directory returns nil, its names do.
//   - Before that, any part of an unsynced write may be there or not, in any order,
//     and so may any unsynced name; a rename within a directory is atomic.
//   - A process that has the file open when a sync fails hears of it from its own
//     next sync. After that nothing is known of the pages, so no sync is tried twice.
//   - Durable bytes do not change by themselves. If they do, the hashes tell.
//   - Advisory locks work between processes, which is why network file systems are
//     refused, and a lock ends with its holder.
//
// # Crash safety
//
//	append    before the write: nothing happened. After it, before the
//	          acknowledgement: the line may be there, whole, or be cut off.
//	rotate    the old file is synced; log.next is written and synced; the old file
//	          gets its name in archive/, and that is synced; log.next is renamed; the
//	          directory is synced. Before the rename the old file is live, after it
//	          the new one. Who appends next after a crash in between syncs the
//	          directory first, since run/head does not know the new file.
//	recovery  the torn bytes are copied and synced before they are cut off. A crash
//	          after the cut loses the report, not the bytes.
//	repair    run/poisoned stays until the copy has the name and that is durable. A
//	          crash before means repairing again.
//	restore   what is replaced gets a second name in archive/replaced-TIME, which is
//	          synced; log.next is written, synced and renamed; then closed segments
//	          whose records it has are moved. Restoring again completes it.
//	create    log.next is synced before the rename; before it there is no log.
//
// # Limitations
//
//   - Without run/head, a log cut exactly between two lines by somebody else, or
//     whose last line was damaged, is one line shorter after recovery; the second is
//     reported. A head note elsewhere (UseHeadNote) closes that gap up to its age.
//   - A head noted by two processes 16 seqs apart at the same moment may be replaced
//     by the older one. It is a witness, not the truth.
//   - If a process dies between the failure of a sync and writing run/poisoned, and
//     another opens the file in just that moment, the other may acknowledge a message
//     behind one that is lost. A power cut then shows as corruption, not as silence.
//   - A holder of orch.lock that is stopped stops all writers, until their deadline.
//   - On Windows directories cannot be synced, a log that others have open cannot be
//     rotated or repaired, and network drives are not recognised; elsewhere but on
//     Linux, macOS and Windows, network file systems are not recognised either.
//   - Hard links are needed for rotation to be cheap; without them it copies.
//
// # Duties of the caller
//
//  1. Write Genesis by Create, check its format when opening, refuse a newer one.
//  2. Call Barrier before any effect outside the log.
//  3. Keep conditions short, and call nothing of the Journal in them but the Tail.
//  4. Make the checkpoint that a rotation names durable before naming it.
//  5. Call Rotate now and then; the journal never rotates by itself.
//  6. Give Options.Repaired, so that a recovery is told.
//  7. Take an UnacknowledgedError for "perhaps": look at the log before trying again.
//  8. Do not remove a segment that somebody may still read; Read says MissingError.
//  9. After Restore, replace the head notes that are elsewhere.
//  10. Keep secrets out of drafts: nothing can be taken back.
package journal
