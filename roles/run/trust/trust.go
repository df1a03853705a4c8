// Package trust decides whether files that can make orch run something are the
// person's own.
//
// Configuration, hooks, playbooks and values that came with a repository take
// part only after the person has said so for exactly what is there: content,
// the right to be executed, and where links lead. A file came with a repository
// if git tracks it, or a link on the way to it, whatever repository that is. A
// change asks again, and so does a file that is gone.
//
// What was trusted is kept outside the project, in the person's state
// directory, so that no pull can grant itself anything; and by digests, so that
// no name can forge a record. Names with control characters are refused.
//
// A Guard asks again while a run goes on: what was trusted at its start may be
// changed by a pull in the middle.
package trust

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// UntrustedError lists what came with a repository and is not what was trusted.
type UntrustedError struct {
	Files   []File   // new or changed
	Gone    []string // were trusted, and are no longer there or no longer come with the repository
	Earlier bool     // something was trusted with a version whose records are not believed
}

func (e *UntrustedError) Error() string {
	var said []string
	if len(e.Files) > 0 {
		names := make([]string, len(e.Files))
		for i, f := range e.Files {
			names[i] = f.Path
		}
		said = append(said, "these files came with the repository and can make orch run commands: "+strings.Join(names, ", "))
	}
	if len(e.Gone) > 0 {
		said = append(said, "these files were trusted and no longer come with the repository: "+strings.Join(e.Gone, ", "))
	}
	return strings.Join(said, "; ")
}

// Hint names the next command.
func (e *UntrustedError) Hint() string {
	if e.Earlier {
		return "read them, then run `orch config trust`; what earlier versions of orch noted as trusted is not believed, because a file's name could forge it"
	}
	return "read them, then run `orch config trust`"
}

// Usage marks the error as one the person resolves: exit 2.
func (e *UntrustedError) Usage() bool { return true }

// OddError says that a file that came with a repository can not be trusted as it is.
type OddError struct{ Path, Why string }

func (e *OddError) Error() string {
	return fmt.Sprintf("%q came with the repository and %s", e.Path, e.Why)
}

// Hint names what to do.
func (e *OddError) Hint() string { return "rename or remove it; orch takes no part of it" }

// Usage marks the error as one the person resolves: exit 2.
func (e *OddError) Usage() bool { return true }

// Check returns *UntrustedError if what came with the project's repository is
// not what was trusted, and *OddError if it can not be.
func (s *Store) Check(ctx context.Context, root string) error {
	root = placeOf(root)
	files, err := Foreign(ctx, root)
	if err != nil {
		return err
	}
	known, err := s.load(root)
	if err != nil {
		return err
	}
	e := &UntrustedError{Gone: known.missing(files)}
	for _, f := range files {
		if !known.digests[f.digest(root)] {
			e.Files = append(e.Files, f)
		}
	}
	if len(e.Files)+len(e.Gone) == 0 {
		return nil
	}
	if len(known.last) == 0 {
		e.Earlier = s.earlier(root)
	}
	return e
}

// Add trusts what is there now of all that came with the project's repository,
// and nothing that is no longer there.
func (s *Store) Add(ctx context.Context, root string) ([]File, error) {
	root = placeOf(root)
	files, err := Foreign(ctx, root)
	if err != nil {
		return nil, err
	}
	known, err := s.load(root)
	if err != nil {
		return nil, err
	}
	now := map[string]string{}
	for _, f := range files {
		now[f.Path] = f.digest(root)
	}
	if maps.Equal(now, known.last) {
		return files, nil
	}
	return files, s.append(root, now)
}

// Foreign lists the files that came with a repository, as they are now. It
// returns *OddError for one that can not be trusted.
func Foreign(ctx context.Context, root string) ([]File, error) {
	present, err := list(root)
	if err != nil || len(present) == 0 {
		return nil, err
	}
	tracked, err := cameWith(ctx, present)
	if err != nil {
		return nil, err
	}
	files := slices.DeleteFunc(present, func(f File) bool { return !tracked[f.Path] })
	for _, f := range files {
		if why := f.oddity(); why != "" {
			return nil, &OddError{f.Path, why}
		}
	}
	return files, nil
}
