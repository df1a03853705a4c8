package main

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/act/tool/gate"
	"orch/roles/loop"
	"orch/roles/run/config"
	"orch/roles/think/playbook"
)

// runFlags are what a person may say about one run.
type runFlags struct {
	profile, spec, controller, playbook string
	jobs, maxReplans                    int
	maxCost                             float64
	timeout                             time.Duration
	strict, yes, dryRun, resume, later  bool
	wait                                bool
	allow                               []string
}

func newRun(a *app) *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "run [flags] \"what you want\"",
		Short: "work on a goal until it is reached or honestly given up",
		Long: `Work on a goal: perceive it, plan, run the steps in processes of their own,
judge every criterion with its evidence, and change the plan as the controller
orders until the goal is reached or the budget is used up.

Exit codes: 0 accepted or good enough, 2 usage or configuration, 3 abandoned,
4 waiting for a person (with --wait it waits instead), 130 interrupted.`,
		Example: `  orch run "make the tests pass"
  orch run --dry-run "check the health of this repository"
  orch run --continue`,
		RunE: func(c *cobra.Command, args []string) error { return a.run(c.Context(), f, args) },
	}
	fl := c.Flags()
	fl.StringVar(&f.profile, "profile", "task", "which roles take part: task, or code for coders and reviewers in worktrees")
	fl.StringVar(&f.spec, "spec", "", "file that specifies the goal")
	fl.StringVar(&f.controller, "controller", "", "policy: like-for-like, v0.8 or v0.7 (default from config.yaml)")
	fl.StringVar(&f.playbook, "playbook", "", "take this playbook, without matching the goal")
	fl.IntVar(&f.jobs, "jobs", 0, "steps at once (default from config.yaml)")
	fl.IntVar(&f.maxReplans, "max-replans", 0, "replans before orch gives up")
	fl.Float64Var(&f.maxCost, "max-cost", 0, "US dollars this goal may cost")
	fl.DurationVar(&f.timeout, "timeout", 0, "active time this goal may take")
	fl.BoolVarP(&a.verbose, "verbose", "v", false, "show the figures of the controller: D, P, Ω and ∇L (docs/controller.md)")
	fl.BoolVar(&f.strict, "strict", false, "every criterion is required")
	fl.BoolVar(&f.yes, "yes", false, "give every permission a tool call needs")
	fl.StringArrayVar(&f.allow, "allow", nil, "give one permission: ACTION:PATTERN, for example delete:build/**, repeatable")
	fl.BoolVar(&f.dryRun, "dry-run", false, "show the plan, its criteria and an estimate, and stop")
	fl.BoolVar(&f.later, "later", false, "put the goal on the board and leave it to orch run --continue or scripts/supervise.sh")
	fl.BoolVar(&f.wait, "wait", false, "stay while the goal waits for a person, and up to a day (limits.outage_wait_ms) for a provider that fails")
	fl.BoolVar(&f.resume, "continue", false, "go on with an open goal (its id, or the newest one); of one that has ended, show the result")
	return c
}

func (a *app) run(ctx context.Context, f runFlags, args []string) error {
	if err := f.check(args); err != nil {
		return err
	}
	root, err := a.projectRoot(f.resume)
	if err != nil {
		return err
	}
	cfg, err := a.trustedConfig(ctx, root)
	if err != nil {
		return err
	}
	cfg = f.over(cfg)
	in := f.input(strings.Join(args, " "))
	if !f.resume {
		if in, err = a.resolve(ctx, root, cfg, in); err != nil {
			return err
		}
		if f.profile == codeProfile {
			if err := checkCode(ctx, root, cfg.Code, f); err != nil {
				return err
			}
		}
	}
	if cfg.Memory.Off && in.Playbook == "" && playbook.Declares(in.Text) {
		return memoryOff()
	}
	if f.dryRun {
		return a.dryRun(ctx, root, cfg, in)
	}
	if _, err := a.tellLayers(cfg); err != nil {
		return &exitError{code: exitUsage, cause: err}
	}
	// Also where there is a board: the process that made it may have been killed half-way.
	if err := a.initBoard(root); err != nil {
		return err
	}
	goal, err := a.enter(ctx, root, f, in, args)
	if err != nil {
		return err
	}
	if f.resume {
		if ended, err := a.showEnded(ctx, root, cfg, goal); ended || err != nil {
			return err
		}
	}
	if err := a.startCode(ctx, root, cfg, goal); err != nil {
		return err
	}
	if f.later {
		return a.report(map[string]any{"version": 1, "goal": goal}, "%s is on the board; `orch run --continue %s` works on it", goal, goal)
	}
	return a.supervise(ctx, root, cfg, goal, f.wait)
}

