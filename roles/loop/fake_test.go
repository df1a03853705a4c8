package loop

import (
	"cmp"
	"errors"
	"iter"
	"slices"
	"time"

	"orch/blackboard"
	"orch/blackboard/message"
)

var t0 = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func after(ms int64) time.Time { return t0.Add(time.Duration(ms) * time.Millisecond) }

var testPolicy = Policy{
	CrashLimit: 3, KillLimit: 5, AgainMS: 2_000, BackoffMS: 5_000, BackoffMaxMS: 60_000,
	MemoryResident: true, MemoryWaitMS: 2_000, Terminal: true, Boot: "boot",
}

// board is a state made by hand, for conditions that need no history.
type board struct {
	goals       []blackboard.Goal
	tasks       []blackboard.Task
	activations []blackboard.Activation
	agents      []blackboard.Agent
	brakes      blackboard.Brakes
	limits      map[string]time.Time
	usual       map[message.Role]float64
	unclaimable map[message.TaskID]bool
	fanIn       bool
	sprint      *blackboard.Sprint
}

func (b *board) Limits() map[string]time.Time { return b.limits }

func (b *board) Usual(role message.Role) (float64, bool) {
	usd, ok := b.usual[role]
	return usd, ok
}

func (b *board) Goals() []blackboard.Goal { return b.goals }

func (b *board) Goal(id message.GoalID) (blackboard.Goal, bool) {
	i := slices.IndexFunc(b.goals, func(g blackboard.Goal) bool { return g.ID == id })
	if i < 0 {
		return blackboard.Goal{}, false
	}
	return b.goals[i], true
}

func (b *board) OpenGoals() []blackboard.Goal {
	return slices.DeleteFunc(slices.Clone(b.goals), func(g blackboard.Goal) bool { return g.Status == blackboard.GoalEnded })
}

func (b *board) PlanTasks(g blackboard.Goal) []blackboard.Task {
	if g.Plan == nil {
		return nil
	}
	var out []blackboard.Task
	for _, id := range slices.Concat(g.Plan.Kept, g.Plan.SubtaskIDs) {
		if t, ok := b.Task(id); ok {
			out = append(out, t)
		}
	}
	return out
}

func (b *board) PlanTasksIn(g blackboard.Goal, status ...blackboard.Status) iter.Seq[blackboard.Task] {
	all := slices.DeleteFunc(b.PlanTasks(g), func(t blackboard.Task) bool { return !slices.Contains(status, t.Status) })
	slices.SortStableFunc(all, func(a, b blackboard.Task) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.Created.Seq, b.Created.Seq))
	})
	return slices.Values(all)
}

func (b *board) Begun(g blackboard.Goal) iter.Seq[blackboard.Task] {
	return among(b.takeable(g), func(t blackboard.Task) bool { return t.Fence > 0 })
}

func (b *board) Fresh(g blackboard.Goal, roles ...message.Role) iter.Seq[blackboard.Task] {
	return among(b.takeable(g), func(t blackboard.Task) bool {
		return t.Fence == 0 && !t.Waiting && slices.Contains(roles, t.For)
	})
}

func (b *board) takeable(g blackboard.Goal) iter.Seq[blackboard.Task] {
	return b.PlanTasksIn(g, blackboard.Unclaimed, blackboard.Rejected, blackboard.IntegrationFailed)
}

func (b *board) InReview(g blackboard.Goal, roles ...message.Role) iter.Seq[blackboard.Task] {
	return among(b.PlanTasksIn(g, blackboard.ReadyForReview), func(t blackboard.Task) bool { return slices.Contains(roles, t.For) })
}

func among(tasks iter.Seq[blackboard.Task], keep func(blackboard.Task) bool) iter.Seq[blackboard.Task] {
	return func(yield func(blackboard.Task) bool) {
		for t := range tasks {
			if keep(t) && !yield(t) {
				return
			}
		}
	}
}

func (b *board) InPlan(g blackboard.Goal, id message.TaskID) bool {
	return slices.ContainsFunc(b.PlanTasks(g), func(t blackboard.Task) bool { return t.ID == id })
}

