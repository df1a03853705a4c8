package trust

import (
	"context"
	"sync"
)

// Guard asks again and again, while a run goes on, whether what takes part is
// trusted. As long as nothing changed it only reads the files. It may be used
// from several goroutines.
type Guard struct {
	store *Store
	root  string

	mu   sync.Mutex
	seen string // fingerprint of what was found trusted last
}

// NewGuard makes the guard of a project. seen is what another guard of the same
// project has seen, or empty.
func NewGuard(s *Store, root, seen string) *Guard {
	return &Guard{store: s, root: placeOf(root), seen: seen}
}

// Check is Store.Check of what is there now.
func (g *Guard) Check(ctx context.Context) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	now, err := fingerprint(g.root)
	if err != nil {
		return err
	}
	if now == g.seen {
		return nil
	}
	if err := g.store.Check(ctx, g.root); err != nil {
		return err
	}
	g.seen = now // if it changed since, the next look finds it
	return nil
}

// Seen is a fingerprint of what was found trusted last; empty if nothing was.
func (g *Guard) Seen() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.seen
}

// fingerprint names all watched files of a project as they are, whosever they are.
func fingerprint(root string) (string, error) {
	files, err := list(root)
	if err != nil {
		return "", err
	}
	all := make([]string, len(files))
	for i, f := range files {
		all[i] = f.digest(root)
	}
	return digestOf(all...), nil
}
