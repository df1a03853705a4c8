package ggs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"orch/blackboard/message"
)

// compactRound is a round written by hand: tasks with the criteria that passed
// and failed.
type compactRound struct {
	Tasks     []json.RawMessage `json:"tasks"` // of compactTask
	Goal      *compactGoal      `json:"goal"`  // the goal's own criteria, if they were judged
	ElapsedMS int64             `json:"elapsed_ms"`
	Cost      float64           `json:"cost"`
}

type compactGoal struct {
	Pass []string        `json:"pass"`
	Fail []compactFailed `json:"fail"`
}

type compactTask struct {
	Slot     string          `json:"slot"`
	Approach string          `json:"approach"`
	Target   string          `json:"target"`
	Pass     []string        `json:"pass"`
	Fail     []compactFailed `json:"fail"`
	Kind     string          `json:"kind"`     // evidence of its last failed call
	Attempts int             `json:"attempts"` // 1 when absent
	Skipped  bool            `json:"skipped"`
}

// compactFailed is a failed criterion: its text, or an object that says more.
type compactFailed struct {
	Criterion string               `json:"criterion"`
	Mode      message.Mode         `json:"mode"`  // verifiable when absent
	Class     message.FailureClass `json:"class"` // logical or environmental; absent: unclassified
	Kind      string               `json:"kind"`  // transient, tool or permission
	Required  bool                 `json:"required"`
	Check     bool                 `json:"check"`     // a check has shown it to be false
	FailedIn  int                  `json:"failed_in"` // attempts it failed in; absent: the last one
	Evidence  string               `json:"evidence"`
}

// UnmarshalJSON takes a string for the criterion alone.
func (c *compactFailed) UnmarshalJSON(raw []byte) error {
	if bytes.HasPrefix(bytes.TrimSpace(raw), []byte(`"`)) {
		return json.Unmarshal(raw, &c.Criterion)
	}
	type plain compactFailed
	if err := strict("fail", raw, (*plain)(c)); err != nil {
		return err
	}
	return nil
}

func (c compactRound) round(at string, number int, goal message.GoalID) (Round, error) {
	if c.ElapsedMS < 0 || c.Cost < 0 {
		return Round{}, &InputError{Field: at, What: "elapsed_ms and cost can't be below 0"}
	}
	var outcomes []message.SubTaskOutcome
	allMatched := len(c.Tasks) > 0
	var failed []message.TaskID
	for i, raw := range c.Tasks {
		var t compactTask
		where := fmt.Sprintf("%s.tasks[%d]", at, i)
		if err := strict(where, raw, &t); err != nil {
			return Round{}, err
		}
		o, err := t.outcome(where, number, i, goal)
		if err != nil {
			return Round{}, err
		}
		if o.Status != message.Matched {
			allMatched = false
			failed = append(failed, o.SubtaskID)
		}
		outcomes = append(outcomes, o)
	}
	var verdicts []message.Verdict
	if c.Goal != nil {
		var err error
		if verdicts, err = verdictsOf(at+".goal", c.Goal.Pass, c.Goal.Fail); err != nil {
			return Round{}, err
		}
		allMatched = allMatched && len(c.Goal.Fail) == 0
	}
	plan := message.PlanID(fmt.Sprintf("plan-%d", number))
	if allMatched {
		return Round{Summary: &message.OutcomeSummary{TaskID: goal, PlanID: plan, TaskVerdicts: verdicts, Outcomes: outcomes, ElapsedMS: c.ElapsedMS, Cost: c.Cost}}, nil
	}
	return Round{Request: &message.ReplanRequest{TaskID: goal, PlanID: plan, FailedSubtasks: failed, Outcomes: outcomes, TaskVerdicts: verdicts,
		ElapsedMS: c.ElapsedMS, Cost: c.Cost, Recommendation: "replan"}}, nil
}

var kinds = []string{"", kindTransient, kindTool, kindPermission}