func (b *board) Task(id message.TaskID) (blackboard.Task, bool) {
	i := slices.IndexFunc(b.tasks, func(t blackboard.Task) bool { return t.ID == id })
	if i < 0 {
		return blackboard.Task{}, false
	}
	return b.tasks[i], true
}

func (b *board) Tasks(status ...blackboard.Status) iter.Seq[blackboard.Task] {
	return func(yield func(blackboard.Task) bool) {
		for _, t := range b.tasks {
			if slices.Contains(status, t.Status) && !yield(t) {
				return
			}
		}
	}
}

func (b *board) CanClaim(t blackboard.Task) error {
	if b.unclaimable[t.ID] {
		return errors.New("not now")
	}
	return nil
}

func (b *board) AgentFree(id message.AgentID) bool {
	_, registered := b.Agent(id)
	busy := slices.ContainsFunc(b.activations, func(a blackboard.Activation) bool { return a.Live() && a.Agent == id })
	holds := slices.ContainsFunc(b.tasks, func(t blackboard.Task) bool { return t.Status == blackboard.Claimed && t.Agent == id })
	return !registered && !busy && !holds
}

func (b *board) Sprint() *blackboard.Sprint { return b.sprint }

// FanIn is what the board itself decides; here it is said by hand.
func (b *board) FanIn(blackboard.Goal) (bool, string) { return b.fanIn, "" }

func (b *board) Activation(k blackboard.ActivationKey) (blackboard.Activation, bool) {
	i := slices.IndexFunc(b.activations, func(a blackboard.Activation) bool { return a.ActivationKey == k })
	if i < 0 {
		return blackboard.Activation{}, false
	}
	return b.activations[i], true
}

func (b *board) LiveActivations() []blackboard.Activation {
	return slices.DeleteFunc(slices.Clone(b.activations), func(a blackboard.Activation) bool { return !a.Live() })
}

func (b *board) Agents() []blackboard.Agent { return b.agents }

func (b *board) Agent(id message.AgentID) (blackboard.Agent, bool) {
	i := slices.IndexFunc(b.agents, func(a blackboard.Agent) bool { return a.ID == id })
	if i < 0 {
		return blackboard.Agent{}, false
	}
	return b.agents[i], true
}

func (b *board) Brakes() blackboard.Brakes { return b.brakes }

func ref(id message.ID, seq uint64) blackboard.Ref { return blackboard.Ref{ID: id, Seq: seq, TS: t0} }

// perceived is an open goal with a spec and an unanswered question to the memory.
func perceived() blackboard.Goal {
	return blackboard.Goal{
		ID: "g", Status: blackboard.GoalOpen, InputRef: ref("input", 1), Spec: &message.TaskSpec{TaskID: "g"}, SpecRef: ref("spec", 2),
		PlanCause: ref("spec", 2), RoundCause: ref("spec", 2),
	}
}

// planned is an open goal with a plan of the given tasks.
func planned(ids ...message.TaskID) blackboard.Goal {
	g := perceived()
	g.PlanCause = blackboard.Ref{}
	g.Calibration = blackboard.Calibration{Cause: "spec", Query: &message.MemoryQuery{}, Asked: ref("asked", 3), Reply: ref("reply", 4)}
	g.Plan = &message.DispatchManifest{PlanID: "p1", SubtaskIDs: ids}
	g.PlanRef = ref("manifest", 9)
	return g
}

func task(id message.TaskID, status blackboard.Status) blackboard.Task {
	t := blackboard.Task{Goal: "g", Status: status, Created: ref("made-"+message.ID(id), 5)}
	t.ID, t.PlanID, t.Priority, t.Sequence = id, "p1", 100, 1
	return t
}

// was is a try of an activation that ended.
func was(key blackboard.ActivationKey, class string, crashes, kills int) blackboard.Activation {
	return blackboard.Activation{
		ActivationKey: key, Goal: "g", Class: class, Crashes: crashes, Kills: kills, Try: 1, Started: ref("s", 20), Ended: ref("e", 21),
	}
}
