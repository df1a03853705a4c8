package memory

import (
	"errors"
	"fmt"

	ldberrors "github.com/syndtr/goleveldb/leveldb/errors"
)

// HeldError: another process has the store.
type HeldError struct{ Dir string }

func (e *HeldError) Error() string { return fmt.Sprintf("the memory in %s is in use", e.Dir) }

// Hint says what a person can do.
func (*HeldError) Hint() string {
	return "the memory resident of a running `orch run` has it, or another `orch memory`; try again, or wait for it"
}

// CorruptError: the store is not what it should be. Close it and Rebuild.
type CorruptError struct {
	Dir string
	Err error
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("the memory in %s is damaged: %v", e.Dir, e.Err)
}

func (e *CorruptError) Unwrap() error { return e.Err }

// Hint says what a person can do.
func (*CorruptError) Hint() string {
	return "run `orch memory rebuild`: it makes the memory again from the log"
}

// GapError: the messages given to Apply do not follow what is indexed.
type GapError struct{ At, Got uint64 }

func (e *GapError) Error() string {
	return fmt.Sprintf("message %d does not follow %d, the last that is indexed", e.Got, e.At)
}

// ErrUnknown: there is no memory of that id.
var ErrUnknown = errors.New("there is no such memory")

// damage wraps what reading or writing the store returned.
func (s *Store) damage(doing string, err error) error {
	if err == nil {
		return nil
	}
	var corrupt *CorruptError
	if errors.As(err, &corrupt) {
		return err
	}
	if ldberrors.IsCorrupted(err) {
		return &CorruptError{Dir: s.dir, Err: fmt.Errorf("%s: %w", doing, err)}
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// wrong is a store whose content does not make sense.
func (s *Store) wrong(format string, args ...any) error {
	return &CorruptError{Dir: s.dir, Err: fmt.Errorf(format, args...)}
}
