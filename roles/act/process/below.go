package process

import "os"

// maxLineage bounds how far up a line of processes is followed.
const maxLineage = 1000

// Below tells whether the process that has the pid now descends from another
// one, however many processes lie between, and who it is. What was orphaned
// counts as long as a guard above it collects orphans.
func Below(pid, ancestor int) (Proc, bool) {
	first, ok := lookup(pid)
	if !ok || pid == ancestor {
		return first, false
	}
	for at, n := first, 0; n < maxLineage && at.PPID > 0; n++ {
		if at.PPID == ancestor {
			again, alive := lookup(pid)
			return first, alive && again.Identity == first.Identity
		}
		if at, ok = lookup(at.PPID); !ok {
			return first, false
		}
	}
	return first, false
}

// Ancestor is a process above this one.
type Ancestor struct {
	Identity
	Guarded bool // a guard lies between the two: this process belongs to a command
}

// Ancestors are the processes above this one, the nearest first; none where the
// system does not tell. What was orphaned has those of the guard that took it.
func Ancestors() []Ancestor {
	var line []Ancestor
	at, ok := lookup(os.Getpid())
	for guarded := false; ok && at.PPID > 0 && len(line) < maxLineage; {
		if at, ok = lookup(at.PPID); ok {
			line = append(line, Ancestor{at.Identity, guarded})
			guarded = guarded || isGuard(at.PID)
		}
	}
	return line
}
