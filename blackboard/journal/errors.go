package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"orch/blackboard/plainfile"
)

var (
	// ErrPoisoned: a sync failed, or a half-written line could not be undone.
	// Nothing is appended until Repair.
	ErrPoisoned = errors.New("the log is closed to writers after a failed write")
	// ErrNoLog: there is no log in the directory.
	ErrNoLog = errors.New("there is no log here")
	// ErrExists: Create found a log.
	ErrExists = errors.New("there is a log here already")
	// ErrClosed: the Journal was closed.
	ErrClosed = errors.New("the journal is closed")
)

// What leads out of damage. Whoever is told one of them gets on by typing it.
const (
	hintRepair = "run `orch board repair`: it loses nothing, and says so where it can not help"
	hintCopy   = "run `orch board restore --from COPY`, with COPY a backup of .orch or of its log"
)

// PoisonedError says why appends are refused; it is ErrPoisoned.
type PoisonedError struct{ Reason string }

func (e *PoisonedError) Error() string        { return ErrPoisoned.Error() + ": " + e.Reason }
func (e *PoisonedError) Is(target error) bool { return target == ErrPoisoned }

// Hint says what a person can do.
func (e *PoisonedError) Hint() string { return "check the disk; then run `orch board repair`" }

// CorruptError names a line that was durable once and is not intact now.
type CorruptError struct {
	Path   string
	Line   int   // from 1, in that file; 0 if it could not be counted
	Offset int64 // of the line's first byte
	Why    string
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("%s is corrupt at line %d (byte %d): %s", e.Path, e.Line, e.Offset, e.Why)
}

// Hint says what a person can do.
func (e *CorruptError) Hint() string { return hintRepair }

// WentBackwardsError: the log lacks a record that is known to have been durable,
// or has another one in its place.
type WentBackwardsError struct {
	Source string // what remembers: a file, or "this process"
	Noted  Head
	Found  Head // the log's record at Noted.Seq, or its last one
}

func (e *WentBackwardsError) Error() string {
	if e.Found.Seq < e.Noted.Seq {
		return fmt.Sprintf("the log went backwards: %s remembers message %d, the log ends at %d", e.Source, e.Noted.Seq, e.Found.Seq)
	}
	return fmt.Sprintf("the log was replaced: message %d is not the one %s remembers", e.Noted.Seq, e.Source)
}

// Hint says what a person can do.
func (e *WentBackwardsError) Hint() string { return hintCopy }

// OtherBoardError: a head note is about another board than this one.
type OtherBoardError struct{ Path, Noted, Board string }

func (e *OtherBoardError) Error() string {
	return fmt.Sprintf("%s is about board %s, this is board %s", e.Path, e.Noted, e.Board)
}

// Hint says what a person can do.
func (e *OtherBoardError) Hint() string { return hintCopy }

// LockTimeoutError: another process kept a lock for too long.
type LockTimeoutError struct {
	Path   string
	Waited time.Duration
}

func (e *LockTimeoutError) Error() string {
	return fmt.Sprintf("no turn at %s after %s: another process holds it", e.Path, e.Waited)
}

// Hint says what a person can do.
func (e *LockTimeoutError) Hint() string {
	return "a stopped or very slow orch process may hold it; find it with `fuser " + e.Path + "`"
}

// NetworkFSError: advisory locks and syncs cannot be relied on there.
type NetworkFSError struct{ Path, Kind string }

func (e *NetworkFSError) Error() string {
	return fmt.Sprintf("%s is on a %s file system, where locks and syncs cannot be relied on", e.Path, e.Kind)
}

// Hint says what a person can do.
func (e *NetworkFSError) Hint() string { return "move the project to a local disk, or use --unsafe-fs" }

// UnacknowledgedError: the record was written, but it is not known whether it is
// durable. It may or may not be there after a power cut; look before retrying.
type UnacknowledgedError struct {
	Record Record
	Err    error
}

