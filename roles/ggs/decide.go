package ggs

import (
	"fmt"
	"slices"
	"time"

	"orch/blackboard/message"
)

// Decision is the answer to a round: exactly one of Directive and Final is set.
type Decision struct {
	Directive *message.PlanDirective
	Final     *message.FinalResult
	Megrams   []message.Megram           // to be written before the directive or result
	Feedback  []message.NegativeFeedback // after the Megrams
	Trace     []string                   // figures and rules, in the order they were applied
}

// Body is the message that answers the round.
func (d Decision) Body() message.Body {
	if d.Final != nil {
		return *d.Final
	}
	return *d.Directive
}

// policy chooses the change. Everything else is the same for all of them.
type policy interface {
	name() string
	rule(situation) ruling
}

var policies = []policy{likeForLike{}, v08{}, v07{}}

// situation is all a policy may look at.
type situation struct {
	figures
	params Params   // thresholds rounded like the figures they are compared with
	rounds []sensed // the last one is to be decided
	strict bool
}

func (s situation) now() sensed { return s.rounds[len(s.rounds)-1] }

// before is the answer to the round before, or nil.
func (s situation) before() *message.PlanDirective {
	if len(s.rounds) < 2 {
		return nil
	}
	return s.rounds[len(s.rounds)-2].answer
}

// ruling is what a policy says about a round.
type ruling struct {
	directive      message.Directive
	tasks          []message.TaskDirective
	blockedTools   []string
	blockedTargets []string
	worsening      int
	why            string
	trace          []string
}

func (r ruling) ends() bool { return r.directive == message.Success || r.directive == message.Abandon }

// Decide answers the last round of a history. It is a function of its arguments;
// now and newID only date and name the Megrams. The error is a *PolicyError, a
// *ParamError or a *HistoryError.
func Decide(policyName string, p Params, h History, now time.Time, newID func() string) (Decision, error) {
	pol, err := policyFor(policyName)
	if err != nil {
		return Decision{}, err
	}
	if err := p.Validate(); err != nil {
		return Decision{}, err
	}
	if err := h.validate(); err != nil {
		return Decision{}, err
	}
	rounds := sense(h)
	s := situation{figures: measure(p, rounds, owed(h, rounds)), params: rounded(p), rounds: rounds, strict: h.Strict}
	r := rule(pol, s)
	d := Decision{Trace: append(s.trace(), r.trace...)}
	if r.ends() || r.directive == message.Accept {
		d.Final = s.final(pol.name(), h, r)
	} else {
		d.Directive = s.order(pol.name(), h, r)
	}
	d.Megrams = s.megrams(h, r, now, newID)
	d.Feedback = s.feedback(h, r)
	return d, nil
}

func rounded(p Params) Params {
	p.Epsilon, p.Delta, p.Rho, p.Theta = exact(p.Epsilon), exact(p.Delta), exact(p.Rho), exact(p.Theta)
	return p
}

func rule(pol policy, s situation) ruling {
	if s.complete {
		return ruling{
			directive: message.Accept, why: "Everything matched: every criterion of every task and of the goal passed.",
			trace: []string{"accept: all matched and D = 0"},
		}
	}
	if s.nothingToTry() {
		return ruling{
			directive: message.Abandon, why: "There is nothing to try: " + short(refusals(s.now())) + ".",
			trace: []string{"abandon: two rounds without a plan, nothing has run, and nothing is blocked that could be released"},
		}
	}
	return pol.rule(s)
}

// nothingToTry tells whether another round could only ask the same again: the
// planner has found nothing twice in a row, nothing has ever run, and nothing
// is blocked that could be released.
func (s situation) nothingToTry() bool {
	if len(s.rounds) < 2 || !s.now().exhausted || !s.rounds[len(s.rounds)-2].exhausted || slices.ContainsFunc(s.rounds, sensed.measured) {
		return false
	}
	d := s.before()
	return d != nil && len(d.BlockedTools)+len(d.BlockedTargets)+len(d.TaskDirectives) == 0
}

func (s situation) order(name string, h History, r ruling) *message.PlanDirective {
	return &message.PlanDirective{
		TaskID: h.Goal, Policy: name, Round: len(s.rounds), Loss: s.Loss,
		PrevDirective: s.previous(), Directive: r.directive,
		BlockedTools: r.blockedTools, BlockedTargets: r.blockedTargets,
		FailedCriterion: s.heaviest(), FailureClass: s.class, BudgetPressure: s.Omega, GradL: s.gradL,
		MacroState: s.cell(), WorseningCount: r.worsening, Rationale: r.why, TaskDirectives: r.tasks,
	}
}

func (s situation) previous() message.Directive {
	if d := s.before(); d != nil {
		return d.Directive
	}
	return message.Init
}

// cell is the macro-state of v0.8's table, whatever the policy. An accepted
// goal never reaches the table.
func (s situation) cell() message.Directive {
	if s.complete {
		return message.Accept
	}
	return MacroState(s.params, s.Loss, s.gradL)
}

func (s situation) trace() []string {
	p := s.params
	return []string{
		fmt.Sprintf("round %d: D %.4g, P %.4g, Ω %.4g, L %.4g, ∇L %+.4g (%s)", len(s.rounds), s.D, s.P, s.Omega, s.L, s.gradL, Arrow(s.gradL, p.Epsilon)),
		fmt.Sprintf("limits: δ %g, ρ %g, ε %g, θ %g, %d of %d replans, %d of %d ms", p.Delta, p.Rho, p.Epsilon, p.Theta,
			s.replans, p.MaxReplans, s.now().elapsedMS, p.TimeBudgetMS),
		fmt.Sprintf("v0.8's table says %s", s.cell()),
	}
}

// closeEnough tells whether the goal may end with success: something was
// measured, of the tasks' criteria and of the goal's own no more than δ failed,
// no criterion failed that is required or that a check has shown to be false,
// and every required one of the goal passed in this round.
func (s situation) closeEnough(delta float64) bool {
	return s.now().measured() && s.D <= delta && share(s.goal) <= delta && len(s.facts(s.strict)) == 0 && len(s.owed) == 0
}

// refused says why a goal whose tasks are close enough may not end.
func (s situation) refused() string {
	if facts := s.facts(s.strict); len(facts) > 0 {
		return fmt.Sprintf("%q failed, and no threshold waives a required criterion or a check", facts[0].Criterion)
	}
	if len(s.owed) > 0 {
		return fmt.Sprintf("the goal's %q has not passed: %s", s.owed[0].Criterion, s.owed[0].Evidence)
	}
	return fmt.Sprintf("%.2f of the goal's own criteria failed", share(s.goal))
}

// spent is the ruling for a goal whose budget is exhausted.
func (s situation) spent() ruling {
	return ruling{
		directive: message.Abandon,
		why:       fmt.Sprintf("The budget is spent: %.0f %% of it after %d replans; the limit is %.0f %%.", 100*s.Omega, s.replans, 100*s.params.Theta),
		trace:     []string{fmt.Sprintf("abandon: Ω %.4g ≥ θ %g", s.Omega, s.params.Theta)},
	}
}

// success is the ruling for a goal that is close enough.
func (s situation) success() ruling {
	return ruling{
		directive: message.Success,
		why:       fmt.Sprintf("Close enough: D %.2f is within %.2f, and no required criterion failed.", s.D, s.params.Delta),
		trace:     []string{fmt.Sprintf("success: D %.4g ≤ δ %g and no required criterion failed", s.D, s.params.Delta)},
	}
}
