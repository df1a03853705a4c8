package blackboard

import (
	"fmt"
	"slices"

	"orch/blackboard/message"
)

func roundEffects() []effect {
	return []effect{
		on((*tx).replanRequest), on((*tx).outcomeSummary),
		on((*tx).megram), on((*tx).planDirective), on((*tx).giveUp), on((*tx).finalResult),
	}
}

// open returns the round that waits for the controller, or nil.
func (g *Goal) open() *Round {
	if n := len(g.Rounds); n > 0 && g.Rounds[n-1].Answer.Seq == 0 {
		return &g.Rounds[n-1]
	}
	return nil
}

// ownOpenRound is open in memory that may be changed.
func (g *Goal) ownOpenRound() *Round {
	g.Rounds = slices.Clone(g.Rounds)
	return g.open()
}

// FanIn tells whether nothing of a goal's current plan runs, is in review, or
// could be claimed but for what others hold at the moment; if not, why.
func (s *State) FanIn(g Goal) (complete bool, why string) {
	if g.Plan == nil {
		return false, "there is no plan"
	}
	// Those that may be many and settled come last.
	for _, st := range []Status{Claimed, ReadyForReview, Rejected, IntegrationFailed, Blocked, Approved, Unclaimed} {
		for t := range s.PlanTasksIn(g, st) {
			if t.unsettled() {
				return false, fmt.Sprintf("task %s is %s", t.ID, t.Status)
			}
		}
	}
	return true, ""
}

// unsettled tells whether the task's part of the plan is still to come. A task
// that waits does not count: when nothing else moves, it never starts.
func (t *Task) unsettled() bool {
	switch t.Status {
	case Claimed, ReadyForReview, Rejected, IntegrationFailed:
		return true
	case Blocked:
		return t.For == message.Coder // the planner has its say first: rescope, reassign or give up
	case Unclaimed:
		return !t.Waiting
	case Approved:
		return !t.done()
	}
	return false
}

// beginControl checks what holds for every word of the meta-validator to the controller.
func (x *tx) beginControl(task message.GoalID, plan message.PlanID) (*Goal, error) {
	g, err := x.liveGoal()
	if err != nil {
		return nil, err
	}
	switch {
	case g.Plan == nil:
		return nil, x.refuse("the goal has no plan")
	case g.PlanCause.Seq != 0:
		return nil, x.refuse("a new plan is asked for")
	case g.open() != nil:
		return nil, x.refuse("the round of seq %d waits for the controller", g.open().Ref.Seq)
	case task != g.ID:
		return nil, x.refuse("task_id is %q, want %q", task, g.ID)
	case plan != g.Plan.PlanID:
		return nil, x.refuse("plan %s is not the current one, which is %s", plan, g.Plan.PlanID)
	}
	for _, r := range g.Rounds {
		if r.Ref.Seq > g.PlanRef.Seq {
			return nil, x.refuse("the plan was judged at seq %d", r.Ref.Seq)
		}
	}
	if ok, why := x.s.FanIn(*g); !ok {
		return nil, x.refuse("fan-in is not complete: %s", why)
	}
	return g, nil
}

func (x *tx) replanRequest(b message.ReplanRequest) error {
	g, err := x.beginControl(b.TaskID, b.PlanID)
	if err != nil {
		return err
	}
	g.Rounds = appended(g.Rounds, Round{Ref: x.ref, Request: &b, Bill: x.openBill()})
	return nil
}

func (x *tx) outcomeSummary(b message.OutcomeSummary) error {
	g, err := x.beginControl(b.TaskID, b.PlanID)
	if err != nil {
		return err
	}
	reported := map[message.TaskID]bool{}
	for _, o := range b.Outcomes {
		reported[o.SubtaskID] = true
	}
	for _, t := range x.s.PlanTasks(*g) {
		switch {
		case t.Status == Superseded && t.Goal == g.ID:
		case !t.done():
			return x.refuse("task %s is %s, so not everything matched", t.ID, t.Status)
		case t.Outcome != nil && !reported[t.ID]:
			return x.refuse("it has no outcome of task %s", t.ID)
		}
	}
	judged := map[string]bool{}
	for _, v := range b.TaskVerdicts {
		judged[v.CriterionID] = true
	}
	for _, c := range g.Plan.TaskCriteria {
		if !judged[c.ID] {
			return x.refuse("criterion %s of the goal was not judged", c.ID)
		}
	}
	g.Rounds = appended(g.Rounds, Round{Ref: x.ref, Summary: &b, Bill: x.openBill()})
	return nil
}

