package planner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/loop"
	"orch/roles/loop/code"
	"orch/roles/run/step"
	"orch/roles/think"
)

// maxAnswers is how often one step asks for an answer that can be taken.
const maxAnswers = 3

// UnansweredError says that nothing the planner answered could be taken.
type UnansweredError struct {
	Wake    loop.Wake
	Problem string // of the last answer
}

func (e *UnansweredError) Error() string {
	return fmt.Sprintf("no answer to %s on %s could be taken: %s", e.Wake.Kind, e.Wake.Subject, e.Problem)
}

// Hint names the next command.
func (e *UnansweredError) Hint() string { return "orch why " + e.Wake.Subject }

// AroundError says that a task is blocked by what is around it, again and again:
// no answer of a planner helps, and a person has to look.
type AroundError struct {
	Task message.TaskID
	Slot string
	Why  string // what blocked it last
	N    int    // how often it was
}

func (e *AroundError) Error() string {
	return fmt.Sprintf("task %s (%s) was blocked %d times by what is around it, last by: %s", e.Slot, e.Task, e.N, strings.TrimSuffix(e.Why, "."))
}

// Hint names the next command.
func (e *AroundError) Hint() string {
	return fmt.Sprintf("Put that right, then: orch task unblock %s; orch resume", e.Task)
}

// waking is the planner's answer to one thing that woke it.
type waking struct {
	e    *step.Env
	goal blackboard.Goal
	wake loop.Wake
	task blackboard.Task // zero for what was raised about no task
	plan []blackboard.Task
	may  []string
}

