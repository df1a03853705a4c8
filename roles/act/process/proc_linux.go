package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// boot is read once: no process lives longer than a boot, and a supervisor asks
// for every process it looks at.
var boot atomic.Pointer[string]

// BootID names this boot of the system. Start times only mean something
// together with it.
func BootID() string {
	if known := boot.Load(); known != nil {
		return *known
	}
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	id := strings.TrimSpace(string(b))
	boot.Store(&id)
	return id
}

// BecomeSubreaper makes the calling process the parent of everything orphaned
// below it. It does not collect what is orphaned: a long-lived process should
// use a guard for its commands instead.
func BecomeSubreaper() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become child subreaper: %w", err)
	}
	return nil
}

// snapshot lists the processes that started at since or later.
func snapshot(since uint64) (scan, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return scan{}, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return scan{}, err
	}
	id := BootID()
	var out scan
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		p, ok := readStat(pid, id)
		switch {
		case !ok:
			out.vanished = append(out.vanished, pid)
		case p.StartTicks >= since:
			out.procs = append(out.procs, p)
		}
	}
	return out, nil
}

func lookup(pid int) (Proc, bool) { return readStat(pid, BootID()) }

// readStat reads /proc/PID/stat. The name stands in parentheses and may itself
// contain any character, so fields are counted from the last parenthesis.
func readStat(pid int, boot string) (Proc, bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return Proc{}, false
	}
	open, end := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if open < 0 || end < open {
		return Proc{}, false
	}
	f := strings.Fields(string(b[end+1:]))
	if len(f) < 20 {
		return Proc{}, false
	}
	start, err := strconv.ParseUint(f[19], 10, 64)
	if err != nil {
		return Proc{}, false
	}
	num := func(i int) int { n, _ := strconv.Atoi(f[i]); return n }
	return Proc{
		Identity: Identity{PID: pid, StartTicks: start, BootID: boot},
		PPID:     num(1), PGID: num(2), SID: num(3),
		Name: string(b[open+1 : end]), Defunct: f[0] == "Z" || f[0] == "X",
	}, true
}

// markerOf reads the marker from a process's initial environment. It is not
// known when that is empty, as it is for a moment during exec.
func markerOf(pid int) (m Marker, known bool) {
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return "", errors.Is(err, os.ErrPermission)
	}
	for kv := range bytes.SplitSeq(env, []byte{0}) {
		if v, ok := bytes.CutPrefix(kv, []byte(MarkerEnv+"=")); ok {
			return Marker(v), true
		}
	}
	return "", len(env) > 0
}

// isGuard tells whether a process is a guard, by how it was started.
func isGuard(pid int) bool {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	if err != nil {
		return false
	}
	argv := strings.SplitN(string(raw), "\x00", 4)
	return len(argv) > 2 && argv[1] == "guard" && argv[2] == "--"
}

// killProc kills exactly this process: the descriptor is taken first, then
// the start time checked, so a pid used again is never hit.
func killProc(id Identity) error {
	fd, err := unix.PidfdOpen(id.PID, 0)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) {
		if now, ok := identify(id.PID); !ok || now != id {
			return unix.ESRCH
		}
		return unix.Kill(id.PID, unix.SIGKILL)
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if now, ok := identify(id.PID); !ok || now != id {
		return unix.ESRCH
	}
	return unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
}
