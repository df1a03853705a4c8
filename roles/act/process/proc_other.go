//go:build !linux && !darwin

package process

import (
	"errors"
	"os"
)

// BootID is empty: this system is not asked for it.
func BootID() string { return "" }

// BecomeSubreaper fails: this system has no child subreapers.
func BecomeSubreaper() error { return errors.New("become child subreaper: not on this system") }

// snapshot is empty, so that sweeps find nothing here.
func snapshot(uint64) (scan, error) { return scan{}, nil }

// lookup knows only whether the pid exists, where the system tells.
func lookup(pid int) (Proc, bool) {
	p, err := os.FindProcess(pid)
	if err != nil {
		return Proc{}, false
	}
	defer p.Release()
	return Proc{Identity: Identity{PID: pid}}, exists(p)
}

func markerOf(int) (m Marker, known bool) { return "", true }

func killProc(id Identity) error {
	p, err := os.FindProcess(id.PID)
	if err != nil {
		return err
	}
	return p.Kill()
}

// isGuard does not know: how others were started is not asked here.
func isGuard(int) bool { return false }