// check refuses contradictions before anything is touched.
func (f runFlags) check(args []string) error {
	switch {
	case f.profile == "mission":
		return usagef("allowed: task, code", "profile %s is not part of this build", f.profile)
	case f.profile != "task" && f.profile != codeProfile:
		return usagef("allowed: task, code", "unknown profile %q", f.profile)
	case f.later && (f.resume || f.dryRun):
		return usagef("orch run --later \"…\"", "--later is for a new goal")
	case f.wait && (f.later || f.dryRun):
		return usagef("orch run --wait \"…\"", "--wait is for a goal that is worked on now")
	case f.resume && len(args) > 1:
		return usagef("orch run --continue GOAL", "--continue takes at most one goal id")
	case !f.resume && strings.TrimSpace(strings.Join(args, " ")) == "":
		return usagef("orch run \"make the tests pass\"", "say what you want")
	case blackboard.Text("the goal", strings.Join(args, " ")) != nil:
		return &exitError{code: exitUsage, cause: blackboard.Text("the goal", strings.Join(args, " "))}
	case f.controller != "" && !slices.Contains(message.Policies(), f.controller):
		return usagef("allowed: like-for-like, v0.8, v0.7", "unknown controller %q", f.controller)
	case f.jobs < 0 || f.maxReplans < 0 || f.maxCost < 0 || f.timeout < 0:
		return usagef("orch run --help", "a limit cannot be negative")
	}
	for _, p := range f.allow {
		if _, err := gate.ParseRule(p); err != nil {
			return usagef("for example --allow 'delete:build/**'", "%s", err)
		}
	}
	return nil
}

// input is the goal as the person put it.
func (f runFlags) input(text string) message.UserInput {
	return message.UserInput{
		Text: text, Profile: f.profile, Spec: f.spec, Strict: f.strict, Controller: f.controller, Playbook: f.playbook,
		Budget: message.Budget{TimeMS: f.timeout.Milliseconds(), MaxReplans: f.maxReplans, MaxCost: f.maxCost},
		Allow:  f.allow, Yes: f.yes,
	}
}

// over puts the flags over the configuration.
func (f runFlags) over(c config.Config) config.Config {
	if f.jobs > 0 {
		c.Limits.Jobs = f.jobs
	}
	if f.controller != "" {
		c.Controller.Policy = f.controller
	}
	return c
}

// projectRoot finds the project, or takes the directory as a new one.
func (a *app) projectRoot(mustExist bool) (string, error) {
	root, err := a.root()
	if err == nil || mustExist {
		return root, err
	}
	return filepath.Abs(a.dir)
}

// enter puts a new goal on the board, or finds the one to go on with.
func (a *app) enter(ctx context.Context, root string, f runFlags, in message.UserInput, args []string) (message.GoalID, error) {
	b, err := a.openAt(root, person())
	if err != nil {
		return "", err
	}
	defer b.Close()
	if f.resume {
		return a.reopen(ctx, b, args)
	}
	var goal message.GoalID
	_, err = b.AppendFunc(ctx, func(st *blackboard.State) (message.Message, error) {
		goal = st.UniqueGoalID(string(loop.GoalSlug(in.Text)))
		return message.Message{From: message.Human, Goal: goal, Subject: string(goal), Body: in}, nil
	})
	var open *blackboard.GoalOpenError
	if errors.As(err, &open) {
		return "", usagef("orch run --continue "+string(open.Goal), "this goal is open already: %s", open.Goal)
	}
	return goal, err
}

// reopen picks the goal to go on with and lifts what only a new run lifts: an
// interruption, a stop after crashes, or one because nobody judged or answered.
func (a *app) reopen(ctx context.Context, b *session, args []string) (message.GoalID, error) {
	var goal blackboard.Goal
	err := b.View(ctx, func(st *blackboard.State) error {
		g, err := goalToContinue(st, args)
		goal = g
		return err
	})
	if err != nil {
		return "", err
	}
	if s := goal.Suspended; s != nil && slices.Contains([]string{blackboard.WhyAbort, blackboard.WhyCrash, blackboard.WhyUnjudged, blackboard.WhyOutage}, s.Why) {
		_, err = b.Append(ctx, message.Message{From: message.Human, Goal: goal.ID, Subject: string(goal.ID),
			Body: message.Unblocked{Reason: "orch run --continue"}})
	}
	return goal.ID, err
}

// goalToContinue picks an open goal. One that has ended is picked by its name,
// or as the last that did when none is open: its run may have been killed
// before it could say how it ended.
func goalToContinue(st *blackboard.State, args []string) (blackboard.Goal, error) {
	if len(args) > 0 {
		if g, ok := st.Goal(message.GoalID(args[0])); ok {
			return g, nil
		}
	} else if all := st.Goals(); len(all) > 0 && len(st.OpenGoals()) == 0 {
		return slices.MaxFunc(all, func(x, y blackboard.Goal) int { return cmp.Compare(x.FinalRef.Seq, y.FinalRef.Seq) }), nil
	}
	return pickGoal(st, args)
}

func pickGoal(st *blackboard.State, args []string) (blackboard.Goal, error) {
	open := st.OpenGoals()
	if len(args) == 0 {
		if len(open) == 0 {
			return blackboard.Goal{}, usagef("orch goals lists them", "no goal is open")
		}
		return open[len(open)-1], nil
	}
	g, ok := st.Goal(message.GoalID(args[0]))
	switch {
	case !ok:
		return g, usagef("orch goals lists them", "there is no goal %q", args[0])
	case g.Status == blackboard.GoalEnded:
		return g, usagef("orch run \"…\" starts a new one", "goal %s has ended: %s", g.ID, g.Final.Directive)
	}
	return g, nil
}
