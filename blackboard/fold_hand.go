package blackboard

import (
	"bytes"
	"encoding/json"
	"iter"
	"reflect"
	"slices"

	"orch/blackboard/message"
)

func handEffects() []effect {
	return []effect{
		on((*tx).taskAdded), on((*tx).unblocked), on((*tx).humanEdit), on((*tx).humanNote),
	}
}

func (x *tx) taskAdded(b message.TaskAdded) error {
	if x.m.Goal != "" {
		if _, err := x.liveGoal(); err != nil {
			return err
		}
	}
	to := Unclaimed
	if b.Draft {
		to = Draft
	}
	ids := make([]message.TaskID, len(b.Tasks))
	for i, t := range b.Tasks {
		ids[i] = t.ID
		old := x.tasks.peek(string(t.ID))
		if !b.Draft && old != nil && old.Status == Draft && old.PlanID == "" && t.PlanID == "" && old.Goal == x.m.Goal && old.Created.Seq < x.m.Seq {
			if err := x.completeDraft(t); err != nil {
				return err
			}
			continue
		}
		if err := x.newTask(t, x.m.Goal, "", to, i); err != nil {
			return err
		}
	}
	for _, t := range b.Tasks {
		if p := planKey(x.m.Goal, t.PlanID); t.PlanID != "" {
			if old := x.s.plans.get(p); old != nil && old.State != "" {
				return x.refuse("plan %s is %s", t.PlanID, old.State)
			}
		}
	}
	return x.checkDependencies(ids, nil)
}

// completeDraft gives a person's draft its final form and makes it claimable.
func (x *tx) completeDraft(b message.SubTask) error {
	t := x.tasks.edit(string(b.ID))
	if err := x.checkSubTask(b, t.Goal); err != nil {
		return err
	}
	t.SubTask = b
	return x.move(t, Unclaimed)
}

// environmental is how often a planner may try a task again that something
// around it blocks; then a person has to look.
const environmental = 3

// OnlyAPerson tells that what is around a task has blocked it so often that the
// planner's answer would not help.
func (t *Task) OnlyAPerson() bool { return t.Review.Environment >= environmental }

func (x *tx) unblocked(b message.Unblocked) error {
	if b.Task == "" {
		if x.m.From != message.Human {
			return x.refuse("it names no task")
		}
		return x.retryGoal()
	}
	t, err := x.task(b.Task)
	if err != nil {
		return err
	}
	if x.m.From == message.Planner {
		switch {
		case t.For != message.Coder:
			return x.refuse("task %s is not a coder's", t.ID)
		case t.Exhausted():
			return x.refuse("%d coders were blocked on task %s: it must be rescoped", len(t.Review.FailedBy), t.ID)
		case t.OnlyAPerson():
			return x.refuse("task %s was blocked %d times by what is around it: a person has to look, then: orch task unblock", t.ID, t.Review.Environment)
		case b.Reason == "":
			return x.refuse("it answers nothing")
		}
	} else {
		t.Review.Environment = 0
	}
	if b.Reason != "" && t.For == message.Coder {
		t.Review.Answers = appended(t.Review.Answers, b.Reason)
	}
	t.BlockedReason, t.BlockedKind = "", ""
	t.Outcome, t.OutcomeRef, t.Correction, t.Corrections = nil, Ref{}, nil, 0
	t.Review.Cycles, t.Review.Iterations = 0, 0
	return x.move(t, Unclaimed)
}

// retryGoal lifts what stopped a goal and lets steps that failed too often be
// tried again.
func (x *tx) retryGoal() error {
	g, err := x.liveGoal()
	if err != nil {
		return err
	}
	x.reopen(g)
	x.tryAgain(g)
	return nil
}

// tryAgain lets the steps of a goal that nobody would start again be started.
func (x *tx) tryAgain(g *Goal) {
	for _, key := range x.s.activations.scan("activation.goal", string(g.ID)+sep) {
		a := x.activations.peek(key)
		switch {
		case a == nil || a.Live():
		case a.Outage != nil:
			a := x.activations.edit(key)
			a.Outage, a.Crashes, a.Kills = nil, 0, 0
		case a.Class == message.EndUnjudged:
			x.activations.put(key, nil)
		case a.Class == message.EndDone:
			// Whatever it did is on the board, so only one that ended well and
			// said nothing is still asked for; it may be tried again.
			x.activations.put(key, nil)
		case a.Crashes+a.Kills > 0:
			a := x.activations.edit(key)
			a.Crashes, a.Kills = 0, 0
		}
	}
}

func (x *tx) humanNote(b message.HumanNote) error {
	if b.Message == "" {
		return x.refuse("it says nothing")
	}
	id := b.For
	if id == "" {
		id = x.m.Subject
	}
	if x.tasks.peek(id) == nil {
		x.hear(id, b.Message)
		return nil
	}
	t, err := x.touch(message.TaskID(id))
	if err != nil {
		return err
	}
	t.HumanNotes = appended(t.HumanNotes, b.Message)
	return nil
}

