//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// What a reader of the log needs of its lines. It reads the file by itself:
// nothing here goes through orch's own decoding or its verdict on a goal.
type (
	readVerdict struct {
		Criterion string          `json:"criterion"`
		Required  bool            `json:"required"`
		Verdict   string          `json:"verdict"`
		Evidence  string          `json:"evidence"`
		By        string          `json:"by"`
		Second    bool            `json:"second"`
		Check     json.RawMessage `json:"check"`
	}
	readPayload struct {
		ID           string        `json:"id"`
		Directive    string        `json:"directive"`
		Unmet        []readVerdict `json:"unmet_criteria"`
		TaskCriteria []readVerdict `json:"task_criteria"`
		TaskVerdicts []readVerdict `json:"task_verdicts"`
		Success      []readVerdict `json:"success_criteria"`
		Verdicts     []readVerdict `json:"criteria_verdicts"`
		SubtaskID    string        `json:"subtask_id"`
		Subtasks     []string      `json:"subtask_ids"`
		Kept         []string      `json:"kept"`
		Head, Tail   string
		Observed     bool `json:"observed"`
		Checks       []struct {
			Check json.RawMessage `json:"check"`
			Held  bool            `json:"held"`
		} `json:"checks"`
	}
)

// goalRead is what the log and the files of a project say of its goal.
type goalRead struct {
	root     string
	final    readPayload
	goal     []readVerdict            // the goal's criteria, as last planned
	judged   []readVerdict            // and as last judged
	tasks    map[string][]readVerdict // criteria of each task
	outcomes map[string][]readVerdict // and their verdicts
	plan     []string                 // the tasks of the last plan
	red      map[string]bool          // checks that were seen not to hold
	texts    []string                 // what orch read or executed
	printed  string                   // by the run
}

func read(root string) (*goalRead, error) {
	raw, err := os.ReadFile(filepath.Join(root, ".orch", "log.jsonl"))
	if err != nil {
		return nil, err
	}
	r := &goalRead{root: root, tasks: map[string][]readVerdict{}, outcomes: map[string][]readVerdict{}, red: map[string]bool{}}
	for line := range bytes.Lines(raw) {
		var m struct {
			Type    string      `json:"type"`
			Payload readPayload `json:"payload"`
		}
		if err := json.Unmarshal(line, &m); err != nil {
			continue // another type with another meaning of a field
		}
		switch p := m.Payload; m.Type {
		case "FinalResult":
			r.final = p
		case "DispatchManifest":
			r.goal, r.plan = p.TaskCriteria, append(p.Subtasks, p.Kept...)
		case "SubTask":
			r.tasks[p.ID] = p.Success
		case "SubTaskOutcome":
			r.outcomes[p.SubtaskID] = p.Verdicts
		case "OutcomeSummary", "ReplanRequest":
			r.judged = p.TaskVerdicts
		case "StateBefore":
			for _, c := range p.Checks {
				r.red[string(c.Check)] = r.red[string(c.Check)] || !c.Held
			}
		case "ToolCall":
			if !p.Observed {
				r.texts = append(r.texts, p.Head, p.Tail)
			}
		}
	}
	return r, r.files()
}

// files adds the files of the project to what could be quoted.
func (r *goalRead) files() error {
	return filepath.WalkDir(r.root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.Name() == ".orch":
			return filepath.SkipDir
		case d.IsDir():
			return nil
		}
		raw, err := os.ReadFile(path)
		r.texts = append(r.texts, string(raw))
		return err
	})
}

func (r *goalRead) accepted() bool {
	return r.final.Directive == "accept" || r.final.Directive == "success"
}

// wrong says what a good end of the goal lacks; empty if it stands.
func (r *goalRead) wrong() (all []string) {
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	held := func(criteria []readVerdict) {
		for _, c := range criteria {
			if c.Required && !r.holds(c.Criterion) {
				add("%q is required and does not hold", c.Criterion)
			}
		}
	}
	if len(r.goal) == 0 || len(r.plan) == 0 {
		add("there is no plan")
	}
	held(r.goal)
	all = append(all, r.uncovered("the goal", r.goal, r.judged)...)
	for _, id := range r.plan {
		held(r.tasks[id])
		all = append(all, r.uncovered("a task", r.tasks[id], r.outcomes[id])...)
	}
	for _, v := range append(append([]readVerdict{}, r.judged...), r.verdictsOfPlan()...) {
		if v.Verdict != "pass" && !strings.Contains(fmt.Sprint(r.final.Unmet), v.Criterion) {
			add("%q failed and is not named", v.Criterion)
		}
	}
	return all
}

func (r *goalRead) verdictsOfPlan() (all []readVerdict) {
	for _, id := range r.plan {
		all = append(all, r.outcomes[id]...)
	}
	return all
}

// holds tells whether a criterion is true of the project.
func (r *goalRead) holds(criterion string) bool {
	t, known := truths()[criterion]
	raw, err := os.ReadFile(filepath.Join(r.root, t.file))
	return known && err == nil && strings.Contains(string(raw), t.words)
}

// uncovered are the required criteria that no record of orch's covers: a check
// that was seen red and then passed, or words that are in what orch read.
func (r *goalRead) uncovered(whose string, criteria, verdicts []readVerdict) (all []string) {
	of := map[string]readVerdict{}
	for _, v := range verdicts {
		of[v.Criterion] = v
	}
	proven := false
	for _, c := range criteria {
		v := of[c.Criterion]
		proven = proven || v.Verdict == "pass" && (v.By == "model" || r.red[string(c.Check)])
	}
	for _, c := range criteria {
		v, judged := of[c.Criterion]
		switch quoted := r.quoted(v.Evidence); {
		case !c.Required:
		case !judged || v.Verdict != "pass":
			all = append(all, fmt.Sprintf("%s: %q is required and was not passed", whose, c.Criterion))
		case v.By == "model" && !quoted:
			all = append(all, fmt.Sprintf("%s: %q rests on no record: %s", whose, c.Criterion, v.Evidence))
		case v.By == "model" && !v.Second:
			all = append(all, fmt.Sprintf("%s: %q was judged once", whose, c.Criterion))
		case v.By != "model" && !proven && !quoted:
			all = append(all, fmt.Sprintf("%s: the check of %q was never seen to fail: %s", whose, c.Criterion, v.Evidence))
		}
	}
	return all
}

var inQuotes = regexp.MustCompile(`(?s)“(.*)”`)

// quoted tells whether the words that a verdict quotes are in what orch read.
func (r *goalRead) quoted(evidence string) bool {
	found := inQuotes.FindStringSubmatch(evidence)
	if found == nil || strings.TrimSpace(found[1]) == "" {
		return false
	}
	for _, text := range r.texts {
		if strings.Contains(text, found[1]) {
			return true
		}
	}
	return false
}