func (t compactTask) outcome(at string, number, index int, goal message.GoalID) (message.SubTaskOutcome, error) {
	var none message.SubTaskOutcome
	switch {
	case !slices.Contains(kinds, t.Kind):
		return none, &InputError{Field: at + ".kind", What: fmt.Sprintf("is %q, allowed: transient, tool, permission", t.Kind)}
	case t.Attempts < 0:
		return none, &InputError{Field: at + ".attempts", What: "can't be below 0"}
	case !t.Skipped && len(t.Pass)+len(t.Fail) == 0:
		return none, &InputError{Field: at, What: "a task needs pass or fail criteria, or skipped: true"}
	}
	o := message.SubTaskOutcome{ParentTaskID: goal, Slot: t.Slot, Approach: t.Approach, Target: t.Target, Attempts: max(1, t.Attempts), Status: message.Matched}
	if o.Slot == "" {
		o.Slot = fmt.Sprintf("task-%d", index+1)
	}
	o.SubtaskID = message.TaskID(fmt.Sprintf("%s.%d", o.Slot, number))
	var err error
	if o.CriteriaVerdicts, err = verdictsOf(at, t.Pass, t.Fail); err != nil {
		return none, err
	}
	switch {
	case t.Skipped:
		o.Status = message.Skipped
	case len(t.Fail) > 0:
		o.Status = message.Failed
	}
	for i, f := range t.Fail {
		if f.FailedIn < 0 || f.FailedIn > o.Attempts {
			return none, &InputError{Field: fmt.Sprintf("%s.fail[%d].failed_in", at, i), What: fmt.Sprintf("is %d, allowed: 0 to attempts (%d)", f.FailedIn, o.Attempts)}
		}
	}
	o.GapTrajectory = t.gaps(o.Attempts)
	if t.Kind != "" {
		o.FailedCalls = []message.FailedCall{{Pair: message.Pair{Tool: t.Approach, Target: t.Target}, Class: message.Environmental, Kind: t.Kind}}
	}
	return o, nil
}

// gaps spreads failures over the last attempts: one that failed in 2 of 3 failed
// in the second and third.
func (t compactTask) gaps(attempts int) []message.Gap {
	var out []message.Gap
	for a := 1; a <= attempts && len(t.Fail) > 0; a++ {
		g := message.Gap{Attempt: a}
		for _, f := range t.Fail {
			if a > attempts-max(1, f.FailedIn) {
				g.FailedCriteria = append(g.FailedCriteria, message.FailedCriterion{CriterionID: f.Criterion, Criterion: f.Criterion, FailureClass: f.Class})
			}
		}
		out = append(out, g)
	}
	return out
}

func verdictsOf(at string, passed []string, failed []compactFailed) ([]message.Verdict, error) {
	var out []message.Verdict
	for _, p := range passed {
		out = append(out, message.Verdict{CriterionID: p, Criterion: p, Mode: message.Verifiable, Verdict: message.Pass, Evidence: "given", By: message.ByModel})
	}
	for i, f := range failed {
		where := fmt.Sprintf("%s.fail[%d]", at, i)
		v := message.Verdict{CriterionID: f.Criterion, Criterion: f.Criterion, Mode: f.Mode, Required: f.Required, Verdict: message.Fail,
			FailureClass: f.Class, Kind: f.Kind, Evidence: f.Evidence, By: message.ByModel}
		if v.Mode == "" {
			v.Mode = message.Verifiable
		}
		if f.Check {
			v.By = message.ByCode
		}
		switch {
		case f.Criterion == "":
			return nil, &InputError{Field: where, What: "has no criterion"}
		case v.Mode != message.Verifiable && v.Mode != message.Plausible:
			return nil, &InputError{Field: where + ".mode", What: fmt.Sprintf("is %q, allowed: verifiable, plausible", v.Mode)}
		case f.Class != "" && f.Class != message.Logical && f.Class != message.Environmental:
			return nil, &InputError{Field: where + ".class", What: fmt.Sprintf("is %q, allowed: logical, environmental", f.Class)}
		case !slices.Contains(kinds, f.Kind):
			return nil, &InputError{Field: where + ".kind", What: fmt.Sprintf("is %q, allowed: transient, tool, permission", f.Kind)}
		}
		out = append(out, v)
	}
	return out, nil
}
