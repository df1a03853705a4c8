package memory

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"

	"orch/blackboard/message"
)

// asideSuffix: where Rebuild leaves the store that was there, the last only.
const asideSuffix = ".aside"

// Rebuild moves what is in dir aside, makes a new store and gives it all of
// the log. It answers as the old one would have, were it whole. Killed in the
// middle, it leaves a store that is behind the log, and CatchUp goes on with it.
func Rebuild(ctx context.Context, dir string, o Options, read func(from uint64) iter.Seq2[message.Message, error]) (s *Store, aside string, err error) {
	lock, err := take(dir)
	if err != nil {
		return nil, "", err
	}
	aside, err = moveAside(dir)
	if err == nil {
		s, err = open(dir, o, lock)
	}
	if err != nil {
		return nil, aside, errors.Join(fmt.Errorf("rebuild the memory: %w", err), lock.Close())
	}
	if err := s.CatchUp(ctx, read); err != nil {
		return nil, aside, errors.Join(fmt.Errorf("rebuild the memory: %w", err), s.Close())
	}
	return s, aside, nil
}

// moveAside returns where it moved dir to; "" if there was nothing.
func moveAside(dir string) (string, error) {
	names, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) || err == nil && len(names) == 0 {
		return "", nil
	}
	aside := dir + asideSuffix
	if err := os.RemoveAll(aside); err != nil {
		return "", fmt.Errorf("move the old one aside: %w", err)
	}
	if err := os.Rename(dir, aside); err != nil {
		return "", fmt.Errorf("move the old one aside: %w", err)
	}
	return aside, nil
}
