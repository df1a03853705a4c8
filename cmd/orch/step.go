package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"orch/blackboard"
	"orch/blackboard/crash"
	"orch/blackboard/journal"
	"orch/blackboard/message"
	"orch/roles/act/workspace"
	"orch/roles/agentvalidator"
	"orch/roles/coder"
	"orch/roles/codereviewer"
	"orch/roles/executor"
	"orch/roles/loop"
	"orch/roles/metavalidator"
	"orch/roles/perceiver"
	"orch/roles/planner"
	"orch/roles/run/step"
	"orch/roles/run/supervisor"
	"orch/roles/run/trust"
	"orch/roles/think"
	"orch/roles/think/model"
)

// acts maps each role that works in steps to what it does in one.
var acts = map[message.Role]func(context.Context, *step.Env) error{
	message.Perceiver:      perceiver.Run,
	message.Planner:        planner.Run,
	message.Executor:       executor.Run,
	message.AgentValidator: agentvalidator.Run,
	message.MetaValidator:  metavalidator.Run,
	message.Coder:          coder.Run,
	message.CodeReviewer:   codereviewer.Run,
}

type stepFlags struct {
	subject, cause string
	lifeline       bool
}

func newStep(a *app) *cobra.Command {
	var f stepFlags
	c := &cobra.Command{
		Use: "step ROLE", Short: "do one activation of a role and exit", Args: cobra.ExactArgs(1),
		Long: `Do one activation of a role and exit: 0 done, 42 stopped cleanly, start me
again; anything else is a crash. Without --subject the step picks what is due
and claims it; if nothing is due while a goal is open, it exits with 42.`,
		Example: "  orch step planner\n  orch step executor --subject 0198c1",
		RunE: func(c *cobra.Command, args []string) error {
			role := message.Role(args[0])
			if _, ok := acts[role]; !ok {
				return usagef("perceiver, planner, executor, agent-validator, meta-validator, coder, code-reviewer; ggs runs as `orch role ggs`", "no steps for role %q", role)
			}
			ctx := c.Context()
			if f.lifeline {
				var cancel context.CancelFunc
				ctx, cancel = untilEOF(ctx, a.in)
				defer cancel()
			}
			if os.Getenv(supervisor.AgentEnv) != "" {
				return a.spawnedStep(ctx, role, f)
			}
			return a.ownStep(ctx, role, f)
		},
	}
	c.Flags().StringVar(&f.subject, "subject", "", "task or goal to act on")
	c.Flags().StringVar(&f.cause, "cause", "", "id of the message that caused the activation (given by a supervisor)")
	c.Flags().BoolVar(&f.lifeline, "lifeline", false, "stop when standard input ends (given by a supervisor)")
	for _, hidden := range []string{"cause", "lifeline"} {
		if err := c.Flags().MarkHidden(hidden); err != nil {
			panic(err) // the flag is defined three lines above
		}
	}
	return c
}

// untilEOF ends a context when the process that holds the other end is gone.
func untilEOF(ctx context.Context, r io.Reader) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	crash.Go(func() {
		_, err := io.Copy(io.Discard, r)
		_ = err // an end by error is an end as well
		cancel()
	})
	return ctx, cancel
}

// spawnedStep acts under an identity and a claim that a supervisor made.
func (a *app) spawnedStep(ctx context.Context, role message.Role, f stepFlags) error {
	agent := message.AgentID(os.Getenv(supervisor.AgentEnv))
	is, err := message.ParseAgent(agent)
	if err != nil {
		return usagef("a supervisor sets "+supervisor.AgentEnv, "%s", err)
	}
	if is != role {
		return usagef("a supervisor sets "+supervisor.AgentEnv, "%s is %s, not a %s", supervisor.AgentEnv, agent, role)
	}
	fence, err := strconv.ParseUint(os.Getenv(supervisor.FenceEnv), 10, 64)
	if err != nil {
		return usagef("a supervisor sets "+supervisor.FenceEnv, "%s is not a number", supervisor.FenceEnv)
	}
	root, err := a.root()
	if err != nil {
		return err
	}
	b, err := blackboard.Open(root, a.options(stepIdentity(agent, role)))
	if err != nil {
		return err
	}
	defer b.Close()
	key := blackboard.ActivationKey{Role: role, Subject: f.subject, Cause: message.ID(f.cause)}
	c := supervisor.Claim{Activation: loop.Activation{Key: key}, Agent: agent, Fence: message.Fence(fence), Marker: os.Getenv("ORCH_MARKER")}
	me, err := a.adopt(ctx, b, &c)
	if err != nil {
		return err
	}
	defer a.stayRegistered(b, c.Activation.Goal, me)()
	report, err := a.act(ctx, b, root, c)
	if perr := writeLine(a.out, report); perr != nil {
		return errors.Join(err, perr)
	}
	return asStepExit(err)
}

func stepIdentity(agent message.AgentID, role message.Role) blackboard.Identity {
	return blackboard.Identity{Agent: agent, Speaks: message.Names(role)}
}

