package view

import (
	"bytes"
	"cmp"
	"iter"
	"maps"
	"slices"

	"orch/blackboard"
	"orch/blackboard/message"
)

// attention is the order in which open tasks get one of the places in a view
// that cannot hold all: what waits for a person first, what is far off last.
var attention = []blackboard.Status{
	blackboard.Blocked, blackboard.IntegrationFailed, blackboard.Rejected, blackboard.ReadyForReview,
	blackboard.Claimed, blackboard.Unclaimed, blackboard.Draft,
}

// taskBlock is one rendered task.
type taskBlock struct {
	id      message.TaskID
	created uint64
	text    []byte

	from  *blackboard.Task // what it was rendered from; nil in a full view
	round uint64           // in which it was last shown
}

// allTasks shows tasks in the order they were made, whatever their status, so
// that the difference of two views is what happened to the tasks.
func (r *Renderer) allTasks(e *emitter, s State) {
	shown, hidden := r.pick(s)
	e.optNum(0, "tasks_not_shown", int64(hidden))
	if len(shown) == 0 {
		e.raw(0, "tasks", "{}")
		r.tasks = map[message.TaskID]*taskBlock{}
		return
	}
	slices.SortFunc(shown, func(a, b *taskBlock) int {
		return cmp.Or(cmp.Compare(a.created, b.created), cmp.Compare(a.id, b.id))
	})
	e.open(0, "tasks")
	for _, b := range shown {
		e.b = append(e.b, b.text...)
	}
	if len(r.tasks) > 2*len(shown) {
		maps.DeleteFunc(r.tasks, func(_ message.TaskID, b *taskBlock) bool { return b.round != r.round })
	}
}

// pick chooses which tasks to show and counts the open ones it leaves out.
// Approved tasks count as open while their goal is.
func (r *Renderer) pick(s State) (shown []*taskBlock, hidden int) {
	if r.o.Full {
		return r.every(s), 0
	}
	open := 0
	take := func(blocks iter.Seq[*taskBlock], count int) {
		open += count
		if count == 0 || len(shown) >= r.o.MaxTasks {
			return
		}
		for b := range blocks {
			shown = append(shown, b)
			if len(shown) >= r.o.MaxTasks {
				return
			}
		}
	}
	counts := s.Counts("")
	for _, st := range attention {
		take(r.with(s, st), counts[st])
	}
	for _, g := range s.Goals() {
		if g.Status != blackboard.GoalEnded {
			take(r.blocks(s.TasksOf(g.ID, blackboard.Approved)), s.Counts(g.ID)[blackboard.Approved])
		}
	}
	return shown, open - len(shown)
}

func (r *Renderer) blocks(tasks iter.Seq[blackboard.Task]) iter.Seq[*taskBlock] {
	return func(yield func(*taskBlock) bool) {
		for t := range tasks {
			if !yield(r.block(t)) {
				return
			}
		}
	}
}

// with yields the blocks of the tasks with a status. Where blocks of another
// process may be copied, the tasks they are of are not even decoded.
func (r *Renderer) with(s State, st blackboard.Status) iter.Seq[*taskBlock] {
	rs, ok := s.(Restful)
	if !ok || !r.kept.usable(rs) {
		return r.blocks(s.Tasks(st))
	}
	return func(yield func(*taskBlock) bool) {
		for row := range rs.TaskRows(st) {
			var b *taskBlock
			if text, there := r.kept.blocks[row.ID]; there && row.Resting {
				b = &taskBlock{id: row.ID, created: row.Created, text: text}
			} else if t, ok := s.Task(row.ID); ok {
				b = r.block(t)
			}
			if b != nil && !yield(b) {
				return
			}
		}
	}
}

// every renders all tasks there are. It copies nothing from the last time: a
// full view is rendered once.
func (r *Renderer) every(s State) (shown []*taskBlock) {
	e := &emitter{}
	for t := range s.Tasks(statuses...) {
		at := len(e.b)
		r.task(e, t)
		shown = append(shown, &taskBlock{id: t.ID, created: t.Created.Seq, text: e.b[at:]})
	}
	return shown
}

