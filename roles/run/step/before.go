package step

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/act/check"
	"orch/roles/act/tool"
)

// Before is how things stood before a task, or anything of a goal, was begun.
type Before struct {
	At    time.Time
	Files tool.Listing
	red   map[string]bool // the checks that were run then, or before a later task, and did not hold
}

// WasRed tells whether a criterion's check was seen not to hold. Nil knows of none.
func (b *Before) WasRed(c message.Criterion) bool { return b != nil && b.red[string(c.Check)] }

// NoteBefore says once how things stand before a task is begun: which files
// there are, and which of the checks hold that can be run without an effect.
// A task that code alone decides, by a person's or a playbook's checks, needs
// none of it.
func (e *Env) NoteBefore(ctx context.Context, t blackboard.Task, g blackboard.Goal) error {
	if !needsBefore(t, g) {
		return nil
	}
	if said, err := e.BeforeTask(t); err != nil || said != nil {
		return err
	}
	s := message.StateBefore{Task: t.ID, Checks: []message.Held{}}
	raw, err := json.Marshal(tool.TakeListing(e.Workspace))
	if err != nil {
		return fmt.Errorf("list the workspace: %w", err)
	}
	if s.Files, err = e.Board.PutBlob(e.Goal, raw); err != nil {
		return err
	}
	if PlannedByModel(g) {
		s.Checks = e.heldNow(ctx, checksOf(t, g))
	}
	if err := ctx.Err(); err != nil {
		return err // stopped: what a cancelled check said is worth nothing
	}
	_, err = e.Say(ctx, s)
	return err
}

// PlannedByModel tells whether a model made the plan of a goal: then its checks
// are nobody's word but the model's.
func PlannedByModel(g blackboard.Goal) bool {
	return g.Plan != nil && g.Plan.Backend != playbookBackend
}

// playbookBackend is what a manifest calls the playbooks.
const playbookBackend = "playbook"

func needsBefore(t blackboard.Task, g blackboard.Goal) bool {
	unchecked := func(all []message.Criterion) bool {
		return slices.ContainsFunc(all, func(c message.Criterion) bool { return !c.HasCheck() })
	}
	return PlannedByModel(g) || unchecked(t.SuccessCriteria) || g.Plan != nil && unchecked(g.Plan.TaskCriteria)
}

// checksOf are the checks of a task and its goal, each once.
func checksOf(t blackboard.Task, g blackboard.Goal) (all []json.RawMessage) {
	criteria := t.SuccessCriteria
	if g.Plan != nil {
		criteria = slices.Concat(criteria, g.Plan.TaskCriteria)
	}
	for _, c := range criteria {
		if c.HasCheck() && !slices.ContainsFunc(all, func(raw json.RawMessage) bool { return string(raw) == string(c.Check) }) {
			all = append(all, c.Check)
		}
	}
	return all
}

// heldNow tells which checks hold now: in place where a check only reads, else
// in a copy of the workspace. One that can be run in neither is left out: that
// it was red is then not known, and so it proves nothing.
func (e *Env) heldNow(ctx context.Context, checks []json.RawMessage) []message.Held {
	all := []message.Held{}
	for _, raw := range checks {
		c, err := check.Decode(raw)
		if err != nil {
			continue
		}
		run, apart := e.Checks, !e.looks(c)
		if apart {
			run = e.ChecksApart
		}
		if run == nil {
			continue
		}
		found := run(ctx, c)
		if apart && found.Class == check.Environmental {
			continue // what fails in a copy for want of something may hold in place
		}
		all = append(all, message.Held{Check: raw, Held: found.Pass, Evidence: Cut(found.Evidence, EvidenceBytes)})
	}
	return all
}

// looks tells whether running a check has no effect: it starts no command, or
// one that the gate knows to only read.
func (e *Env) looks(c check.Check) bool {
	var line string
	switch {
	case c.Run != nil:
		line = c.Run.Command
	case c.JSON != nil && c.JSON.File == "":
		line = c.JSON.Command
	default:
		return true
	}
	raw, err := json.Marshal(tool.ShellInput{Command: line})
	return err == nil && line != "" && e.Box != nil && e.Box.Idempotent(tool.Call{Tool: tool.Shell, Input: raw})
}

// before joins what was noted, of what a function picks: the files of the first
// note, the checks of all. nil if nothing was.
func (e *Env) before(from uint64, pick func(message.Message, message.StateBefore) bool) (*Before, error) {
	var b *Before
	for m, err := range e.Board.Messages(max(from, 1)) {
		if err != nil {
			return nil, fmt.Errorf("look how things stood before: %w", err)
		}
		s, ok := m.Body.(message.StateBefore)
		if !ok || !pick(m, s) {
			continue
		}
		if b == nil {
			b = &Before{At: m.TS, red: map[string]bool{}}
			raw, err := e.Board.Blob(e.Goal, s.Files)
			if err == nil {
				err = json.Unmarshal(raw, &b.Files)
			}
			if err != nil {
				return nil, fmt.Errorf("read how things stood before: %w", err)
			}
		}
		for _, h := range s.Checks {
			b.red[string(h.Check)] = b.red[string(h.Check)] || !h.Held
		}
	}
	return b, nil
}

// BeforeTask is how things stood before a task; nil if nobody noted it.
func (e *Env) BeforeTask(t blackboard.Task) (*Before, error) {
	return e.before(t.Created.Seq, func(_ message.Message, s message.StateBefore) bool { return s.Task == t.ID })
}

// BeforeGoal is how things stood before anything was done for a goal.
func (e *Env) BeforeGoal(g blackboard.Goal) (*Before, error) {
	return e.before(g.InputRef.Seq, func(m message.Message, _ message.StateBefore) bool { return m.Goal == g.ID })
}