// answers returns the goal whose open round the message answers; round is nil
// for a goal that is a fact to remember, which needs neither plan nor round.
func (x *tx) answers() (*Goal, *Round, error) {
	g, err := x.liveGoal()
	if err != nil {
		return nil, nil, err
	}
	if r := g.ownOpenRound(); r != nil {
		if x.m.Cause != r.Ref.ID {
			return nil, nil, x.refuse("it answers %q, open is the round of %s", x.m.Cause, r.Ref.ID)
		}
		return g, r, nil
	}
	if g.Spec != nil && g.Spec.Declarative && x.m.Cause == g.SpecRef.ID {
		return g, nil, nil
	}
	return nil, nil, x.refuse("no round waits for the controller")
}

func (x *tx) megram(b message.Megram) error {
	if err := x.checkSpent(b.Spent); err != nil {
		return err
	}
	if x.m.From != message.GGS {
		return nil // the memory's own consolidation
	}
	g, r, err := x.answers()
	if err != nil {
		return err
	}
	list := &g.Megrams
	if r != nil {
		list = &r.Megrams
	}
	return x.once(list, b.Ordinal)
}

// once takes a word to the memory into the list of those written for a round,
// unless it is there.
func (x *tx) once(list *[]string, ordinal int) error {
	name := fmt.Sprintf("%s:%d", x.m.Type(), ordinal)
	if slices.Contains(*list, name) {
		return x.refuse("number %d for this round was written before", ordinal)
	}
	*list = appended(*list, name)
	return nil
}

func (x *tx) planDirective(b message.PlanDirective) error {
	g, r, err := x.answers()
	if err != nil {
		return err
	}
	switch {
	case r == nil:
		return x.refuse("a fact to remember needs no plan")
	case b.TaskID != g.ID:
		return x.refuse("task_id is %q, want %q", b.TaskID, g.ID)
	}
	r.answer(x.ref)
	r.Directive = &b
	x.beginRound(g)
	return nil
}

// giveUp must not come between the two messages of a merge: what moved a branch
// is on record as merged.
func (x *tx) giveUp(b message.GiveUp) error {
	g, err := x.liveGoal()
	if err != nil {
		return err
	}
	if g.GiveUp != nil {
		return x.refuse("goal %s was given up already", g.ID)
	}
	for _, key := range x.tasksOf(g.ID, []Status{Approved}) {
		if t := x.tasks.peek(key); t != nil && t.Review.Merge != nil {
			return x.refuse("the merge of task %s has begun and its end is not known", t.ID)
		}
	}
	g.GiveUp, g.GiveUpRef = &b, x.ref
	return nil
}

// ends returns the goal that a final result is about, and the round it answers:
// none if it answers a person who gave the goal up, or a fact to remember.
func (x *tx) ends(b message.FinalResult) (*Goal, *Round, error) {
	g, err := x.liveGoal()
	if err != nil {
		return nil, nil, err
	}
	if g.GiveUp == nil || x.m.Cause != g.GiveUpRef.ID {
		return x.answers()
	}
	if b.Directive != message.Abandon {
		return nil, nil, x.refuse("the goal was given up, and this says %s", b.Directive)
	}
	return g, g.ownOpenRound(), nil
}

func (x *tx) finalResult(b message.FinalResult) error {
	g, r, err := x.ends(b)
	if err != nil {
		return err
	}
	switch {
	case b.TaskID != g.ID:
		return x.refuse("task_id is %q, want %q", b.TaskID, g.ID)
	case b.Directive == message.Accept && r != nil && r.Summary == nil:
		return x.refuse("accept answers a round in which not everything matched")
	}
	if err := x.checkSpent(b.Spent); err != nil {
		return err
	}
	if m := x.meter(g.ID); m.Advice != nil || len(b.Spent) > 0 {
		held := m.Advice.Total()
		m.Advice = nil
		m.hold(message.GGS, -held)
		for _, s := range b.Spent {
			m.spend(s)
		}
	}
	if r != nil {
		r.answer(x.ref)
	}
	g.Bill.Step = ActivationKey{}
	g.Status, g.Suspended = GoalEnded, nil
	g.Final, g.FinalRef = &b, x.ref
	x.board().Dreams.LastEnd = x.ref.Seq
	g.PlanCause = Ref{}
	for _, key := range x.tasksOf(g.ID, append(slices.Clone(unfinished), Draft)) {
		if err := x.end(key, Abandoned); err != nil {
			return err
		}
	}
	x.forget(g.ID)
	return nil
}

// forget drops what only matters while a goal goes on. Activations that still
// live go when they end.
func (x *tx) forget(goal message.GoalID) {
	for _, key := range x.s.activations.scan("activation.goal", string(goal)+sep) {
		if a := x.activations.peek(key); a != nil && !a.Live() {
			x.activations.put(key, nil)
		}
	}
	for _, key := range x.s.approvals.scan("approval.open", string(goal)+sep) {
		x.approvals.put(key, nil)
	}
}
