package ggs

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"orch/blackboard/message"
)

var (
	slots   = []string{"s", "u"}
	tools   = []string{"a", "b", "shell:go", "shell", ""}
	targets = []string{"x", "y", ""}
)

func drawVerdict(t *rapid.T, name string) message.Verdict {
	v := pass(name)
	if rapid.Bool().Draw(t, "fails") {
		v = fails(name, rapid.SampledFrom([]message.FailureClass{message.Logical, message.Environmental, ""}).Draw(t, "class"))
		v.Kind = rapid.SampledFrom([]string{"", "", "", "transient", "tool", "permission"}).Draw(t, "kind")
	}
	v.Required = rapid.Bool().Draw(t, "required")
	v.Mode = rapid.SampledFrom([]message.Mode{message.Verifiable, message.Plausible}).Draw(t, "mode")
	v.By = rapid.SampledFrom([]string{message.ByCode, message.ByModel}).Draw(t, "by")
	return v
}

func drawOutcome(t *rapid.T, slot string, round int) message.SubTaskOutcome {
	var verdicts []message.Verdict
	for i := range rapid.IntRange(0, 4).Draw(t, "criteria") {
		verdicts = append(verdicts, drawVerdict(t, fmt.Sprint("c", i)))
	}
	o := ran(slot, rapid.SampledFrom(tools).Draw(t, "approach"), rapid.SampledFrom(targets).Draw(t, "target"), verdicts...)
	o.SubtaskID = message.TaskID(fmt.Sprintf("%s.%d", slot, round))
	if len(verdicts) == 0 {
		o.Status = message.Failed
	}
	if rapid.IntRange(0, 9).Draw(t, "skip") == 0 {
		o.Status = message.Skipped
	}
	o.Attempts = rapid.IntRange(0, 3).Draw(t, "attempts")
	for a := range o.Attempts {
		g := message.Gap{Attempt: a + 1}
		for _, v := range verdicts {
			if rapid.Bool().Draw(t, "gap") {
				g.FailedCriteria = append(g.FailedCriteria, message.FailedCriterion{CriterionID: v.CriterionID, Criterion: v.Criterion})
			}
		}
		o.GapTrajectory = append(o.GapTrajectory, g)
	}
	if rapid.Bool().Draw(t, "call") {
		o = called(o, rapid.SampledFrom(tools).Draw(t, "tool"), rapid.SampledFrom(targets).Draw(t, "input"), rapid.SampledFrom([]string{"", "transient", "tool"}).Draw(t, "evidence"))
	}
	return o
}

func drawRound(t *rapid.T, round int) Round {
	if rapid.IntRange(0, 7).Draw(t, "no plan") == 0 {
		return noPlan(rapid.SampledFrom([]string{"fingerprint", RuleNoApproachLeft}).Draw(t, "rule"))
	}
	var outcomes []message.SubTaskOutcome
	for _, slot := range slots[:rapid.IntRange(0, len(slots)).Draw(t, "tasks")] {
		outcomes = append(outcomes, drawOutcome(t, slot, round))
	}
	var goal []message.Verdict
	for i := range rapid.IntRange(0, 2).Draw(t, "goal criteria") {
		goal = append(goal, drawVerdict(t, fmt.Sprint("g", i)))
	}
	r := requestOver(goal, outcomes...)
	if rapid.IntRange(0, 9).Draw(t, "summary") == 0 {
		r = summary(outcomes...)
		r.Summary.TaskVerdicts = goal
	}
	return at(rapid.Int64Range(0, 1_000_000).Draw(t, "elapsed"), r)
}

// Whatever the sensors say, for every policy and any parameters in range: one
// valid answer each round, the same for the same history, and an end in time.
func TestPropertiesOfEveryGoal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		policy := rapid.SampledFrom(message.Policies()).Draw(t, "policy")
		p := Defaults(policy)
		p.MaxReplans = rapid.IntRange(1, 8).Draw(t, "max replans")
		p.Delta = rapid.SampledFrom([]float64{0, 0.3, 1}).Draw(t, "delta")
		p.Epsilon = rapid.SampledFrom([]float64{0, 0.1, 1}).Draw(t, "epsilon")
		h := history()
		h.Strict = rapid.Bool().Draw(t, "strict")
		for n := 1; ; n++ {
			if n > p.Bound()+1 { // a last summary that is not complete counts one replan less
				t.Fatalf("still going after %d rounds", n-1)
			}
			h.Rounds = append(h.Rounds, drawRound(t, n))
			d, err := Decide(policy, p, h, noon, ids())
			if err != nil {
				t.Fatalf("not total: %v", err)
			}
			again, _ := Decide(policy, p, h, noon, ids())
			if !reflect.DeepEqual(d, again) {
				t.Fatal("not deterministic")
			}
			check(t, d)
			checkMegrams(t, h, d)
			if d.Final != nil {
				checkFinal(t, d.Final)
				return
			}
			checkDirective(t, h, d.Directive)
			h.Rounds[n-1].Directive = d.Directive
		}
	})
}

