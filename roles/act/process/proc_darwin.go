package process

import (
	"bytes"
	"encoding/binary"
	"errors"

	"golang.org/x/sys/unix"
)

const zombieState = 5 // SZOMB of <sys/proc.h>

// BootID names this boot of the system.
func BootID() string {
	id, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return ""
	}
	return id
}

// BecomeSubreaper fails: macOS has no child subreapers. Markers do the work.
func BecomeSubreaper() error { return errors.New("become child subreaper: not on this system") }

// snapshot lists the processes that started at since (microseconds) or later.
func snapshot(since uint64) (scan, error) {
	infos, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return scan{}, err
	}
	boot := BootID()
	out := scan{procs: make([]Proc, 0, len(infos))}
	for i := range infos {
		if p := fromKinfo(&infos[i], boot); p.StartTicks >= since {
			out.procs = append(out.procs, p)
		}
	}
	return out, nil
}

func lookup(pid int) (Proc, bool) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(info.Proc.P_pid) != pid {
		return Proc{}, false
	}
	return fromKinfo(info, BootID()), true
}

func fromKinfo(k *unix.KinfoProc, boot string) Proc {
	pid := int(k.Proc.P_pid)
	sid, err := unix.Getsid(pid)
	if err != nil {
		sid = 0
	}
	start := uint64(k.Proc.P_starttime.Sec)*1_000_000 + uint64(k.Proc.P_starttime.Usec)
	return Proc{
		Identity: Identity{PID: pid, StartTicks: start, BootID: boot},
		PPID:     int(k.Eproc.Ppid), PGID: int(k.Eproc.Pgid), SID: sid,
		Name: unix.ByteSliceToString(k.Proc.P_comm[:]), Defunct: k.Proc.P_stat == zombieState,
	}
}

// markerOf reads the marker from the arguments and environment the kernel
// keeps: argc, the program's path, zero padding, argc arguments, then the environment.
// The kernel shows them for processes of the same user only.
func markerOf(pid int) (m Marker, known bool) {
	b, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil || len(b) < 4 {
		return "", true
	}
	argc := int(binary.NativeEndian.Uint32(b))
	b = b[4:]
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = bytes.TrimLeft(b[i:], "\x00")
	}
	for i, field := range bytes.Split(b, []byte{0}) {
		if v, ok := bytes.CutPrefix(field, []byte(MarkerEnv+"=")); ok && i >= argc {
			return Marker(v), true
		}
	}
	return "", true
}

// killProc kills the process after checking its start time. The moment between
// the two is the best this system offers.
func killProc(id Identity) error {
	if now, ok := identify(id.PID); !ok || now != id {
		return unix.ESRCH
	}
	return unix.Kill(id.PID, unix.SIGKILL)
}

// isGuard does not know: how others were started is not asked here.
func isGuard(int) bool { return false }
