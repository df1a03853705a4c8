package workspace

import (
	"context"
	"fmt"
	"strings"

	"orch/blackboard"
	"orch/blackboard/message"
)

// Board is what a merge needs of the board; *blackboard.Board is one.
type Board interface {
	Append(context.Context, message.Message, ...blackboard.AppendOption) (message.Message, error)
	Barrier(ctx context.Context, seq uint64) error
}

// MovedError says that somebody else moved the branch.
type MovedError struct{ Ref, Want, Have string }

func (e *MovedError) Error() string {
	return fmt.Sprintf("%s is at %.12s, expected %.12s: somebody else moved it", e.Ref, e.Have, e.Want)
}

// Hint names the next command.
func (e *MovedError) Hint() string { return "git log " + e.Ref + " shows who; then orch goals retry" }

// Merge moves the ref of an approved task from one commit to another, once.
func Merge(ctx context.Context, b Board, repo string, goal message.GoalID, m message.MergeStarting) error {
	if have, err := commitAt(ctx, repo, m.Ref); err != nil {
		return err
	} else if have != m.From {
		return &MovedError{m.Ref, m.From, have}
	}
	started, err := b.Append(ctx, about(goal, m.Task, "", m))
	if err != nil {
		return fmt.Errorf("start the merge of %s: %w", m.Task, err)
	}
	if err := b.Barrier(ctx, started.Seq); err != nil {
		return fmt.Errorf("start the merge of %s: %w", m.Task, err)
	}
	return Settle(ctx, b, repo, goal, started.ID, m)
}

// Settle finishes a merge that was started, whether or not its ref has moved
// already. It is what is called for every MergeStarting without a Merged.
func Settle(ctx context.Context, b Board, repo string, goal message.GoalID, cause message.ID, m message.MergeStarting) error {
	have, err := commitAt(ctx, repo, m.Ref)
	if err != nil {
		return err
	}
	done, err := contains(ctx, repo, have, m.To)
	if err != nil {
		return err
	}
	if !done && have != m.From {
		return &MovedError{m.Ref, m.From, have}
	}
	if err := moveTo(ctx, repo, goal, m, done); err != nil {
		return fmt.Errorf("move %s: %w", m.Ref, err)
	}
	tree, err := git(ctx, repo, "rev-parse", "--verify", m.To+"^{tree}")
	if err != nil {
		return fmt.Errorf("read the merged tree: %w", err)
	}
	drift, err := metFirstBy(ctx, repo, m)
	if err != nil {
		return err
	}
	merged := message.Merged{Task: m.Task, From: m.From, To: m.To, Tree: tree, DriftCommits: drift}
	if _, err := b.Append(ctx, about(goal, m.Task, cause, merged)); err != nil {
		return fmt.Errorf("record the merge of %s: %w", m.Task, err)
	}
	return nil
}

// moveTo moves the branch, unless it was moved already, and notes it as what
// was merged for the goal last.
func moveTo(ctx context.Context, repo string, goal message.GoalID, m message.MergeStarting, done bool) error {
	moves := ""
	if !done {
		moves = fmt.Sprintf("update %s %s %s\n", m.Ref, m.To, m.From)
	}
	if goal != "" {
		moves += fmt.Sprintf("update %s %s\n", mergedRef(goal), m.To)
	}
	_, err := call{dir: repo, stdin: strings.NewReader(moves), args: []string{"update-ref", "-m", "orch: merge " + string(m.Task), "--stdin"}}.run(ctx)
	return err
}

// driftCommits bounds how many commits a Merged names.
const driftCommits = 100

// metFirstBy lists the commits of the branch that the merged work never saw,
// newest first.
func metFirstBy(ctx context.Context, repo string, m message.MergeStarting) ([]string, error) {
	parents, err := git(ctx, repo, "rev-list", "--parents", "--max-count=1", m.To)
	if err != nil {
		return nil, fmt.Errorf("read the parents of %.12s: %w", m.To, err)
	}
	family := strings.Fields(parents)
	if len(family) != 3 {
		return []string{}, nil // the branch was only moved forward
	}
	out, err := git(ctx, repo, "rev-list", fmt.Sprintf("--max-count=%d", driftCommits), m.From, "^"+family[2])
	if err != nil {
		return nil, fmt.Errorf("list what came meanwhile: %w", err)
	}
	return strings.Fields(out), nil
}

func about(goal message.GoalID, task message.TaskID, cause message.ID, body message.Body) message.Message {
	return message.Message{From: message.Supervisor, To: message.All, Goal: goal, Subject: string(task), Cause: cause, Body: body}
}

func commitAt(ctx context.Context, repo, ref string) (string, error) {
	if !strings.HasPrefix(ref, "refs/heads/") {
		return "", fmt.Errorf("%q is not a branch", ref)
	}
	have, err := git(ctx, repo, "rev-parse", "--verify", ref+"^{commit}")
	if err != nil {
		return "", fmt.Errorf("read %s: %w", ref, err)
	}
	return have, nil
}

// contains tells whether commit to is reachable from commit from.
func contains(ctx context.Context, repo, from, to string) (bool, error) {
	_, err := git(ctx, repo, "merge-base", "--is-ancestor", to, from)
	if no(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for %.12s in %.12s: %w", to, from, err)
	}
	return true, nil
}
