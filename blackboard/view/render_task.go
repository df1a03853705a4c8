package view

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"orch/blackboard"
	"orch/blackboard/message"
)

// taskBlock is one rendered task.
type taskBlock struct {
	id      message.TaskID
	slot    string // empty for a task without one that can be a key
	created uint64
	text    []byte // what stands under its name
	line    []byte // what is kept of it under bookkeeping; may be empty
	name    string // in the view that is rendered now

	from  *blackboard.Task // what it was rendered from; nil in a full view, or copied
	stub  bool
	round uint64 // in which it was last shown
}

// taskNames are the names under which tasks are shown.
type taskNames map[message.TaskID]string

// of is how a task is called: by its name, or by its id if it is not shown.
func (n taskNames) of(id message.TaskID) string { return cmp.Or(n[id], string(id)) }

func (n taskNames) all(list []message.TaskID) []string {
	out := make([]string, len(list))
	for i, id := range list {
		out[i] = n.of(id)
	}
	return out
}

// maxSlotBytes bounds a slot that is a name; models write slots.
const maxSlotBytes = 80

// slotOf is the slot of a task if it can be a key, else empty.
func slotOf(t *blackboard.Task) string {
	if len(t.Slot) > maxSlotBytes || !isPlain(t.Slot) {
		return ""
	}
	return t.Slot
}

// nameTasks brings blocks in the order in which their tasks were made, whatever
// their status, so that the difference of two views is what happened to the
// tasks; and it names each after its slot, or its id without one. Of several
// with one slot the oldest has it alone, so that a task that replaces another
// does not rename it.
func nameTasks(shown []*taskBlock) taskNames {
	slices.SortFunc(shown, func(a, b *taskBlock) int {
		return cmp.Or(cmp.Compare(a.created, b.created), cmp.Compare(a.id, b.id))
	})
	names, taken := make(taskNames, len(shown)), make(map[string]bool, len(shown))
	for _, b := range shown {
		b.name = unused(cmp.Or(b.slot, string(b.id)), taken)
		names[b.id] = b.name
	}
	return names
}

func (r *Renderer) tasksSection(e *emitter, shown []*taskBlock, left leftOut) {
	e.optNum(0, "tasks_not_shown", int64(left.open))
	e.optNum(0, "done_tasks_not_shown", int64(left.done))
	if len(shown) == 0 {
		e.raw(0, "tasks", "{}")
		r.tasks = map[message.TaskID]*taskBlock{}
		return
	}
	e.open(0, "tasks")
	for _, b := range shown {
		e.open(2, b.name)
		e.b = append(e.b, b.text...)
	}
	if len(r.tasks) > 2*len(shown) {
		maps.DeleteFunc(r.tasks, func(_ message.TaskID, b *taskBlock) bool { return b.round != r.round })
	}
}

// every renders all tasks there are. It copies nothing from the last time: a
// full view is rendered once.
func (r *Renderer) every(s State) (shown []*taskBlock) {
	for t := range s.Tasks(statuses...) {
		shown = append(shown, r.render(s, &t, false))
	}
	return shown
}

// block returns the rendered task, from the last time if nothing that shows
// has changed.
func (r *Renderer) block(s State, t blackboard.Task, stub bool) *taskBlock {
	b, ok := r.tasks[t.ID]
	if !ok || b.stub != stub || !sameToTheEye(b.from, &t) {
		b = r.render(s, &t, stub)
		b.from = &t
		r.tasks[t.ID] = b
	}
	b.round = r.round
	return b
}

func (r *Renderer) render(s State, t *blackboard.Task, stub bool) *taskBlock {
	e := &emitter{}
	r.head(e, t)
	if !stub {
		r.body(e, t, func(list []message.TaskID) []string { return slotsOf(s, list) })
	}
	return &taskBlock{id: t.ID, slot: slotOf(t), created: t.Created.Seq, text: e.b, line: taskLine(t, stub), stub: stub}
}

// slotsOf calls tasks by their slots, which never change, unlike their names.
func slotsOf(s State, list []message.TaskID) []string {
	out := make([]string, len(list))
	for i, id := range list {
		out[i] = string(id)
		if t, ok := s.Task(id); ok {
			out[i] = cmp.Or(slotOf(&t), out[i])
		}
	}
	return out
}

// head is what a task is and what was decided of it. It is all of a stub, and
// stands first, so that a change of it is seen with the name above.
func (r *Renderer) head(e *emitter, t *blackboard.Task) {
	e.str(4, "status", string(t.Status))
	e.optStr(4, "agent", string(t.Agent))
	e.optStr(4, "reviewer", string(t.Review.Reviewer))
	e.optStr(4, "verdict", verdictOf(t))
	e.optStr(4, "merged_as", t.Review.MergedAs)
	e.str(4, "intent", t.Intent)
	if slotOf(t) != "" {
		e.str(4, "id", string(t.ID))
	}
}

// verdictOf is what was said of the work that is there now, and by whom.
func verdictOf(t *blackboard.Task) string {
	judged := t.Review.Judged()
	switch {
	case judged != nil && t.Review.JudgedBy != "":
		return judged.Decision + " by " + string(t.Review.JudgedBy)
	case judged != nil:
		return judged.Decision
	case t.Outcome != nil:
		return t.Outcome.Status
	case t.Status == blackboard.Rejected && t.Correction != nil:
		return "corrected: " + strconv.Quote(t.Correction.FailedCriterion) + " is not met"
	}
	return ""
}

// body is the rest of a task that is not done.
func (r *Renderer) body(e *emitter, t *blackboard.Task, called func([]message.TaskID) []string) {
	e.num(4, "priority", int64(t.Priority))
	e.list(4, "human_notes", t.HumanNotes)
	e.optStr(4, "goal", string(t.Goal))
	if slotOf(t) == "" {
		e.optStr(4, "slot", t.Slot)
	}
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
	e.optList(4, "depends_on", called(t.DependsOn))
	if t.Supersedes != "" {
		e.str(4, "supersedes", called([]message.TaskID{t.Supersedes})[0])
	}
	e.optStr(4, "reopens", string(t.Reopens))
	gates(e, t)
	r.blocked(e, t)
	r.review(e, t)
	r.judged(e, t)
}

func (r *Renderer) blocked(e *emitter, t *blackboard.Task) {
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

// judged shows what came out and what was said of it.
func (r *Renderer) judged(e *emitter, t *blackboard.Task) {
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
