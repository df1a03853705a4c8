package process

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// killLimit bounds every attempt to see killed processes disappear.
const killLimit = 5 * time.Second

// self is kept once it was read: a process that ran out of descriptors is still
// the one it was.
var self atomic.Pointer[Identity]

// Self is the identity of the calling process; the zero identity as long as
// this system does not let it be read.
func Self() Identity {
	if known := self.Load(); known != nil {
		return *known
	}
	id, ok := identify(os.Getpid())
	if !ok || id.BootID != BootID() {
		return Identity{}
	}
	self.Store(&id)
	return id
}

// Liveness is what can be told of a process.
type Liveness int

// What can be told. Unknown is not dead: the caller may be out of descriptors,
// or not allowed to look.
const (
	Unknown Liveness = iota
	Living
	Dead
)

func (l Liveness) String() string { return [...]string{"unknown", "living", "dead"}[l] }

// Look tells whether exactly this process runs on this boot. A zombie does not,
// nor does no process. Where the system can not tell start times, the pid has to do.
func Look(id Identity) Liveness {
	boot := BootID()
	switch {
	case id.PID <= 0:
		return Dead
	case boot != "" && id.BootID != "" && id.BootID != boot:
		return Dead
	case absent(id.PID):
		return Dead
	}
	p, ok := lookup(id.PID)
	switch {
	case ok && p.BootID == id.BootID:
		if p.Identity == id && !p.Defunct {
			return Living
		}
		return Dead
	case !ok && absent(id.PID): // it ended while it was looked at
		return Dead
	}
	return Unknown
}

// identify names the process that has the pid now.
func identify(pid int) (Identity, bool) {
	p, ok := lookup(pid)
	return p.Identity, ok
}

// Find returns the living processes that carry the marker, or one that begins
// with it and a slash; never the caller or an ancestor of it.
func Find(marker Marker) ([]Proc, error) {
	f := &finder{marker: marker}
	for {
		found, again, err := f.find()
		if err != nil || len(found) > 0 || !again {
			return found, err
		}
		time.Sleep(time.Millisecond)
	}
}

// Sweep kills every process that Find finds, again until none is left, and
// returns what it killed. The caller spares the living by not asking for
// their markers.
func Sweep(marker Marker) ([]Proc, error) {
	killed := map[int]Proc{}
	removeEmptyCgroups()
	left, err := hunt((&finder{marker: marker}).find, killed, nil)
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("%d processes with marker %s could not be ended", len(left), marker)
	}
	return sorted(killed), err
}

// finder looks for a marker. It remembers what it has seen die.
type finder struct {
	marker Marker
	doubts doubts
}

func (f *finder) find() (found []Proc, again bool, err error) {
	if f.marker == "" {
		return nil, false, errors.New("sweep without a marker would match everything")
	}
	s, err := snapshot(0)
	if err != nil {
		return nil, false, fmt.Errorf("list processes: %w", err)
	}
	spared := lineage(s.procs, os.Getpid())
	for _, p := range s.procs {
		if p.Defunct || spared[p.PID] {
			continue
		}
		m, known := markerOf(p.PID)
		f.doubts.ask(p.PID, known)
		if f.marker.covers(m) {
			found = append(found, p)
		}
	}
	return found, f.doubts.settle(s), nil
}

// covers tells whether a process with marker m belongs to the work marked own.
func (own Marker) covers(m Marker) bool {
	return m == own || strings.HasPrefix(string(m), string(own)+"/")
}

// hunt kills what find finds until it finds nothing and need not look again,
// noting it in killed. It returns what is left at the limit. Each killed
// process is shown to dead, if any, which may collect its status when nobody
// else waits for it.
func hunt(find func() ([]Proc, bool, error), killed map[int]Proc, dead func(Proc)) ([]Proc, error) {
	deadline := time.Now().Add(killLimit)
	pause := time.Millisecond
	for {
		found, again, err := find()
		if err != nil || (len(found) == 0 && !again) {
			return nil, err
		}
		if time.Now().After(deadline) {
			return found, nil
		}
		for _, p := range found {
			if err := killProc(p.Identity); err == nil || errors.Is(err, syscall.ESRCH) {
				killed[p.PID] = p
			}
		}
		time.Sleep(pause)
		if dead != nil {
			for _, p := range found {
				dead(p)
			}
		}
		pause = min(2*pause, 50*time.Millisecond)
	}
}

// lineage is the pid and its ancestors.
func lineage(all []Proc, pid int) map[int]bool {
	parent := make(map[int]int, len(all))
	for _, p := range all {
		parent[p.PID] = p.PPID
	}
	line := map[int]bool{0: true, 1: true}
	for !line[pid] {
		line[pid] = true
		pid = parent[pid]
	}
	return line
}

// below are the descendants of pid in the snapshot, pid not included.
func below(all []Proc, pid int) []Proc {
	children := make(map[int][]Proc, len(all))
	for _, p := range all {
		children[p.PPID] = append(children[p.PPID], p)
	}
	var out []Proc
	queue := []int{pid}
	for len(queue) > 0 {
		next := children[queue[0]]
		delete(children, queue[0]) // a loop in a torn snapshot ends here
		queue = queue[1:]
		for _, p := range next {
			out = append(out, p)
			queue = append(queue, p.PID)
		}
	}
	return out
}

func sorted(m map[int]Proc) []Proc {
	out := make([]Proc, 0, len(m))
	for _, p := range m {
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b Proc) int { return a.PID - b.PID })
	return out
}
