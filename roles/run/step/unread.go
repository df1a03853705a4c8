package step

import (
	"errors"
	"fmt"

	"orch/roles/think"
)

// Unread keeps an answer of a model that nobody could read in the goal's
// folder, and returns the failure with the place. Any other failure it returns
// as it is.
func (e *Env) Unread(err error) error {
	var u *think.UnusableError
	if !errors.As(err, &u) || u.Raw == "" {
		return err
	}
	sha, kept := e.Board.PutBlob(e.Goal, []byte(u.Raw))
	if kept != nil {
		return errors.Join(err, kept)
	}
	return fmt.Errorf("%w [the answer: blobs/%s]", err, sha)
}
