package blackboard

import (
	"fmt"
	"iter"
	"path"
	"strings"

	"orch/blackboard/message"
)

// NotClaimableError says why a task can not be claimed now.
type NotClaimableError struct {
	Task message.TaskID
	Why  string
}

func (e *NotClaimableError) Error() string {
	return fmt.Sprintf("task %s can not be claimed: %s", e.Task, e.Why)
}

// claimableStatus tells whether a task with the status is there to be taken.
func claimableStatus(s Status) bool {
	return s == Unclaimed || s == Rejected || s == IntegrationFailed
}

// done tells whether tasks that wait for t may start: its work is where they
// can see it. A coder's work is, once it is merged.
func (t *Task) done() bool {
	return t.Status == Merged || t.Status == Approved && t.For != message.Coder
}

// class says how much of the shared directory a task may change.
type class string

const (
	footprintNone  class = "none"  // nothing: it only reads, or has a workspace of its own
	footprintSome  class = "some"  // what it declared
	footprintWhole class = "whole" // it declared nothing, so it may be anything
)

// footprint is what a task may change of the directory that tasks share. A
// task made by hand outside a goal that declares nothing counts as nothing:
// whoever works it by hand looks after that.
func footprint(t *Task) (class, []string) {
	switch {
	case t.ReadOnly || t.For == message.Coder:
		return footprintNone, nil
	case len(t.Targets) == 0 && t.Goal == "":
		return footprintNone, nil
	}
	var roots []string
	for _, target := range t.Targets {
		root := targetRoot(target)
		if root == "" {
			return footprintWhole, nil
		}
		roots = append(roots, root)
	}
	if len(roots) == 0 {
		return footprintWhole, nil
	}
	return footprintSome, roots
}

// targetRoot is the file or directory a declared target is about, without
// what comes after its first wildcard; empty for the whole workspace and for
// what may lie outside of it.
func targetRoot(target string) string {
	p := strings.ReplaceAll(target, `\`, "/")
	if i := strings.IndexAny(p, "*?[{"); i >= 0 {
		p = p[:strings.LastIndexByte(p[:i], '/')+1]
	}
	p = path.Clean(p)
	if p == "." || p == "/" || p == ".." || strings.HasPrefix(p, "../") || strings.Contains(p, sep) {
		return ""
	}
	return p
}

// overlap tells whether two roots share a file.
func overlap(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	return a == b || strings.HasPrefix(b, a+"/")
}

// hold is what one claimed task keeps others from changing.
type hold struct {
	task    message.TaskID
	agent   message.AgentID
	whole   bool
	targets []string
}

// holds lists what claimed tasks keep others from changing. There are as many
// as steps that run.
func (s *State) holds() []hold {
	var out []hold
	for _, key := range s.tasks.scan("task.held", "") {
		if t := s.tasks.get(key); t != nil {
			c, targets := footprint(t)
			out = append(out, hold{t.ID, t.Agent, c == footprintWhole, targets})
		}
	}
	return out
}

// conflict returns the first hold that a task of the class and targets would
// run into, or nil.
func conflict(holds []hold, c class, targets []string) *hold {
	if c == footprintNone {
		return nil
	}
	for i, h := range holds {
		if h.whole || c == footprintWhole {
			return &holds[i]
		}
		for _, a := range h.targets {
			for _, b := range targets {
				if overlap(a, b) {
					return &holds[i]
				}
			}
		}
	}
	return nil
}

// CanClaim tells whether the task may be claimed now; if not, it returns a
// *NotClaimableError. It judges the task as the board has it.
func (s *State) CanClaim(t Task) error {
	now := s.tasks.get(string(t.ID))
	if now == nil {
		return &NotClaimableError{t.ID, "there is no such task"}
	}
	if why := s.whyNot(now); why != "" {
		return &NotClaimableError{t.ID, why}
	}
	return nil
}

func (s *State) whyNot(t *Task) string {
	switch {
	case t.Status == Claimed:
		return fmt.Sprintf("%s holds it (claim %d)", t.Agent, t.Fence)
	case !claimableStatus(t.Status):
		return "it is " + string(t.Status)
	case t.Waiting:
		return s.whyWaiting(t)
	}
	if why := s.Brakes().why(); why != "" {
		return why
	}
	if t.Goal != "" {
		if st := s.goalStatus(t.Goal); st != GoalOpen {
			return fmt.Sprintf("its goal %s is %s", t.Goal, st)
		}
	}
	c, targets := footprint(t)
	if c == footprintNone {
		return ""
	}
	if h := conflict(s.holds(), c, targets); h != nil {
		return fmt.Sprintf("%s of %s may change the same files", h.task, h.agent)
	}
	return ""
}

func (b Brakes) why() string {
	switch {
	case b.Paused != nil:
		return "the board is paused"
	case b.Checkpoint != nil:
		return "the board is at a checkpoint"
	}
	return ""
}

// whyWaiting names the first thing a waiting task waits for.
func (s *State) whyWaiting(t *Task) string {
	for _, id := range t.DependsOn {
		if dep := s.tasks.get(string(id)); dep == nil {
			return fmt.Sprintf("it depends on %s, which does not exist", id)
		} else if !dep.done() {
			return fmt.Sprintf("it depends on %s, which is %s", id, dep.Status)
		}
	}
	return fmt.Sprintf("a task of a sequence before %d is not done", t.Sequence)
}

// Claimable yields the tasks an agent of the role may claim now, by priority
// and creation; of any role if role is empty. Taking the first costs the same
// whatever the number of tasks that wait or follow.
func (s *State) Claimable(role message.Role) iter.Seq[Task] {
	return func(yield func(Task) bool) {
		if s.Brakes().why() != "" {
			return
		}
		holds := s.holds()
		for key := range inOrder(s.claimSources(role, holds)) {
			if t := s.tasks.get(key); t != nil && !yield(*t) {
				return
			}
		}
	}
}

// claimSources are the parts of the claim index that may hold a task for the
// role: of every open goal and of none, without the classes that run into what
// is held anyway.
func (s *State) claimSources(role message.Role, holds []hold) []source {
	goals := []message.GoalID{""}
	for _, key := range s.goals.scan("goal.open", "") {
		if id := message.GoalID(key); s.goalStatus(id) == GoalOpen {
			goals = append(goals, id)
		}
	}
	roles := []message.Role{"", role}
	switch role {
	case "":
		roles = []message.Role{"", message.Executor, message.Coder}
	case message.Executor, message.Coder:
	default:
		roles = roles[:1]
	}
	var out []source
	for _, r := range roles {
		for _, g := range goals {
			for _, c := range []class{footprintNone, footprintSome, footprintWhole} {
				if c == footprintWhole && len(holds) > 0 || c == footprintSome && anyWhole(holds) {
					continue
				}
				within := string(r) + sep + string(g) + sep + string(c) + sep
				out = append(out, source{s.freeOf(within, holds), len(within)})
			}
		}
	}
	return out
}

func anyWhole(holds []hold) bool {
	for _, h := range holds {
		if h.whole {
			return true
		}
	}
	return false
}

// freeOf scans a part of the claim index without the tasks whose targets,
// which stand in the key, run into what is held.
func (s *State) freeOf(within string, holds []hold) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for key, rec := range s.tasks.scan("task.claim", within) {
			rest := key[len(within)+orderLen+len(rec):]
			if rest != "" && len(holds) > 0 && conflict(holds, footprintSome, strings.Split(rest[len(sep):], sep)) != nil {
				continue
			}
			if !yield(key, rec) {
				return
			}
		}
	}
}
