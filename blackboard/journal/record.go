package journal

import (
	"context"
	"encoding/json"
	"iter"
	"time"
)

// Record is one line of the log: the envelope, with the payload uninterpreted.
type Record struct {
	Seq     uint64          // position in the log, from 1, without gaps
	TS      time.Time       // UTC, never decreasing along the log
	ID      string          // UUIDv7
	From    string          // who says it
	To      string          // to whom
	Type    string          // what kind of message this is; the journal never looks
	Goal    string          // the goal it belongs to, or empty
	Subject string          // what it is about, or empty
	Cause   string          // ID of the record this one answers, or empty
	Agent   string          // the identity that wrote it, or empty
	Fence   uint64          // fence of the claim it was written under, or 0
	Door    string          // the way it came; empty, and then not in the line, in older records
	Payload json.RawMessage // compact JSON
	Synced  uint64          // highest Seq the writer knew durable when it wrote this
	Prev    string          // Hash of the record before; 64 zeros for the first
	Hash    string          // SHA-256, lower-case hex, of the line before `,"hash":`
}

// Head is the position of r in its log.
func (r Record) Head() Head { return Head{Seq: r.Seq, Hash: r.Hash} }

// Draft is what a writer may say about a record. Seq, Synced, Prev and Hash are
// the journal's; an empty ID is filled in, and a zero TS too. A TS is moved on
// to that of the record before if it is earlier. A nil Payload is written as null.
type Draft struct {
	TS                                              time.Time
	ID, From, To, Type, Goal, Subject, Cause, Agent string
	Fence                                           uint64
	Door                                            string
	Payload                                         json.RawMessage
}

// Head names a record and, through the chain, everything before it. The zero
// Head stands for "nothing yet".
type Head struct {
	Seq  uint64
	Hash string
}

// Log is what a board is built on. Journal implements it with files; a stream
// with expected-sequence appends could too. Nothing above it knows about files.
type Log interface {
	// Append adds d unless under, called on the caught-up log with every other
	// writer shut out, returns an error; that error is returned as it is and the
	// log is untouched. A nil under is no condition. It returns once the record
	// is durable. An UnacknowledgedError means: written, perhaps not durable.
	Append(ctx context.Context, d Draft, under func(Tail) error) (Record, error)
	// AppendFunc is Append for a draft that depends on the caught-up log.
	AppendFunc(ctx context.Context, draft func(Tail) (Draft, error)) (Record, error)
	// Read yields the records with Seq >= from that are there now, without any
	// lock; 0 means from the oldest still kept. After an error it yields no more.
	Read(from uint64) iter.Seq2[Record, error]
	// Watch is Read that goes on: it yields records as they land, none skipped
	// and none twice, and returns when ctx is done.
	Watch(ctx context.Context, from uint64) iter.Seq2[Record, error]
	// Barrier returns once everything up to seq is durable; it costs nothing if
	// that is known already.
	Barrier(ctx context.Context, seq uint64) error
	// Head returns the last whole record, whether durable or not.
	Head() (Head, error)
	// Close releases files. It does not sync: what was acknowledged is durable.
	Close() error
}

// Tail is the log as seen from inside an append: nobody can add to it while the
// function it was given to runs. It must not be kept, and that function must
// not call the journal.
type Tail interface {
	Head() Head
	// Now is a TS for the next record that will be kept as it is.
	Now() time.Time
	// Segment is the name under archive/ that the live file gets if it is
	// closed now.
	Segment() string
	// Since yields the records after seq, up to Head.
	Since(seq uint64) iter.Seq2[Record, error]
}
