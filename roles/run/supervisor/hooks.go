package supervisor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/act/process"
)

// hookTailBytes is how much of a failing hook's output a warning shows.
const hookTailBytes = 500

// Hooks runs a person's executables at named moments. A hook that fails, hangs,
// floods or is not executable warns and changes nothing; what it started ends
// with it.
type Hooks struct {
	Dir     string // .orch/hooks; empty runs nothing
	Root    string
	LimitMS int64
	Env     []string
	// Trusted says why what is there now must not run; nil when nobody is asked.
	// It is asked at each start, because a pull may change a hook at any time.
	Trusted func(context.Context) error
	Warn    func(error)
}

// Moment is what a hook is told in its environment.
type Moment struct {
	Name   string         // one of HookNames: ORCH_HOOK
	Goal   message.GoalID // ORCH_GOAL
	Role   message.Role   // ORCH_ROLE, of a step
	Task   string         // ORCH_TASK, the subject of a step
	Result string         // ORCH_RESULT, once there is one
}

// HookNames are the moments: around each step, when a task was merged, when the
// board is held by a checkpoint, when
// the goal waits for a person for another reason or anything has waited too long
// for one, when the run stops on an error, and when the goal has ended.
func HookNames() []string {
	return []string{"pre-step", "post-step", "on-merged", "on-checkpoint", "on-escalate", "on-problem", "on-final"}
}

// Run starts the hook of a moment, gives it the message as JSON on standard
// input, and waits for it, up to the limit.
func (h Hooks) Run(ctx context.Context, m Moment, payload any) {
	if h.Dir == "" {
		return
	}
	path := filepath.Join(h.Dir, m.Name)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err == nil && (info.IsDir() || info.Mode()&0o111 == 0) {
		err = errors.New("it is not executable")
	}
	if err == nil && h.Trusted != nil {
		err = h.Trusted(ctx)
	}
	if err == nil {
		err = h.run(ctx, path, m, payload)
	}
	if err != nil {
		h.Warn(fmt.Errorf("hook %s: %w", m.Name, err))
	}
}

func (h Hooks) run(ctx context.Context, path string, m Moment, payload any) error {
	raw, err := json.Marshal(payload)
	if err != nil {
		return err
	}
	r := process.Run(ctx, process.Spec{
		Argv: []string{path}, Dir: h.Root, Stdin: bytes.NewReader(raw), Session: true,
		Env: append(append([]string{}, h.Env...), "ORCH_HOOK="+m.Name, "ORCH_GOAL="+string(m.Goal), "ORCH_ROLE="+string(m.Role),
			"ORCH_TASK="+m.Task, "ORCH_RESULT="+m.Result, "ORCH_ROOT="+h.Root),
		WallMS: h.LimitMS, GraceMS: 200, KeepBytes: 2 * hookTailBytes, MaxOutputBytes: 16 << 20,
	})
	switch {
	case r.Canceled:
		return nil // the run is being stopped
	case r.TimedOut:
		return fmt.Errorf("still running after %s, ended", time.Duration(h.LimitMS)*time.Millisecond)
	case r.Ended():
		return fmt.Errorf("%s, ended", r.Why())
	case r.Err != nil:
		return r.Err
	case r.Signal != "":
		return fmt.Errorf("ended by %s", r.Signal)
	case r.Exit != 0:
		out := r.Output()
		if out = bytes.TrimSpace(out[max(0, len(out)-hookTailBytes):]); len(out) > 0 {
			return fmt.Errorf("exit %d: %s", r.Exit, out)
		}
		return fmt.Errorf("exit %d", r.Exit)
	}
	return nil
}

// atEnd runs the hooks of the moments at which a run ends.
func (s *Supervisor) atEnd(ctx context.Context, ending Ending, failed error) {
	if failed != nil {
		s.Hooks.Run(ctx, Moment{Name: "on-problem", Goal: s.Goal, Result: failed.Error()}, map[string]string{"error": failed.Error()})
		return
	}
	if ending == Interrupted {
		return
	}
	w, err := s.wait(ctx)
	switch {
	case err != nil:
		s.Warn(fmt.Errorf("look for hooks to run: %w", err))
	case ending == Finished && w.Goal.Final != nil:
		s.Hooks.Run(ctx, Moment{Name: "on-final", Goal: s.Goal, Result: string(w.Goal.Final.Directive)}, w.Goal.Final)
	default:
		s.atWait(ctx, w)
	}
}

// atWait runs the hook of a moment at which a goal begins to wait for a person.
func (s *Supervisor) atWait(ctx context.Context, w Wait) {
	why := w.Goal.Suspended
	switch {
	case w.Brakes.Checkpoint != nil:
		s.Hooks.Run(ctx, Moment{Name: "on-checkpoint", Goal: s.Goal, Result: w.Brakes.Reason}, w.Brakes)
	case why != nil && (why.Why == blackboard.WhyCheckpoint || why.Why == blackboard.WhyBreaker):
		s.Hooks.Run(ctx, Moment{Name: "on-checkpoint", Goal: s.Goal, Result: why.Detail}, why)
	case why != nil:
		s.Hooks.Run(ctx, Moment{Name: "on-escalate", Goal: s.Goal, Result: why.Why}, why)
	}
}
