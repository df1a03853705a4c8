package playbook

import (
	"fmt"
	"path"
	"strings"
)

func (v *validator) criteria(at string, list []Criterion) {
	for i, c := range list {
		at := fmt.Sprintf("%s[%d]", at, i)
		v.need(at, "criterion", c.Criterion)
		v.plain(at+".criterion", c.Criterion)
		v.when(at+".when", c.When)
		if len(c.Check) == 0 {
			v.fail(at, "a criterion without a check", "check with run, file, json, http or git: a playbook's criteria are judged by code")
			continue
		}
		v.data(at+".check", c.Check)
		if err := checkShape(c.Check); err != nil {
			v.fail(at+".check", err.Error(), "run, file, json, http or git, as docs/playbooks.md describes")
		}
	}
}

func (v *validator) subtasks(list []Subtask) {
	if len(list) == 0 {
		v.fail("subtasks", "there are no subtasks", "at least one")
	}
	order := map[string]int{}
	for i, s := range list {
		at := fmt.Sprintf("subtasks[%d]", i)
		if !namePattern.MatchString(s.Slot) {
			v.fail(at+".slot", fmt.Sprintf("the slot %q", cut(s.Slot, 40)), "small letters, digits and single hyphens")
		}
		if _, twice := order[s.Slot]; twice {
			v.fail(at+".slot", fmt.Sprintf("the slot %q is given twice", s.Slot), "each slot once")
		}
		order[s.Slot] = s.Sequence
		v.subtask(at, s)
	}
	for i, s := range list {
		for _, d := range s.DependsOn {
			seq, ok := order[d]
			if !ok || d == s.Slot {
				v.fail(fmt.Sprintf("subtasks[%d].depends_on", i), fmt.Sprintf("depends on %q", cut(d, 40)), "another slot of this playbook")
			} else if seq >= s.Sequence {
				v.fail(fmt.Sprintf("subtasks[%d].depends_on", i), fmt.Sprintf("depends on %s, which does not come before it", d), "slots with a lower sequence")
			}
		}
	}
}

func (v *validator) subtask(at string, s Subtask) {
	v.need(at, "intent", s.Intent)
	v.plain(at+".intent", s.Intent)
	v.when(at+".when", s.When)
	if s.Sequence < 1 {
		v.fail(at+".sequence", fmt.Sprintf("the sequence %d", s.Sequence), "1 or more; equal ones run in parallel")
	}
	for _, t := range s.Targets {
		v.plain(at+".targets", t)
		if path.IsAbs(t) || t == ".." || strings.HasPrefix(path.Clean(t), "../") {
			v.fail(at+".targets", fmt.Sprintf("the target %q", cut(t, 60)), "paths inside the workspace")
		}
	}
	if len(s.Criteria) == 0 {
		v.fail(at, "a subtask without criteria", "at least one criterion with a check")
	}
	v.criteria(at+".criteria", s.Criteria)
	if len(s.Approaches) == 0 {
		v.fail(at, "a subtask without approaches", "at least one")
	}
	seen := map[string]bool{}
	for i, a := range s.Approaches {
		at := fmt.Sprintf("%s.approaches[%d]", at, i)
		if seen[a.Name] {
			v.fail(at+".name", fmt.Sprintf("the approach %q is given twice", cut(a.Name, 40)), "each approach of a slot once")
		}
		seen[a.Name] = true
		v.approach(at, a)
	}
}

func (v *validator) approach(at string, a Approach) {
	if !approachPattern.MatchString(a.Name) {
		v.fail(at+".name", fmt.Sprintf("the approach name %q", cut(a.Name, 40)), "a label like rerun or format:gofmt")
	}
	v.when(at+".when", a.When)
	for _, re := range a.WhenSeen {
		v.regexp(at+".when_seen", re)
	}
	if (a.Target == "") == (len(a.Targets) == 0) {
		v.fail(at, "an approach has either a target or targets", "target: what it acts on, or targets: a list of {target, when, set}")
	}
	v.plain(at+".target", a.Target)
	for i, t := range a.Targets {
		at := fmt.Sprintf("%s.targets[%d]", at, i)
		v.need(at, "target", t.Target)
		v.plain(at+".target", t.Target)
		v.when(at+".when", t.When)
		v.set(at+".set", t.Set, v.params)
	}
	for i, x := range a.Variants {
		v.set(fmt.Sprintf("%s.variants[%d].set", at, i), x.Set, v.params)
	}
	v.steps(at, a)
}

func (v *validator) steps(at string, a Approach) {
	if len(a.Steps) == 0 {
		v.fail(at, "an approach without steps", "at least one step")
	}
	names := map[string]bool{"": true, outputLast: true, outputAll: true}
	for i, s := range a.Steps {
		at := fmt.Sprintf("%s.steps[%d]", at, i)
		names[s.Name] = true
		if (s.Run == "") == (len(s.Input) == 0) {
			v.fail(at, "a step has either run or input", "run: a command, or tool and input")
		}
		if s.Run != "" && s.Tool != "" && s.Tool != shellTool {
			v.fail(at+".tool", fmt.Sprintf("run with the tool %q", cut(s.Tool, 40)), "run is for the tool shell; other tools take input")
		}
		if s.Run != "" {
			v.shell(at+".run", s.Run)
		}
		v.data(at+".input", map[string]any(s.Input))
	}
	if !names[a.Output] {
		v.fail(at+".output", fmt.Sprintf("the output %q", cut(a.Output, 40)), "last, all, or the name of a step")
	}
}