// block returns the rendered task, from the last time if nothing that shows
// has changed.
func (r *Renderer) block(t blackboard.Task) *taskBlock {
	b, ok := r.tasks[t.ID]
	if !ok || !sameToTheEye(b.from, &t) {
		e := &emitter{}
		r.task(e, t)
		b = &taskBlock{id: t.ID, created: t.Created.Seq, text: e.b, from: &t}
		r.tasks[t.ID] = b
	}
	b.round = r.round
	return b
}

// sameToTheEye compares what task() shows. Values are compared, not numbers of
// messages: a block is copied only if rendering it again would give the same.
func sameToTheEye(a, b *blackboard.Task) bool {
	return a.Status == b.Status && a.Changed == b.Changed && a.Created == b.Created && a.Goal == b.Goal &&
		a.Intent == b.Intent && a.Slot == b.Slot && a.PlanID == b.PlanID && a.Sequence == b.Sequence &&
		a.Approach == b.Approach && a.Target == b.Target && a.Priority == b.Priority &&
		a.DoneWhen == b.DoneWhen && a.Scope == b.Scope && a.SpecRef == b.SpecRef && a.ReadOnly == b.ReadOnly &&
		a.Supersedes == b.Supersedes && a.Reopens == b.Reopens &&
		a.Agent == b.Agent && a.Fence == b.Fence && a.Lease.ExpiresAt.Equal(b.Lease.ExpiresAt) &&
		a.Work == b.Work && a.Base == b.Base && a.Expired == b.Expired && a.Attempt == b.Attempt &&
		a.Corrections == b.Corrections && sameJudgement(a, b) &&
		a.BlockedReason == b.BlockedReason && a.BlockedKind == b.BlockedKind && a.Output == b.Output &&
		slices.Equal(a.HumanNotes, b.HumanNotes) && slices.Equal(a.Targets, b.Targets) &&
		slices.Equal(a.DependsOn, b.DependsOn) && slices.EqualFunc(a.SuccessCriteria, b.SuccessCriteria, sameCriterion) &&
		sameOpenCall(a.OpenCall, b.OpenCall) && sameReview(a, b)
}

func sameCriterion(a, b message.Criterion) bool {
	return a.ID == b.ID && a.Criterion == b.Criterion && a.Required == b.Required && bytes.Equal(a.Check, b.Check)
}

func sameJudgement(a, b *blackboard.Task) bool {
	switch {
	case (a.Correction == nil) != (b.Correction == nil), (a.Outcome == nil) != (b.Outcome == nil), (a.Result == nil) != (b.Result == nil):
		return false
	case a.Result != nil && a.Result.Output != b.Result.Output:
		return false
	}
	return (a.Correction == nil || sameCorrection(a.Correction, b.Correction)) &&
		(a.Outcome == nil || sameOutcome(a.Outcome, b.Outcome))
}

func sameCorrection(a, b *message.CorrectionSignal) bool {
	return a.FailedCriterion == b.FailedCriterion && a.WhatWasWrong == b.WhatWasWrong &&
		a.WhatToDo == b.WhatToDo && slices.Equal(a.Verdicts, b.Verdicts)
}

func sameOutcome(a, b *message.SubTaskOutcome) bool {
	if (a.FailureReason == nil) != (b.FailureReason == nil) || a.FailureReason != nil && *a.FailureReason != *b.FailureReason {
		return false
	}
	return a.Status == b.Status && slices.Equal(a.CriteriaVerdicts, b.CriteriaVerdicts)
}

func sameOpenCall(a, b *message.ToolStarted) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Tool == b.Tool
}