// pairsRun are the pairs the rounds of a history ran, calls included.
func pairsRun(h History) map[message.Pair]bool {
	out := map[message.Pair]bool{}
	for _, s := range sense(h) {
		for _, o := range s.outcomes {
			if o.Status == message.Skipped {
				continue
			}
			out[pairOf(o)] = true
			for _, c := range o.FailedCalls {
				out[c.Pair] = true
				out[message.Pair{Tool: o.Approach, Target: c.Pair.Target}] = true
			}
		}
	}
	return out
}

func checkDirective(t *rapid.T, h History, d *message.PlanDirective) {
	pairs := pairsRun(h)
	approaches, inputs := map[string]bool{}, map[string]bool{}
	for p := range pairs {
		approaches[p.Tool], inputs[p.Target] = true, true
	}
	refined := map[string]bool{}
	for _, o := range d.TaskDirectives {
		for _, p := range []*message.Pair{o.Keep, o.ReturnTo} {
			if p == nil {
				continue
			}
			refined[p.Tool] = true
			if !pairs[*p] || slices.Contains(o.BlockedApproaches, p.Tool) || slices.Contains(o.BlockedPairs, *p) {
				t.Fatalf("%+v was not run, or is blocked by the same directive %+v", *p, o)
			}
		}
		for _, p := range o.BlockedPairs {
			if !pairs[p] {
				t.Fatalf("blocks %+v, which was not run", p)
			}
		}
		if o.Rule == RuleRelease && len(o.BlockedApproaches)+len(o.BlockedPairs) > 0 {
			t.Fatalf("nothing was left to try, and still blocked: %+v", o)
		}
		checkNames(t, o.BlockedApproaches, approaches)
	}
	checkNames(t, d.BlockedTools, approaches)
	for _, tool := range d.BlockedTools {
		if refined[tool] {
			t.Fatalf("%q is to be refined and blocked for the goal", tool)
		}
	}
	for _, target := range d.BlockedTargets {
		if !inputs[target] || target == "" {
			t.Fatalf("blocks the target %q, which was not run", target)
		}
	}
}

func checkNames(t *rapid.T, blocked []string, run map[string]bool) {
	for _, a := range blocked {
		if !run[a] || !blockable(a) {
			t.Fatalf("blocks %q, which was not run or leaves nothing", a)
		}
	}
}

func checkFinal(t *rapid.T, f *message.FinalResult) {
	if f.Directive == message.Abandon && (len(f.NextMoves) < 2 || len(f.NextMoves) > 3) {
		t.Fatalf("%d next moves", len(f.NextMoves))
	}
	if f.Directive != message.Accept && f.Loss.D > 0 && len(f.UnmetCriteria) == 0 {
		t.Fatalf("D %v without an unmet criterion", f.Loss.D)
	}
	if f.Directive == message.Success {
		for _, v := range f.UnmetCriteria {
			if v.Required {
				t.Fatalf("success over the required %+v", v)
			}
		}
	}
	if f.Summary == "" || f.Rationale == "" {
		t.Fatalf("a bare result: %+v", f)
	}
}

func checkMegrams(t *rapid.T, h History, d Decision) {
	pairs := pairsRun(h)
	for i, m := range d.Megrams {
		if m.Ordinal != i+1 || m.ID == "" || m.Level != "M" || m.Content.Lesson == "" || !m.CreatedAt.Equal(noon) {
			t.Fatalf("megram %d: %+v", i, m)
		}
		if m.Space == h.Space {
			continue
		}
		if p := (message.Pair{Tool: m.Space[len("tool:"):], Target: m.Entity[len("path:"):]}); !pairs[p] {
			t.Fatalf("remembers %+v, which was not run", p)
		}
	}
}
