package process

import (
	"os"
	"slices"
)

// remember notes the descendants of the command while it lives: once it is
// dead they can no longer be told by their parent.
func (r *running) remember() {
	s, err := snapshot(r.self.StartTicks)
	if err != nil {
		return
	}
	if r.seen == nil {
		r.seen = map[int]Proc{}
	}
	for _, p := range below(s.procs, r.self.PID) {
		r.seen[p.PID] = p
	}
}

// sweep ends everything the command left. The command itself is among the
// found while it lives, but is not a leftover.
func (r *running) sweep() (leftovers, survivors []Proc) {
	if r.self.IsZero() {
		return nil, nil // a system without process lists
	}
	killed := map[int]Proc{}
	find := r.remains
	if r.cgroup != nil {
		find = r.cgroup.members
	}
	survivors, _ = hunt(find, killed, func(p Proc) {
		if p.PID != r.self.PID && p.PPID == os.Getpid() {
			collect(p.PID) // orphaned to us; the command itself is cmd.Wait's
		}
	})
	delete(killed, r.self.PID)
	return sorted(killed), survivors
}

// remains are the processes that belong to the command by any of the signs.
func (r *running) remains() (found []Proc, again bool, err error) {
	s, err := snapshot(r.self.StartTicks)
	if err != nil {
		return nil, false, err
	}
	spared := []int{os.Getpid(), os.Getppid()}
	for _, p := range s.procs {
		if p.Defunct || slices.Contains(spared, p.PID) {
			continue
		}
		m, known := markerOf(p.PID)
		r.doubts.ask(p.PID, known)
		was, seen := r.seen[p.PID]
		if p.PGID == r.self.PID || p.SID == r.self.PID || (seen && was.Identity == p.Identity) || m == r.marker {
			found = append(found, p)
		}
	}
	return found, r.doubts.settle(s), nil
}
