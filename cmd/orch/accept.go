package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/act/workspace"
)

func newAccept(a *app) *cobra.Command {
	var why string
	c := &cobra.Command{
		Use: "accept GOAL FINDING…", Short: "let what code found in a submission stand", Args: cobra.MinimumNArgs(2),
		Long: `Code found something in a coder's submission that rejects it: a test that is gone,
a test command that changed. Where the task demands that, accept it by its name;
orch goals lists what is open and orch show FINDING shows it with the change.

It holds for this goal, this finding and the content it was seen in; changed
content needs a new word. As soon as nothing else is left against the submission,
it is judged again as it is, and no coder does it anew.`,
		Example: "  orch accept retry_calls f-1a2b3c4d5e --because \"the spec drops v1\"",
		RunE:    func(c *cobra.Command, args []string) error { return a.accept(c.Context(), args[0], args[1:], why) },
	}
	c.Flags().StringVar(&why, "because", "", "why it may stand, for the record")
	return c
}

// openFinding is a finding of code that keeps a submission from being approved,
// as lists show it.
type openFinding struct {
	Finding string         `json:"finding"`
	Task    message.TaskID `json:"task"`
	Intent  string         `json:"intent"`
	Base    string         `json:"base"`
	Commit  string         `json:"commit"`
	File    string         `json:"file"`
	What    string         `json:"what"` // file:line: what
	Fix     string         `json:"fix"`
	content string
}

// openFindings are those of a goal that nobody has accepted.
func openFindings(st *blackboard.State, goal message.GoalID) (all []openFinding) {
	for t := range st.TasksOf(goal) {
		if t.Status.Terminal() {
			continue
		}
		for _, b := range t.Review.OpenFindings() {
			all = append(all, openFinding{b.Finding, t.ID, t.Intent, t.Base, t.Review.Commit, b.File, b.Name(), b.Fix, b.Content})
		}
	}
	return all
}

// accept says, task by task, that a person lets findings stand.
func (a *app) accept(ctx context.Context, goal string, ids []string, why string) error {
	b, err := a.open(person())
	if err != nil {
		return err
	}
	defer b.Close()
	var bodies []message.FindingsAccepted
	err = b.View(ctx, func(st *blackboard.State) error {
		g, err := pickGoal(st, []string{goal})
		if err == nil {
			bodies, err = acceptances(openFindings(st, g.ID), goal, ids, why)
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, body := range bodies {
		m := message.Message{From: message.Human, To: message.All, Goal: message.GoalID(goal), Subject: string(body.Task), Body: body}
		if _, err := b.Append(ctx, m); err != nil {
			return err
		}
	}
	left := 0
	err = b.View(ctx, func(st *blackboard.State) error { left = len(openFindings(st, message.GoalID(goal))); return nil })
	if err != nil {
		return err
	}
	next := "the submission is judged again as soon as a run works on the goal"
	if left > 0 {
		next = count(left, "finding") + " still open: orch goals"
	}
	return a.report(map[string]any{"version": 1, "goal": goal, "accepted": ids, "open": left}, "accepted %s; %s", strings.Join(ids, ", "), next)
}

// acceptances are the messages that accept findings, one for each task. A name
// that nothing open has is refused, and with it everything.
func acceptances(open []openFinding, goal string, ids []string, why string) (all []message.FindingsAccepted, err error) {
	for _, id := range ids {
		if !slices.ContainsFunc(open, func(f openFinding) bool { return f.Finding == id }) {
			return nil, usagef("orch goals lists what is open", "goal %s has no open finding %q", goal, id)
		}
	}
	for _, f := range open {
		if !slices.Contains(ids, f.Finding) {
			continue
		}
		i := slices.IndexFunc(all, func(b message.FindingsAccepted) bool { return b.Task == f.Task })
		if i < 0 {
			i = len(all)
			all = append(all, message.FindingsAccepted{Task: f.Task, ReviewCommit: f.Commit})
		}
		all[i].Findings = append(all[i].Findings, message.AcceptedFinding{Finding: f.Finding, Content: f.content, What: f.What, Reason: why, By: message.Human})
	}
	return all, nil
}

// sayFindings lists open findings below the line of their goal.
func (a *app) sayFindings(goal message.GoalID, all []openFinding) {
	for _, f := range all {
		say(a.out, "%-40s found: %s %s\n", "", f.Finding, oneLine(f.What, 120))
	}
	if len(all) > 0 {
		say(a.out, "%-40s look: orch show %s — let it stand: orch accept %s %s\n", "", all[0].Finding, goal, all[0].Finding)
	}
}

// showFinding shows what is open under a name, with the change it was seen in.
func (a *app) showFinding(ctx context.Context, id string) error {
	b, err := a.read()
	if err != nil {
		return err
	}
	defer b.Close()
	of := map[message.GoalID][]openFinding{}
	err = b.View(ctx, func(st *blackboard.State) error {
		for _, g := range st.OpenGoals() {
			for _, f := range openFindings(st, g.ID) {
				if f.Finding == id {
					of[g.ID] = append(of[g.ID], f)
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(of) == 0 {
		return usagef("orch goals lists what is open", "there is no open finding %q", id)
	}
	if a.asJSON {
		return a.printJSON(map[string]any{"version": 1, "findings": of})
	}
	repo, err := workspace.Open(ctx, b.Root())
	if err != nil {
		return asUsage(err)
	}
	for goal, all := range of {
		for i, f := range all {
			say(a.out, "%s  %s\n  what      %s\n  task      %s  %s\n", f.Finding, goal, f.What, f.Task, oneLine(f.Intent, 100))
			say(a.out, "  else      %s\n  accept    orch accept %s %s\n", f.Fix, goal, f.Finding)
			if i+1 < len(all) && all[i+1].Commit == f.Commit && all[i+1].File == f.File {
				continue // the same change is shown once
			}
			if err := a.sayChange(ctx, repo, f); err != nil {
				return err
			}
		}
	}
	return nil
}

// changeLines bounds what is shown of a change; git has the rest.
const changeLines = 400

// sayChange shows what a submission does to the file of a finding, or all that
// it does where the file did not change.
func (a *app) sayChange(ctx context.Context, repo workspace.Repo, f openFinding) error {
	diff, err := repo.Diff(ctx, workspace.Commit(f.Base), workspace.Commit(f.Commit))
	if err != nil {
		return err
	}
	shown := fileOf(diff, f.File)
	if len(shown) == 0 {
		shown = diff
	}
	lines := strings.SplitAfter(string(shown), "\n")
	say(a.out, "\n%s", block(strings.Join(lines[:min(len(lines), changeLines)], "")))
	if len(lines) > changeLines {
		say(a.out, "… and %d lines more: git diff %s %s\n", len(lines)-changeLines, f.Base, f.Commit)
	}
	return nil
}

// fileOf is the part of a diff that is about one file.
func fileOf(diff []byte, name string) []byte {
	const head = "diff --git "
	var part []byte
	for i, p := range bytes.Split(append([]byte("\n"), diff...), []byte("\n"+head)) {
		first, _, _ := bytes.Cut(p, []byte("\n"))
		if i > 0 && (bytes.HasSuffix(first, []byte(" b/"+name)) || bytes.HasPrefix(first, fmt.Appendf(nil, "a/%s ", name))) {
			part = append(part, head...)
			part = append(append(part, p...), '\n')
		}
	}
	return part
}
