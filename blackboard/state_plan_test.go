package blackboard

import (
	"cmp"
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"orch/blackboard/message"
)

// checkPlans compares what is found by index with what a look at every task says.
func checkPlans(rt *rapid.T, s *State) {
	for _, g := range s.Goals() {
		all := s.PlanTasks(g)
		byOrder := slices.SortedStableFunc(slices.Values(all), func(a, b Task) int { return cmp.Compare(a.orderKey(), b.orderKey()) })
		among := func(keep func(Task) bool) []message.TaskID {
			out := []message.TaskID{}
			for _, t := range byOrder {
				if keep(t) {
					out = append(out, t.ID)
				}
			}
			return out
		}
		for _, st := range [][]Status{{Unclaimed}, {Blocked, IntegrationFailed}, {Claimed, ReadyForReview, Approved}, statuses[:]} {
			if got, want := ids(s.PlanTasksIn(g, st...)), among(func(t Task) bool { return slices.Contains(st, t.Status) }); !slices.Equal(got, want) {
				rt.Fatalf("tasks of %s that are %v: %v, want %v", g.ID, st, got, want)
			}
		}
		if got, want := ids(s.Begun(g)), among(func(t Task) bool { return claimableStatus(t.Status) && t.Fence > 0 }); !slices.Equal(got, want) {
			rt.Fatalf("begun of %s: %v, want %v", g.ID, got, want)
		}
		for _, of := range [][]message.Role{{message.Coder}, {message.Executor, ""}} {
			fresh := func(t Task) bool {
				return slices.Contains(of, t.For) && claimableStatus(t.Status) && !t.Waiting && t.Fence == 0
			}
			if got, want := ids(s.Fresh(g, of...)), among(fresh); !slices.Equal(got, want) {
				rt.Fatalf("fresh of %s for %v: %v, want %v", g.ID, of, got, want)
			}
			if got, want := ids(s.InReview(g, of...)), among(func(t Task) bool { return slices.Contains(of, t.For) && t.Status == ReadyForReview }); !slices.Equal(got, want) {
				rt.Fatalf("in review of %s for %v: %v, want %v", g.ID, of, got, want)
			}
		}
		for t := range s.Tasks() {
			if got, want := s.InPlan(g, t.ID), slices.ContainsFunc(all, func(o Task) bool { return o.ID == t.ID }); got != want {
				rt.Fatalf("%s in the plan of %s: %v, want %v", t.ID, g.ID, got, want)
			}
		}
		done, _ := s.FanIn(g)
		if want := g.Plan != nil && !slices.ContainsFunc(all, func(t Task) bool { return t.unsettled() }); done != want {
			rt.Fatalf("fan-in of %s: %v, want %v", g.ID, done, want)
		}
	}
	checkMerges(rt, s)
}

func checkMerges(rt *rapid.T, s *State) {
	last, seq := "", uint64(0)
	var merging []message.TaskID
	for t := range s.Tasks() {
		if t.Status == Merged && t.Changed.Seq > seq {
			last, seq = t.Review.MergedAs, t.Changed.Seq
		}
		if t.Review.Merge != nil {
			merging = append(merging, t.ID)
		}
		if t.Fence == 0 && (t.Agent != "" || t.Review.Cycles > 0 || t.Review.Iterations > 0) {
			rt.Fatalf("%s was never claimed, but %s", t.ID, fmt.Sprint(t.Agent, t.Review.Cycles, t.Review.Iterations))
		}
	}
	slices.Sort(merging)
	if got := s.LastMerged(); got != last {
		rt.Fatalf("merged last is %q, want %q", got, last)
	}
	if got := ids(s.Merging()); !slices.Equal(got, append([]message.TaskID{}, merging...)) {
		rt.Fatalf("merging are %v, want %v", got, merging)
	}
}
