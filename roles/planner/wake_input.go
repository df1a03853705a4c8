package planner

import (
	"context"
	"fmt"
	"slices"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/loop"
	"orch/roles/run/step"
	"orch/roles/think"
)

// input is all the planner is told about what woke it.
func (w *waking) input(ctx context.Context) (think.WakeInput, error) {
	in := think.WakeInput{
		Goal: w.goal.ID, Spec: *w.goal.Spec, Workspace: w.e.Workspace, Kind: w.wake.Kind, Why: w.wake.Why, May: w.may, Said: []string{},
		SpecRef: w.goal.Input.Spec, Plan: w.parts(), Alignment: []string{}, Constraint: loop.ConstraintsOf(w.goal), Values: w.e.Values,
	}
	if w.task.SpecRef != "" {
		in.SpecRef = w.task.SpecRef
	}
	for _, a := range w.goal.Alignment {
		in.Alignment = append(in.Alignment, a.Line)
	}
	var err error
	if in.SpecText, err = specText(ctx, w.e, in.SpecRef); err != nil {
		return in, err
	}
	if w.task.ID != "" {
		if in.Task, err = w.about(ctx); err != nil {
			return in, err
		}
		in.Said = append(in.Said, w.task.HumanNotes...)
	}
	if w.replaced() == "" {
		err = w.raised(ctx, &in)
	}
	return in, err
}

// about is the task with all that happened to it.
func (w *waking) about(ctx context.Context) (*think.WakeTask, error) {
	t, r := w.task, w.task.Review
	about := &think.WakeTask{
		SubTask: t.SubTask, Status: string(t.Status), Rescopes: t.Rescopes, BlockedKind: t.BlockedKind, Reason: t.BlockedReason,
		Questions: list(r.Questions), Attempted: list(r.Attempted), FailedBy: r.FailedBy, Answered: list(r.Answers), Commit: r.Commit,
		ReviewCycles: r.CyclesTotal, Pending: r.Pending, Checks: []message.Verdict{}, Handoff: r.Handoff, Anomalies: []string{},
	}
	if r.Verdict != nil {
		about.Checks = r.Verdict.Checks
	}
	if f := r.Integration; f != nil && w.wake.Kind == loop.WakeIntegration {
		about.Fix = &think.CodeFix{Conflict: list(f.Conflict), Command: f.Command}
		if f.Output != "" && w.e.Code.Blob != nil {
			raw, err := w.e.Code.Blob(f.Output)
			if err != nil {
				return nil, fmt.Errorf("read why the work did not fit: %w", err)
			}
			about.Fix.Output = step.Cut(string(raw), step.OutputBytes)
		}
	}
	err := w.e.Board.View(ctx, func(s *blackboard.State) error {
		for _, a := range s.Anomalies() {
			if a.Task == t.ID {
				about.Anomalies = append(about.Anomalies, fmt.Sprintf("%s by %s: %v", a.Kind, a.Agent, a.Details))
			}
		}
		return nil
	})
	return about, err
}

// raised is what somebody found or could not tell, and what people said about
// it since.
func (w *waking) raised(ctx context.Context, in *think.WakeInput) error {
	i := slices.IndexFunc(w.goal.Raised, func(r blackboard.Raised) bool { return r.Ref.ID == w.wake.Cause.ID })
	if i < 0 {
		return step.ErrMoved
	}
	found := raisedOf(w.goal.Raised[i], func(message.TaskID) (blackboard.Task, bool) { return w.task, true })
	in.Raised = &found
	for m, err := range w.e.Board.Messages(w.wake.Cause.Seq) {
		if err != nil {
			return fmt.Errorf("look for what was said since: %w", err)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if m.Goal != w.goal.ID && m.Subject != string(w.goal.ID) {
			continue
		}
		switch b := m.Body.(type) {
		case message.Resumed:
			in.Said = addLine(in.Said, b.Reason)
		case message.HumanNote:
			in.Said = addLine(in.Said, b.Message)
		}
	}
	return nil
}

func addLine(lines []string, line string) []string {
	if line == "" || slices.Contains(lines, line) {
		return lines
	}
	return append(lines, line)
}

// parts are the tasks of the plan, in short.
func (w *waking) parts() []think.PlanPart {
	slots := map[message.TaskID]string{}
	for _, t := range w.plan {
		slots[t.ID] = t.Slot
	}
	parts := []think.PlanPart{}
	for _, t := range w.plan {
		p := think.PlanPart{Slot: t.Slot, Intent: t.Intent, Status: string(t.Status), DependsOn: []string{}}
		for _, id := range t.DependsOn {
			p.DependsOn = append(p.DependsOn, orElse(slots[id], string(id)))
		}
		parts = append(parts, p)
	}
	return parts
}

func list(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}
