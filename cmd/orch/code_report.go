package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/blackboard/visible"
	"orch/roles/run/config"
)

// codeReport says what became of a coding goal: what each merge is for, and
// what was not done.
type codeReport struct {
	goal    blackboard.Goal
	branch  string
	at      string // commit of the branch
	base    string // commit of the person's checkout
	merged  []blackboard.Task
	others  []blackboard.Task
	reasons map[message.TaskID]string
}

func (p *codeProject) reportOf(ctx context.Context, b *blackboard.Board, g blackboard.Goal) (codeReport, error) {
	r := codeReport{goal: g, branch: strings.TrimPrefix(p.ref, "refs/heads/")}
	err := b.View(ctx, func(s *blackboard.State) error {
		for t := range s.Tasks() {
			switch {
			case t.Goal != g.ID || t.For != message.Coder || t.Status == blackboard.Void: // a draft of a refused plan was never work
			case t.Status == blackboard.Merged:
				r.merged = append(r.merged, t)
			default:
				r.others = append(r.others, t)
			}
		}
		return nil
	})
	if err != nil {
		return r, err
	}
	slices.SortFunc(r.merged, func(a, b blackboard.Task) int { return int(a.Changed.Seq) - int(b.Changed.Seq) })
	at, err := p.repo.At(ctx, p.ref)
	if err != nil {
		return r, err
	}
	head, err := p.repo.Head(ctx)
	if err != nil {
		return r, err
	}
	r.at, r.base = string(at), string(head.Commit)
	return r, nil
}

// print shows the report on a terminal.
func (r codeReport) print(w io.Writer) error {
	d := newDisplay(painting(w), config.Default())
	where := fmt.Sprintf("%s at %.12s", r.branch, r.at)
	if r.at == "" {
		where = r.branch + " is gone"
	}
	lines := []string{"", d.head("branch", fmt.Sprintf("%s, %d merged, %d not", where, len(r.merged), len(r.others)))}
	for _, t := range r.merged {
		lines = append(lines, d.cont(fmt.Sprintf("%.12s  %s", t.Review.MergedAs, oneLine(t.Intent, 80))))
	}
	for _, t := range r.others {
		lines = append(lines, d.cont(fmt.Sprintf("%-12s  %s", strings.ToLower(string(t.Status)), oneLine(t.Intent, 80))))
		for _, f := range t.Review.OpenFindings() {
			lines = append(lines, d.cont(fmt.Sprintf("%-12s  code found: %s", "", oneLine(f.Name(), 100))))
		}
	}
	if len(r.merged) > 0 && r.at != "" && r.at != r.base {
		lines = append(lines, d.head("take it", fmt.Sprintf("git merge %s", r.branch)))
	}
	for _, l := range lines {
		if _, err := sayLine(w, l); err != nil {
			return err
		}
	}
	return nil
}

// markdown is the report as it is kept in the goal's folder.
func (r codeReport) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s\n\nBranch `%s` at `%s`.\n", r.goal.ID, r.goal.Input.Text, r.branch, r.at)
	if len(r.merged) > 0 {
		fmt.Fprintf(&b, "\n## Merged\n\n| commit | what it is for | by | spec | done when | reviews |\n|---|---|---|---|---|---|\n")
	}
	for _, t := range r.merged {
		fmt.Fprintf(&b, "| `%.12s` | %s | %s | %s | %s | %d |\n", t.Review.MergedAs, cell(t.Intent), t.Agent, cell(t.SpecRef), cell(t.DoneWhen), t.Review.CyclesTotal+1)
	}
	if accepted := r.accepted(); len(accepted) > 0 {
		fmt.Fprintf(&b, "\n## What code found, and the reviewer said the task demands\n\n| commit | finding |\n|---|---|\n%s", strings.Join(accepted, ""))
	}
	if noted := r.noted(); len(noted) > 0 {
		fmt.Fprintf(&b, "\n## What code noted, and the reviewer did not object to\n\n| commit | finding |\n|---|---|\n%s", strings.Join(noted, ""))
	}
	if len(r.others) > 0 {
		fmt.Fprintf(&b, "\n## Not merged\n\n| task | status | why |\n|---|---|---|\n")
	}
	for _, t := range r.others {
		why := []string{t.BlockedReason}
		for _, f := range t.Review.OpenFindings() {
			why = append(why, "code found: "+f.Name())
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", cell(t.Intent), t.Status, cell(strings.Trim(strings.Join(why, "; "), "; ")))
	}
	return visible.Text(b.String())
}

// accepted are the findings that reviewers accepted, as rows.
func (r codeReport) accepted() []string {
	return r.findings(func(v *message.ReviewVerdict) []string { return v.Names() })
}

// noted are those they were shown, as rows.
func (r codeReport) noted() []string {
	return r.findings(func(v *message.ReviewVerdict) []string { return v.Noted })
}

func (r codeReport) findings(of func(*message.ReviewVerdict) []string) (rows []string) {
	for _, t := range r.merged {
		if t.Review.Verdict == nil {
			continue
		}
		for _, f := range of(t.Review.Verdict) {
			rows = append(rows, fmt.Sprintf("| `%.12s` | %s |\n", t.Review.MergedAs, cell(f)))
		}
	}
	return rows
}

func cell(s string) string { return strings.ReplaceAll(oneLine(s, 200), "|", `\|`) }
