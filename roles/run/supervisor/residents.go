package supervisor

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"orch/blackboard/crash"
	"orch/roles/act/caches"
	"orch/roles/act/process"
)

// keepResidents starts keeping every resident up and returns what waits for
// all of them to be gone.
func (s *Supervisor) keepResidents(ctx context.Context) (wait func()) {
	var running sync.WaitGroup
	for _, r := range s.Residents {
		running.Go(crash.Safe(func() {
			if err := r.Keep(ctx); err != nil && ctx.Err() == nil {
				s.Warn(err)
			}
		}))
	}
	return running.Wait
}

// ResidentProcess keeps one resident up as a process of this program. Every
// supervisor has one; they share the resident's lock, and all but one wait for
// it, so that another takes over as soon as the first is gone.
type ResidentProcess struct {
	Argv    []string
	Root    string
	Env     []string
	Secrets []string // variables it needs although they are secret
	Tells   []string // further variables it is given
	Log     string   // file for its standard error, for people
	GraceMS int64
}

// Waits between two starts of a resident that ends by itself.
const (
	restartAfter    = 100 * time.Millisecond
	restartAfterMax = 10 * time.Second
)

// Keep starts the resident again whenever it ends, until ctx is done. Then it
// is ended, and Keep returns after it is gone.
func (r *ResidentProcess) Keep(ctx context.Context) error {
	log, err := os.OpenFile(r.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("keep %s up: %w", r.Argv[len(r.Argv)-1], err)
	}
	defer log.Close()
	lifeline, hold := io.Pipe()
	defer hold.Close()
	wait := restartAfter
	for {
		_, _ = process.ClearTemp(caches.Places()...) // of a resident or supervisor that was killed; orch board gc looks again
		began := time.Now()
		process.Run(ctx, process.Spec{Argv: r.Argv, Dir: r.Root, Env: append(process.ScrubEnv(r.Env, r.Secrets...), r.Tells...), Stdin: lifeline,
			GraceMS: r.GraceMS, Session: true, Stderr: log, Marker: process.Marker(fmt.Sprintf("resident-%d", os.Getpid()))})
		if ctx.Err() != nil {
			return nil
		}
		if time.Since(began) > restartAfterMax {
			wait = restartAfter
		}
		pause := time.NewTimer(wait)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return nil
		}
		wait = min(2*wait, restartAfterMax)
	}
}