func (r *Renderer) task(e *emitter, t blackboard.Task) {
	e.open(2, string(t.ID))
	e.str(4, "status", string(t.Status))
	e.num(4, "priority", int64(t.Priority))
	e.list(4, "human_notes", t.HumanNotes)
	e.str(4, "intent", t.Intent)
	e.optStr(4, "goal", string(t.Goal))
	e.optStr(4, "plan", string(t.PlanID))
	e.optStr(4, "slot", t.Slot)
	e.optNum(4, "sequence", int64(t.Sequence))
	e.optStr(4, "approach", t.Approach)
	e.optStr(4, "target", t.Target)
	e.optStr(4, "spec_ref", t.SpecRef)
	r.text(e, 4, "done_when", t.DoneWhen)
	r.text(e, 4, "scope", t.Scope)
	e.optList(4, "targets", t.Targets)
	if t.ReadOnly {
		e.raw(4, "read_only", "true")
	}
	e.optList(4, "depends_on", ids(t.DependsOn))
	e.optStr(4, "supersedes", string(t.Supersedes))
	e.optStr(4, "reopens", string(t.Reopens))
	gates(e, t)
	r.blocked(e, t)
	r.held(e, t)
	r.review(e, t)
	r.judged(e, t)
	e.open(4, "changed")
	e.ref(6, t.Changed)
	e.unum(4, "created_seq", t.Created.Seq)
}

func (r *Renderer) blocked(e *emitter, t blackboard.Task) {
	if t.Status != blackboard.Blocked {
		return
	}
	e.open(4, "blocked")
	e.optStr(6, "kind", t.BlockedKind)
	r.text(e, 6, "reason", t.BlockedReason)
	e.optList(6, "questions", t.Review.Questions)
	e.optList(6, "attempted", t.Review.Attempted)
	e.str(6, "command", "orch task unblock "+string(t.ID))
}

// held shows who holds the task, or who held it last.
func (r *Renderer) held(e *emitter, t blackboard.Task) {
	if t.Fence == 0 {
		return
	}
	holder := "last_agent"
	if t.Status == blackboard.Claimed {
		holder = "agent"
	}
	e.optStr(4, holder, string(t.Agent))
	e.unum(4, "fence", uint64(t.Fence))
	if t.Status == blackboard.Claimed {
		e.time(4, "lease_until", t.Lease.ExpiresAt)
		e.optStr(4, "worktree", t.Work)
		e.optStr(4, "base_commit", t.Base)
	}
	e.optNum(4, "claims_lapsed", int64(t.Expired))
	if t.OpenCall != nil {
		e.str(4, "tool_running", t.OpenCall.Tool)
	}
}

// judged shows what came out and what was said of it.
func (r *Renderer) judged(e *emitter, t blackboard.Task) {
	e.optNum(4, "attempts", int64(t.Attempt))
	e.optNum(4, "corrections", int64(t.Corrections))
	var verdicts []message.Verdict
	if t.Correction != nil && t.Outcome == nil {
		verdicts = t.Correction.Verdicts
		if t.Status == blackboard.Rejected {
			e.open(4, "correction")
			e.str(6, "criterion", t.Correction.FailedCriterion)
			r.text(e, 6, "what_was_wrong", t.Correction.WhatWasWrong)
			r.text(e, 6, "what_to_do", t.Correction.WhatToDo)
		}
	}
	if t.Outcome != nil {
		verdicts = t.Outcome.CriteriaVerdicts
		e.str(4, "outcome", t.Outcome.Status)
		if t.Outcome.FailureReason != nil {
			r.text(e, 4, "failure_reason", *t.Outcome.FailureReason)
		}
	}
	if judged := t.Review.Judged(); judged != nil {
		verdicts = judged.Checks
	}
	if len(t.SuccessCriteria) > 0 {
		e.open(4, "criteria")
		r.criteria(e, 6, t.SuccessCriteria, verdicts)
	}
	switch {
	case t.Output != "":
		r.text(e, 4, "output", t.Output)
	case t.Result != nil:
		r.text(e, 4, "output", t.Result.Output)
	}
}

func ids(tasks []message.TaskID) []string {
	out := make([]string, len(tasks))
	for i, id := range tasks {
		out[i] = string(id)
	}
	return out
}
