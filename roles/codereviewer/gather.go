package codereviewer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/act/check"
	"orch/roles/act/ledger"
	"orch/roles/act/runner"
	"orch/roles/act/workspace"
	"orch/roles/loop/code"
	"orch/roles/run/step"
	"orch/roles/think"
)

// Input is what a reviewer of a task's commit would be shown, as things stand,
// without the checks having been run.
func Input(ctx context.Context, e *step.Env, t blackboard.Task, g blackboard.Goal) (think.ReviewInput, error) {
	if t.Review.Commit == "" {
		return think.ReviewInput{}, step.ErrMoved
	}
	r := &review{e: e, w: e.Code, task: t, goal: g, commit: workspace.Commit(t.Review.Commit)}
	if err := r.look(ctx); err != nil {
		return r.in, err
	}
	r.in.Checks, r.in.Pending = []message.Verdict{}, append(r.in.Pending, t.Review.Pending...)
	return r.in, nil
}

// gather finds out all that code can about the commit.
func (r *review) gather(ctx context.Context) error {
	if err := r.look(ctx); err != nil {
		return err
	}
	if r.in.SpecChanged {
		if err := r.specChanged(ctx); err != nil {
			return err
		}
	}
	var err error
	if r.in.Checks, err = r.checks(ctx); err != nil {
		return err
	}
	_, rest := code.CodeFeedback(r.task.Review.Pending, r.in.Checks)
	for _, b := range rest {
		if b.Finding == "" { // code says what became of the others
			r.in.Pending = append(r.in.Pending, b)
		}
	}
	return nil
}

// look finds out what can be seen without running anything.
func (r *review) look(ctx context.Context) error {
	t := r.task
	r.in = think.ReviewInput{
		Goal: r.goal.ID, Task: t.SubTask, Env: r.w.Env, Coder: t.Agent, Commit: string(r.commit), Base: t.Base, Notes: t.Review.Notes,
		Values: r.e.Values, Findings: []think.CodeFinding{}, Pending: []message.Blocker{},
	}
	var err error
	if r.in.Spec, r.in.SpecChanged, err = r.specNow(ctx); err != nil {
		return err
	}
	diff, err := r.w.Repo.Diff(ctx, workspace.Commit(t.Base), r.commit)
	if err != nil {
		return err
	}
	if err := r.find(ctx, diff); err != nil {
		return err
	}
	r.in.Diff = step.Cut(string(diff), diffBytes)
	return nil
}

// diffBytes bounds the diff a reviewer is shown; the checkout has the rest.
const diffBytes = 200 << 10

// testsCriterion is the id of the check that the project's own tests pass.
const testsCriterion = "project-tests"

// checks runs the task's checks and the project's tests on a checkout of the
// commit. A check that can not be run is a failed one.
func (r *review) checks(ctx context.Context) ([]message.Verdict, error) {
	dir := r.checkDir()
	err := r.w.Repo.Make(ctx, dir, workspace.Spec{Commit: r.commit, Included: true}, r.w.Setup)
	var setup *workspace.SetupError
	if errors.As(err, &setup) && ctx.Err() == nil {
		return []message.Verdict{failed("code.setup runs in a checkout of the commit", setup.Error())}, nil
	}
	if err != nil {
		return nil, err
	}
	run := []message.Verdict{}
	r.ran = map[string]ran{}
	for _, c := range r.task.SuccessCriteria {
		if c.HasCheck() {
			v, err := r.check(ctx, dir, c, new(ledger.Ledger))
			if err != nil {
				return nil, err
			}
			run = append(run, v)
		}
	}
	command, err := r.w.TestCommand(dir)
	if err != nil {
		return nil, fmt.Errorf("find the project's test command: %w", err)
	}
	var tests *suite
	if command != "" {
		var v message.Verdict
		if tests, v, err = r.projectTests(ctx, dir, command); err != nil {
			return nil, err
		}
		run = append(run, v)
	}
	if err := workspace.Remove(dir); err != nil || tests == nil {
		return run, err
	}
	if none, err := tests.noneDue(ctx); err != nil || none {
		return run[:len(run)-1], err
	}
	if red(run) {
		return run, nil
	}
	found, err := tests.compare(ctx)
	r.add(found)
	return run, err
}