// maxSaid is how many of a person's words a goal keeps; all are in the log.
const maxSaid = 20

// notWords are reasons that orch gives when a person said none.
var notWords = []string{"", "by hand", "orch run --continue"}

// hear keeps a person's words with the goals they are about: the named one, or
// those that are open, for one role or for all.
func (x *tx) hear(to, text string) {
	if x.m.From != message.Human || slices.Contains(notWords, text) {
		return
	}
	said := Said{Text: text, Ref: x.ref}
	if _, err := message.ParseAgent(message.AgentID(to + "-1")); err == nil {
		said.For = to
	}
	keys := slices.Collect(x.openGoals())
	if x.m.Goal != "" {
		keys = []string{string(x.m.Goal)}
	} else if x.goals.peek(to) != nil {
		keys = []string{to}
	}
	for _, key := range keys {
		if g := x.goals.edit(key); g != nil && g.Status != GoalEnded {
			g.Said = appended(g.Said[max(0, len(g.Said)-maxSaid+1):], said)
		}
	}
}

func (x *tx) openGoals() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, key := range x.s.goals.scan("goal.open", "") {
			if !yield(key) {
				return
			}
		}
	}
}

func (x *tx) humanEdit(b message.HumanEdit) error {
	if len(b.Edits) == 0 {
		return x.refuse("it edits nothing")
	}
	for _, e := range b.Edits {
		if e.Task == "" {
			return x.refuse("field %q belongs to no task", e.Field)
		}
		t := x.tasks.edit(string(e.Task))
		if t == nil || x.m.Goal != "" && t.Goal != x.m.Goal {
			return x.refuse("there is no task %q", e.Task)
		}
		if err := x.edit(t, e); err != nil {
			return err
		}
	}
	return nil
}

// edit changes one field of a task as a person wants it.
func (x *tx) edit(t *Task, e message.Edit) error {
	if e.Field == "status" {
		return x.editStatus(t, e)
	}
	if !legal(x.m.Type(), x.m.From, t.Status, "") {
		return &TransitionError{Task: t.ID, Type: x.m.Type(), From: t.Status}
	}
	field, ok := map[string]any{
		"human_notes": &t.HumanNotes, "priority": &t.Priority, "intent": &t.Intent, "done_when": &t.DoneWhen,
		"scope": &t.Scope, "targets": &t.Targets, "depends_on": &t.DependsOn,
	}[e.Field]
	if !ok {
		return x.refuse("field %q can not be edited", e.Field)
	}
	if !same(e.Old, field) {
		return x.refuse("%s of task %s is no longer what was edited", e.Field, t.ID)
	}
	fresh := reflect.New(reflect.TypeOf(field).Elem())
	dec := json.NewDecoder(bytes.NewReader(e.New))
	if err := dec.Decode(fresh.Interface()); err != nil || dec.More() {
		return x.refuse("%s of task %s can not be %.100s", e.Field, t.ID, e.New)
	}
	reflect.ValueOf(field).Elem().Set(fresh.Elem())
	switch {
	case t.Intent == "":
		return x.refuse("task %s can not be without intent", t.ID)
	case e.Field == "depends_on":
		return x.checkNewDependencies(t)
	}
	return nil
}

func (x *tx) editStatus(t *Task, e message.Edit) error {
	var to Status
	if !same(e.Old, &t.Status) {
		return x.refuse("the status of task %s is no longer what was edited", t.ID)
	}
	if err := json.Unmarshal(e.New, &to); err != nil || to == "" {
		return x.refuse("the status of task %s can not be %.100s", t.ID, e.New)
	}
	return x.move(t, to)
}

// same tells whether JSON says what a value is. Empty and missing lists are the same.
func same(raw json.RawMessage, value any) bool {
	now, err := encodeRecord(value)
	if err != nil {
		return false
	}
	var a, b any
	if len(raw) > 0 && json.Unmarshal(raw, &a) != nil || json.Unmarshal(now, &b) != nil {
		return false
	}
	return reflect.DeepEqual(emptyAsNil(a), emptyAsNil(b))
}

func emptyAsNil(v any) any {
	switch w := v.(type) {
	case []any:
		if len(w) == 0 {
			return nil
		}
	case string:
		if w == "" {
			return nil
		}
	}
	return v
}

// checkNewDependencies refuses an edit that makes a task wait for itself.
func (x *tx) checkNewDependencies(t *Task) error {
	seen := map[message.TaskID]bool{}
	next := slices.Clone(t.DependsOn)
	for len(next) > 0 {
		id := next[len(next)-1]
		next = next[:len(next)-1]
		if id == t.ID {
			return x.refuse("task %s would wait for itself", t.ID)
		}
		if seen[id] {
			continue
		}
		seen[id] = true
		dep := x.tasks.peek(string(id))
		if dep == nil {
			return x.refuse("task %s depends on %q, which does not exist", t.ID, id)
		}
		next = append(next, dep.DependsOn...)
	}
	return nil
}
