package process

// scan is a list of processes. Listing is not atomic: what was listed and
// could not be read any more has died in between.
type scan struct {
	procs    []Proc
	vanished []int
}

// maxDoubts bounds how often a scan that found nothing is repeated.
const maxDoubts = 20

// doubts decide whether a scan that found nothing proves that there is
// nothing. Two things may hide a process: its parent was listed, forked, and
// died before it was read; or it was caught in the middle of exec, when its
// environment can not be read. Either leaves a trace in the scan: something
// newly dead, or an empty environment.
type doubts struct {
	known  map[int]bool // dead or without environment in an earlier scan
	fresh  []int
	rounds int
}

// ask notes a process whose marker could not be read.
func (d *doubts) ask(pid int, known bool) {
	if !known {
		d.note(pid, maxDoubts/2)
	}
}

// settle ends a scan and tells whether another one is needed to be sure.
func (d *doubts) settle(s scan) bool {
	for _, pid := range s.vanished {
		d.note(pid, 0)
	}
	for _, p := range s.procs {
		if p.Defunct {
			d.note(p.PID, 0)
		}
	}
	again := len(d.fresh) > 0 && d.rounds < maxDoubts
	d.fresh = d.fresh[:0]
	d.rounds++
	return again
}

// note makes a pid a reason to look again: the first time, and until the
// scan number until.
func (d *doubts) note(pid, until int) {
	if d.known == nil {
		d.known = map[int]bool{}
	}
	if !d.known[pid] || d.rounds < until {
		d.known[pid] = true
		d.fresh = append(d.fresh, pid)
	}
}