// ran is what a command came to on the checkout, and the tests it named.
type ran struct {
	verdict check.Verdict
	tests   ledger.Ledger
}

// check runs one check, with the tests that it names, if it does. A command that
// this review ran before on the same checkout is not run again: a suite costs a
// review one run of it, however many criteria name it. What the world was to
// blame for, and what took more than one run to tell, is.
func (r *review) check(ctx context.Context, dir string, c message.Criterion, seen *ledger.Ledger) (message.Verdict, error) {
	in, failed, runs := *r.e, error(nil), 0
	in.Checks = func(ctx context.Context, ch check.Check) (v check.Verdict) {
		run := func(ctx context.Context, only []ledger.Name) (check.Verdict, ledger.Ledger) {
			runs++
			r.e.Heart.Beat("check " + c.ID)
			return r.w.Judged(ctx, dir, ch, only)
		}
		if ch.Run == nil {
			v, *seen = run(ctx, nil)
			return v
		}
		key, err := json.Marshal(ch.Run)
		if err != nil {
			failed = err
			return v
		}
		if known, ok := r.ran[string(key)]; ok {
			*seen = known.tests
			return known.verdict
		}
		v, *seen, failed = runner.Heeder{Store: r.w.Ledgers, Confirm: r.e.Config.Checks.Confirm, Excused: r.flakyAtBase(ch)}.Heed(ctx, ch.Run.Command, run, "red", string(r.task.ID), c.ID)
		if failed == nil && runs == 1 && v.Class != check.Environmental && ctx.Err() == nil {
			r.ran[string(key)] = ran{v, *seen}
		}
		return v
	}
	v := in.Check(ctx, c)
	r.e.Heart.Beat("check " + c.ID)
	return v, failed
}

func failed(criterion, evidence string) message.Verdict {
	return message.Verdict{CriterionID: testsCriterion, Criterion: criterion, Mode: message.Verifiable, Required: true, Verdict: message.Fail,
		FailureClass: message.Environmental, Evidence: step.Cut(evidence, step.EvidenceBytes), By: message.ByCode}
}

// specChanged notes that the spec is no longer what the coder began with.
func (r *review) specChanged(ctx context.Context) error {
	then, err := r.w.SpecAt(ctx, workspace.Commit(r.task.Base), r.task.SubTask)
	if err != nil {
		return err
	}
	a := code.SpecChangedAnomaly(r.task.ID, code.SpecPath(r.task.SpecRef), hash(then), hash(r.in.Spec))
	return r.note(ctx, []message.Anomaly{a})
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:6])
}

// note logs anomalies the reviewer may log; the rest is told to whoever looks
// at the step's output.
func (r *review) note(ctx context.Context, anomalies []message.Anomaly) error {
	for _, a := range anomalies {
		a.Task = r.task.ID
		if err := errors.Join(message.MayLog(message.CodeReviewer, a.Kind), a.Validate()); err != nil {
			r.e.Log("its anomaly is not taken: %v", err)
			continue
		}
		if _, err := r.e.Say(ctx, a); err != nil {
			return err
		}
		r.logged = true
	}
	return nil
}

// hear takes notes of the reviewer's agent. A verdict is its answer, and
// nothing else it could say.
func (r *review) hear(ctx context.Context, body message.Body) (message.ID, error) {
	a, ok := body.(message.Anomaly)
	if !ok {
		return "", &step.NotYoursError{What: fmt.Sprintf("a code reviewer may not say %s", body.Type()), Do: "orch note anomaly; the verdict is the answer it ends with"}
	}
	id, err := r.e.RelayAnomaly(ctx, a)
	r.logged = r.logged || err == nil
	return id, err
}

func (r *review) readDir() string { return r.w.Place.Review(r.goal.ID, r.task.ID, r.task.Review.Fence) }

// checkDir is where checks may write what they like.
func (r *review) checkDir() string {
	return r.w.Place.Checks(r.goal.ID, r.task.ID, r.task.Review.Fence)
}

// clear removes what the review checked out.
func (r *review) clear() error {
	return errors.Join(workspace.Remove(r.readDir()), workspace.Remove(r.checkDir()), workspace.Remove(r.w.Place.ChecksOfBase(r.goal.ID, r.task.ID, r.task.Review.Fence)))
}