func (e *UnacknowledgedError) Error() string {
	return fmt.Sprintf("message %d was written but not acknowledged: %v", e.Record.Seq, e.Err)
}
func (e *UnacknowledgedError) Unwrap() error { return e.Err }

// Hint is that of the cause.
func (e *UnacknowledgedError) Hint() string { return hintOf(e.Err) }

// MissingError: these records are not kept any more.
type MissingError struct{ Seq uint64 }

func (e *MissingError) Error() string {
	return fmt.Sprintf("message %d is in no segment that is still kept", e.Seq)
}

// Hint says what a person can do.
func (e *MissingError) Hint() string { return hintRepair }

// DraftError: the draft cannot become a line.
type DraftError struct{ Field, Why string }

func (e *DraftError) Error() string {
	return fmt.Sprintf("cannot write message: %s %s", e.Field, e.Why)
}

// TooLongError: the line would exceed MaxLineBytes.
type TooLongError struct{ Bytes int }

func (e *TooLongError) Error() string {
	return fmt.Sprintf("message of %d bytes exceeds the %d a line may have", e.Bytes, MaxLineBytes)
}

// Hint says what a caller can do.
func (e *TooLongError) Hint() string { return "store the payload as a file and send its SHA-256" }

// Fault is the kind of a StorageError.
type Fault string

// The faults a person can tell apart.
const (
	DiskFull   Fault = "the disk is full"
	ReadOnly   Fault = "the file system is read-only"
	Permission Fault = "permission denied"
	IOFault    Fault = "input/output error"
	OtherFault Fault = "the system refused"
)

// StorageError: the system refused an operation; what it was part of did not
// happen, unless the error says otherwise.
type StorageError struct {
	Op   string // what was being done, as "append a message"
	Path string
	Kind Fault
	Err  error
}

func (e *StorageError) Error() string {
	var not *plainfile.NotFileError
	if errors.As(e.Err, &not) {
		return fmt.Sprintf("%s: %v", e.Op, not)
	}
	return fmt.Sprintf("%s in %s: %s: %v", e.Op, e.Path, e.Kind, e.Err)
}
func (e *StorageError) Unwrap() error { return e.Err }

// Hint says what a person can do.
func (e *StorageError) Hint() string {
	switch e.Kind {
	case DiskFull:
		return "free some space (`orch board gc` helps) and try again, with `orch run --continue` if it was a run; nothing was lost"
	case ReadOnly:
		return "remount the file system writable, or work on a copy"
	case Permission:
		return "run `chmod -R u+rwX " + shellQuote(filepath.Dir(e.Path)) + "`, as the user who owns it"
	case IOFault:
		return "check the disk (`dmesg`); then run `orch board verify`"
	}
	if plainfile.NoFile(e.Err) {
		return hintRepair
	}
	return ""
}

// shellQuote makes one word of a path for a shell.
func shellQuote(path string) string {
	if !strings.ContainsAny(path, " \t\n'\"\\$`!*?[](){}<>|&;#~") {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// storageError wraps err with what was being done; nil stays nil.
func storageError(op, path string, err error) error {
	if err == nil {
		return nil
	}
	return &StorageError{Op: op, Path: path, Kind: faultOf(err), Err: err}
}

// FaultOf tells what kind of fault of the storage an error is or wraps, whoever
// met it; OtherFault if the system had nothing against it that a person can tell apart.
func FaultOf(err error) Fault {
	var s *StorageError
	if errors.As(err, &s) {
		return s.Kind
	}
	return faultOf(err)
}

func faultOf(err error) Fault {
	switch {
	case isDiskFull(err):
		return DiskFull
	case isReadOnly(err):
		return ReadOnly
	case errors.Is(err, fs.ErrPermission):
		return Permission
	case isIOFault(err):
		return IOFault
	}
	return OtherFault
}

func hintOf(err error) string {
	var h interface{ Hint() string }
	if errors.As(err, &h) {
		return h.Hint()
	}
	return ""
}
