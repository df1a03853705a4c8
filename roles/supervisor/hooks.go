package supervisor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"orch/blackboard/message"
)

// Hooks runs a person's executables at named moments. A hook that fails, hangs
// or is not executable warns and changes nothing.
type Hooks struct {
	Dir     string // .orch/hooks; empty runs nothing
	Root    string
	LimitMS int64
	Env     []string
	Warn    func(error)
}

// HookNames are the moments, in the order in which they can happen.
func HookNames() []string {
	return []string{"pre-step", "post-step", "on-merged", "on-checkpoint", "on-escalate", "on-problem", "on-final"}
}

// Run starts the hook of a moment, gives it the message as JSON on standard
// input, and waits for it, up to the limit.
func (h Hooks) Run(ctx context.Context, name string, goal message.GoalID, role string, payload any) {
	if h.Dir == "" {
		return
	}
	path := filepath.Join(h.Dir, name)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err == nil && (info.IsDir() || info.Mode()&0o111 == 0) {
		err = errors.New("it is not executable")
	}
	if err == nil {
		err = h.run(ctx, path, name, goal, role, payload)
	}
	if err != nil {
		h.Warn(fmt.Errorf("hook %s: %w", name, err))
	}
}

func (h Hooks) run(ctx context.Context, path, name string, goal message.GoalID, role string, payload any) error {
	raw, err := json.Marshal(payload)
	if err != nil {
		return err
	}
	limit := time.Duration(h.LimitMS) * time.Millisecond
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, path)
	cmd.Dir = h.Root
	cmd.Stdin = bytes.NewReader(raw)
	cmd.Env = append(h.Env, "ORCH_HOOK="+name, "ORCH_GOAL="+string(goal), "ORCH_ROLE="+role, "ORCH_ROOT="+h.Root)
	killGroup(cmd)
	cmd.WaitDelay = time.Second
	if out, err := cmd.CombinedOutput(); err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("still running after %s, ended", limit)
		}
		return fmt.Errorf("%w: %s", err, bytes.TrimSpace(out[max(0, len(out)-500):]))
	}
	return nil
}
