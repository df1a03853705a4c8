package auditor

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"orch/blackboard/message"
)

// Everything here asks how long something lasted. What is found does not depend
// on when it is looked for: a thing is held against its limit when it ends, and
// before that whenever a deadline may have passed, by the log's time or, in a
// log that says nothing more, by Tick.

// sweepEvery bounds how often everything that waits is looked at.
const sweepEvery = time.Second

// Tick lets time pass without a message.
func (a *Auditor) Tick(now time.Time) {
	a.pass(now)
	for _, id := range sorted(a.s.Goals) {
		if id != "" {
			a.silence(id, a.s.Goals[id], now)
		}
	}
}

// due notes a deadline.
func (a *Auditor) due(at time.Time) {
	if a.s.Due.IsZero() || at.Before(a.s.Due) {
		a.s.Due = at
	}
}

// pass looks at everything that waits if a deadline may have passed.
func (a *Auditor) pass(now time.Time) {
	if a.s.Due.IsZero() || now.Before(a.s.Due) {
		return
	}
	a.s.Due = time.Time{}
	a.braked("", &a.s.Brake, now)
	for _, id := range sorted(a.s.Goals) {
		g := a.s.Goals[id]
		a.braked(id, &g.Brake, now)
		for _, name := range sorted(g.Tasks) {
			a.waited(id, name, g.Tasks[name], now)
		}
	}
	if soonest := now.Add(sweepEvery); !a.s.Due.IsZero() && a.s.Due.Before(soonest) {
		a.s.Due = soonest
	}
}

// limitOf is how long a task may stay where it is; 0 for ever.
func (a *Auditor) limitOf(t *task) (Kind, time.Duration) {
	switch t.Status {
	case drafted:
		return StaleDraft, ms(a.p.DraftMS)
	case rejected:
		return OrphanedRejection, ms(a.p.RejectionMS)
	}
	return "", 0
}

// await notes when a task will have waited too long.
func (a *Auditor) await(t *task) {
	if kind, limit := a.limitOf(t); kind != "" && !t.Told {
		a.due(t.Since.TS.Add(limit))
	}
}

// waited holds the time a task spent where it is against the limit. Time under a
// brake does not count: nobody was meant to act.
func (a *Auditor) waited(id message.GoalID, name message.TaskID, t *task, now time.Time) {
	kind, limit := a.limitOf(t)
	if kind == "" || t.Told {
		return
	}
	if g := a.s.Goals[id]; a.s.Brake.set() || (g != nil && g.Brake.set()) {
		a.due(now.Add(limit))
		return
	}
	since := t.Since.TS
	if lifted := a.liftedAfter(id, since); lifted.After(since) {
		since = lifted
	}
	if end := since.Add(limit); now.Before(end) {
		a.due(end)
		return
	}
	t.Told = true
	what := fmt.Sprintf("task %s was drafted and neither dispatched nor voided for %s", name, limit)
	if kind == OrphanedRejection {
		what = fmt.Sprintf("task %s was rejected and nobody took it up for %s", name, limit)
	}
	a.find(Finding{Kind: kind, Severity: Warning, Goal: id, Subject: string(name), Role: t.By, Message: what}, t.Since)
}

// liftedAfter is when the last brake was lifted.
func (a *Auditor) liftedAfter(id message.GoalID, since time.Time) time.Time {
	latest := since
	if a.s.Lifted.After(latest) {
		latest = a.s.Lifted
	}
	if g := a.s.Goals[id]; g != nil && g.Lifted.After(latest) {
		latest = g.Lifted
	}
	return latest
}

// braked finds a pause or a checkpoint that nobody lifts.
func (a *Auditor) braked(id message.GoalID, k *mark, now time.Time) {
	if !k.set() || k.Told || !k.Brake {
		return
	}
	limit := ms(a.p.PauseMS)
	if end := k.TS.Add(limit); now.Before(end) {
		a.due(end)
		return
	}
	k.Told = true
	a.find(Finding{Kind: ForgottenPause, Severity: Warning, Goal: id, Subject: string(id),
		Message: fmt.Sprintf("%s holds for more than %s: %s", k.By, limit, k.What)}, k.evidence)
}

// silence finds an open goal that somebody attends and nobody says anything
// about. It is asked before the message that ends the silence is taken in.
func (a *Auditor) silence(id message.GoalID, g *goal, now time.Time) {
	if now.Sub(g.Last.TS) < ms(a.p.StallMS) || g.Quiet == g.Last.Seq || a.s.Brake.set() || g.Brake.set() {
		return
	}
	if len(a.s.Supervisors) == 0 && g.Running == 0 {
		return // nobody works on it, and nobody says so
	}
	g.Quiet = g.Last.Seq
	a.find(Finding{Kind: Stall, Severity: Warning, Goal: id, Subject: string(id),
		Message: fmt.Sprintf("nothing was said about goal %s for %s, though it is open and attended", id, ms(a.p.StallMS))}, g.Last)
}

// sorted lists the keys of a map: no finding may depend on the order of a map.
func sorted[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
