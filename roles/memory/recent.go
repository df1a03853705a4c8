package memory

import (
	"context"
	"errors"
	"slices"

	"github.com/syndtr/goleveldb/leveldb/util"
)

// Recent is the newest memories, at most limit; level "" means every level,
// retired tells whether those that became part of a rule are wanted too.
func (s *Store) Recent(ctx context.Context, level string, retired bool, limit int) ([]Entry, error) {
	snap, err := s.snapshot()
	if err != nil {
		return nil, err
	}
	defer snap.Release()
	if !retired && (level == LevelK || level == LevelC || level == LevelT) {
		return s.ofLevel(ctx, snap, level, limit)
	}
	it := snap.NewIterator(util.BytesPrefix(prefix(timeKeys)), nil)
	defer it.Release()
	var list []Entry
	for ok := it.Last(); ok && len(list) < limit; ok = it.Prev() {
		names, err := parts(it.Key())
		if err != nil || len(names) != 2 {
			return nil, s.wrong("key %q is no time's: %v", it.Key(), err)
		}
		e, err := s.listed(ctx, snap, names[1])
		if err != nil {
			return nil, err
		}
		if (level == "" || e.Level == level) && (retired || e.Into == "") {
			list = append(list, e)
		}
	}
	return list, s.damage("list the memory", it.Error())
}

// ofLevel reads all of a level that is rare.
func (s *Store) ofLevel(ctx context.Context, db view, level string, limit int) ([]Entry, error) {
	it := db.NewIterator(util.BytesPrefix(prefix(levelKeys, level)), nil)
	defer it.Release()
	var list []Entry
	for it.Next() {
		names, err := parts(it.Key())
		if err != nil || len(names) != 2 {
			return nil, s.wrong("key %q is no level's: %v", it.Key(), err)
		}
		e, err := s.listed(ctx, db, names[1])
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	slices.SortStableFunc(list, func(a, b Entry) int { return b.Megram.CreatedAt.Compare(a.Megram.CreatedAt) })
	return list[:min(limit, len(list))], s.damage("list the memory", it.Error())
}

// listed is an entry that a list names, so that it must be there.
func (s *Store) listed(ctx context.Context, db view, id string) (Entry, error) {
	if err := ctx.Err(); err != nil {
		return Entry{}, err
	}
	e, err := s.entry(db, id)
	if errors.Is(err, ErrUnknown) {
		return e, s.wrong("%s is listed and has no content", id)
	}
	return e, err
}