// wakingOf finds what the activation is about; step.ErrMoved when nothing of it
// is left to be answered.
func wakingOf(ctx context.Context, e *step.Env, g blackboard.Goal) (*waking, error) {
	w := &waking{e: e, goal: g}
	var woken bool
	err := e.Board.View(ctx, func(s *blackboard.State) error {
		w.goal, _ = s.Goal(g.ID)
		w.wake, woken = loop.WakeFor(s, w.goal, e.Key)
		w.task, _ = s.Task(w.wake.Task)
		w.plan = s.PlanTasks(w.goal)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look what woke the planner: %w", err)
	}
	if !woken {
		return nil, step.ErrMoved
	}
	w.may = w.allowed()
	return w, nil
}

// byCode tells whether nothing is left to ask: the task was replaced too often.
func (w *waking) byCode() bool { return slices.Equal(w.may, []string{think.AnswerAbandon}) }

// WakeInput is what the planner would be asked about what woke it; ok is false
// when code answers.
func WakeInput(ctx context.Context, e *step.Env, g blackboard.Goal) (in think.WakeInput, ok bool, err error) {
	w, err := wakingOf(ctx, e, g)
	if err != nil || w.byCode() {
		return in, false, err
	}
	in, err = w.input(ctx)
	return in, true, err
}

// answerWake answers what the activation is about, or finds that nothing is to
// be answered any more; then nobody is asked.
func answerWake(ctx context.Context, e *step.Env, g blackboard.Goal) error {
	w, err := wakingOf(ctx, e, g)
	if err != nil {
		return err
	}
	if err := w.exhaustion(ctx); err != nil {
		return err
	}
	if w.wake.Kind == loop.WakeBlocked && w.task.OnlyAPerson() {
		return &AroundError{Task: w.task.ID, Slot: w.task.Slot, Why: w.task.BlockedReason, N: w.task.Review.Environment}
	}
	if w.byCode() {
		reason := fmt.Sprintf("%s; it was rescoped %d times already, so the controller decides", w.wake.Why, w.task.Rescopes)
		return w.say(ctx, message.Abandoned{Task: w.task.ID, Reason: reason, Alignment: reason})
	}
	waker, ok := e.Planner.(think.Waker)
	if !ok {
		return &step.NoBackendError{Role: message.Planner}
	}
	return w.ask(ctx, waker)
}

// exhaustion logs that two coders were blocked on the task, before anything is
// done about it.
func (w *waking) exhaustion(ctx context.Context) error {
	if w.wake.Kind != loop.WakeExhausted || slices.Contains(w.task.Anomalies, message.HypothesisExhaustion) {
		return nil
	}
	return w.say(ctx, message.Anomaly{Task: w.task.ID, Kind: message.HypothesisExhaustion, Details: map[string]string{"what": w.wake.Why}})
}

// allowed are the answers that may be given.
func (w *waking) allowed() []string {
	giveUp := w.task.ID != "" && code.MustGiveUp(w.task, w.e.Config.Code.MaxRescopes)
	switch w.wake.Kind {
	case loop.WakeDiscovery, loop.WakeAmbiguity:
		return []string{think.AnswerTriage}
	case loop.WakeBlocked:
		if giveUp {
			return []string{think.AnswerUnblock, think.AnswerAbandon}
		}
		return []string{think.AnswerUnblock, think.AnswerRescope, think.AnswerAbandon}
	}
	if giveUp {
		return []string{think.AnswerAbandon}
	}
	return []string{think.AnswerRescope, think.AnswerAbandon}
}

// ask asks until an answer can be taken, with what was wrong with the last.
func (w *waking) ask(ctx context.Context, waker think.Waker) error {
	in, err := w.input(ctx)
	if err != nil {
		return err
	}
	for range maxAnswers {
		answer, err := waker.Answer(ctx, in)
		w.e.Spend(answer.Usage)
		var unusable *think.UnusableError
		switch {
		case errors.As(err, &unusable):
			in.Refused = step.Cut(w.e.Unread(err).Error(), step.EvidenceBytes)
		case err != nil:
			return fmt.Errorf("answer %s: %w", w.wake.Kind, err)
		default:
			if in.Refused, err = w.take(ctx, answer); err != nil {
				return err
			}
		}
		if in.Refused == "" {
			return nil
		}
		w.e.Log("answer not taken: %s", in.Refused)
	}
	return &UnansweredError{Wake: w.wake, Problem: in.Refused}
}

// take does what the planner answers, or says why it can not be done.
func (w *waking) take(ctx context.Context, a think.WakeAnswer) (problem string, err error) {
	a.Reason, a.Alignment = strings.TrimSpace(a.Reason), strings.TrimSpace(a.Alignment)
	switch {
	case !slices.Contains(w.may, a.Answer):
		return fmt.Sprintf("%q is no answer to %s: answer %s", a.Answer, w.wake.Kind, strings.Join(w.may, " or ")), nil
	case a.Reason == "":
		return "it gives no reason", nil
	case len(a.Tasks) > 0 && (a.Answer == think.AnswerUnblock || a.Answer == think.AnswerAbandon):
		return fmt.Sprintf("%s takes no tasks: to replace the task, answer %s", a.Answer, think.AnswerRescope), nil
	}
	switch a.Answer {
	case think.AnswerUnblock:
		return "", w.commit(ctx, a, nil, message.Unblocked{Task: w.task.ID, Reason: a.Reason})
	case think.AnswerAbandon:
		return w.abandon(ctx, a)
	case think.AnswerRescope:
		return w.rescope(ctx, a)
	}
	return w.triage(ctx, a)
}

func (w *waking) abandon(ctx context.Context, a think.WakeAnswer) (problem string, err error) {
	if problem := code.ReasonProblem(a.Reason); problem != "" {
		return "reason " + problem, nil
	}
	return "", w.commit(ctx, a, nil, message.Abandoned{Task: w.task.ID, Reason: a.Reason, Alignment: orElse(a.Alignment, a.Reason)})
}

// rescope puts other tasks in the place of one.
func (w *waking) rescope(ctx context.Context, a think.WakeAnswer) (problem string, err error) {
	if len(a.Tasks) == 0 {
		return "it names no replacement; a task that nothing replaces is abandoned", nil
	}
	drafts, problem, err := w.drafts(ctx, a.Tasks)
	if err != nil || problem != "" {
		return problem, err
	}
	said := message.Rescoped{Task: w.task.ID, SupersededBy: idsOf(drafts), RescopeReason: a.Reason, Alignment: a.Alignment}
	if problem := code.RescopeProblem(said, w.task); problem != "" {
		return problem, nil
	}
	return "", w.commit(ctx, a, drafts, said)
}

// triage answers what was raised.
func (w *waking) triage(ctx context.Context, a think.WakeAnswer) (problem string, err error) {
	said := message.Triaged{Of: w.wake.Cause.ID, Tasks: []message.TaskID{}, Reason: a.Reason, Alignment: a.Alignment}
	if len(a.Tasks) == 0 {
		return "", w.commit(ctx, a, nil, said)
	}
	if a.Alignment == "" {
		return "alignment is missing: say how the new tasks keep the direction of the goal", nil
	}
	drafts, problem, err := w.drafts(ctx, a.Tasks)
	if err != nil || problem != "" {
		return problem, err
	}
	said.Tasks = idsOf(drafts)
	return "", w.commit(ctx, a, drafts, said)
}

// commit says an answer that is taken: the gaps it names, its drafts, and then
// what makes them work. A crash in between leaves drafts, which become void.
func (w *waking) commit(ctx context.Context, a think.WakeAnswer, drafts []message.SubTask, body message.Body) error {
	if err := noteSpecGaps(ctx, w.e, w.goal, a.SpecGaps); err != nil {
		return err
	}
	for _, t := range drafts {
		if _, err := w.e.SayTo(ctx, message.Planner, message.Coder, w.e.Key.Cause, t, w.stillWoken); err != nil {
			return err
		}
	}
	return w.say(ctx, body)
}

func (w *waking) say(ctx context.Context, body message.Body) error {
	_, err := w.e.SayIf(ctx, message.Planner, w.e.Key.Cause, body, w.stillWoken)
	return err
}

// stillWoken holds while the board waits for exactly this answer.
func (w *waking) stillWoken(s *blackboard.State) error {
	g, ok := s.Goal(w.goal.ID)
	if !ok || g.Status == blackboard.GoalEnded {
		return step.ErrMoved
	}
	if _, ok := loop.WakeFor(s, g, w.e.Key); !ok {
		return step.ErrMoved
	}
	return nil
}

func idsOf(drafts []message.SubTask) []message.TaskID {
	ids := []message.TaskID{}
	for _, t := range drafts {
		ids = append(ids, t.ID)
	}
	return ids
}
