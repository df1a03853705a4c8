package process

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
	for at, n := first, 0; n < maxLineage && at.PPID > 1; n++ {
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