// adopt registers the step and checks that the claim it was spawned for is its own.
func (a *app) adopt(ctx context.Context, b *blackboard.Board, c *supervisor.Claim) (message.Registered, error) {
	key := c.Activation.Key
	status := message.AgentWorking
	if key.Role == message.CodeReviewer || key.Role == message.AgentValidator || key.Role == message.MetaValidator {
		status = message.AgentReviewing
	}
	me, err := registration(c.Agent, key.Role, status)
	if err != nil {
		return message.Registered{}, err
	}
	_, err = b.AppendFunc(ctx, func(st *blackboard.State) (message.Message, error) {
		live, ok := st.Activation(key)
		if !ok || !live.Live() || live.Agent != c.Agent {
			return message.Message{}, usagef("orch run starts steps; by hand: orch step "+string(key.Role),
				"%s has no claim on %s for this cause", c.Agent, key.Subject)
		}
		if _, there := st.Agent(c.Agent); there {
			return message.Message{}, usagef("each living step needs an id of its own", "agent %s is registered already", c.Agent)
		}
		c.Activation.Goal, c.Marker = live.Goal, live.Marker
		return message.Message{To: message.All, Goal: live.Goal, Subject: string(c.Agent), Body: me}, nil
	})
	return me, err
}

// act does the activation and says what it consumed.
func (a *app) act(ctx context.Context, b *blackboard.Board, root string, c supervisor.Claim) (supervisor.Report, error) {
	if _, err := a.guardFor(root, os.Getenv(trustedEnv)); err != nil {
		return supervisor.Report{}, err
	}
	cfg, err := a.trustedConfig(ctx, root)
	if err != nil {
		return mended(supervisor.Report{Detail: err.Error()}, err)
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	env, err := a.stepEnv(ctx, b, cfg, c, stop)
	if err != nil {
		return supervisor.Report{Detail: err.Error()}, err
	}
	defer env.close()
	err = a.checkTrust(ctx, root) // playbooks and values were read since
	if err == nil {
		err = acts[c.Activation.Key.Role](ctx, env.Env)
	}
	if stopped := env.meter.Stopped(); stopped != nil && err != nil {
		err = fmt.Errorf("%w: %w", step.ErrWaits, stopped)
	}
	if failed, ok := errors.AsType[*model.Error](err); ok && failed.Kind == model.Killed {
		err = fmt.Errorf("%w: %w", step.ErrKilled, failed)
	}
	r := supervisor.Report{Spent: env.meter.Spent(), Needs: env.meter.Needs()}
	r, err = mended(r, err)
	r.Usage, r.Cost = env.meter.Total()
	r.Short = env.meter.Short()
	if d := env.meter.Down(); d != nil && errors.Is(err, step.ErrWaits) && r.Needs == "" {
		r.Down = &supervisor.Down{Accounts: d.Accounts, Reason: d.Reason}
	}
	if err != nil {
		r.Detail = err.Error()
		r.Moved, r.Killed = errors.Is(err, step.ErrMoved), errors.Is(err, step.ErrKilled)
		r.Unjudged = step.NotJudged(err)
	}
	if derr := deregister(b, c.Agent, "the step ended"); derr != nil {
		a.warn(derr)
	}
	return r, err
}

// mended lets a step wait that a person must help first.
func mended(r supervisor.Report, err error) (supervisor.Report, error) {
	if needs := mendFirst(err); needs != "" {
		r.Needs, err = cmp.Or(r.Needs, needs), fmt.Errorf("%w: %w", step.ErrWaits, err)
	}
	return r, err
}

// mendFirst is what a person must mend before a step that ended so is worth
// starting again; empty for other ends.
func mendFirst(err error) string {
	rewound, lost := errors.AsType[*workspace.RewoundError](err)
	gone, missing := errors.AsType[*workspace.NotReadyError](err)
	untrusted, pulled := errors.AsType[*trust.UntrustedError](err)
	odd, came := errors.AsType[*trust.OddError](err)
	around, blocked := errors.AsType[*planner.AroundError](err)
	tools, lacks := errors.AsType[*think.MissingToolError](err)
	switch {
	case err != nil && journal.FaultOf(err) == journal.DiskFull:
		return err.Error() + ". The disk is full: free some space (orch board gc helps), then: orch resume"
	case lost:
		return rewound.Error() + ". " + rewound.Hint()
	case missing:
		return gone.Error() + ". " + gone.Hint()
	case pulled:
		return untrusted.Error() + ". " + untrusted.Hint() + ", then: orch resume"
	case blocked:
		return around.Error() + ". " + around.Hint()
	case lacks:
		return tools.Error() + ". " + tools.Hint()
	case came:
		return odd.Error() + ". " + odd.Hint() + ", then: orch resume"
	}
	return ""
}

// asStepExit turns how a role ended into an exit code.
func asStepExit(err error) error {
	code := step.ExitCode(err)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled):
		return &exitError{code: exitAgain, cause: err}
	}
	return &exitError{code: code, cause: err}
}

// stepScratch is a directory of its own for each step, gone with it.
func stepScratch(marker string) (string, error) {
	dir := supervisor.ScratchDir(marker)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", fmt.Errorf("make the step's scratch directory: %w", err)
	}
	return dir, nil
}

// rulesOf decodes the permissions given for a goal.
func rulesOf[T any](raw []string) ([]T, error) {
	var out []T
	for _, r := range raw {
		var v T
		if err := json.Unmarshal([]byte(r), &v); err != nil {
			return nil, fmt.Errorf("read a permission: %w", err)
		}
		out = append(out, v)
	}
	return out, nil
}
