package blackboard

import (
	"slices"

	"orch/blackboard/message"
)

// sep keeps the parts of a key apart; no name may contain it.
const sep = "\x00"

// hex16 orders numbers as text.
func hex16(n uint64) string {
	var b [16]byte
	return string(appendHex(b[:0], n, 16))
}

func appendHex(b []byte, n uint64, digits int) []byte {
	for shift := 4 * (digits - 1); shift >= 0; shift -= 4 {
		b = append(b, "0123456789abcdef"[n>>shift&15])
	}
	return b
}

// orderKey sorts tasks by priority, then creation.
func (t *Task) orderKey() string {
	b := make([]byte, 0, orderLen)
	b = appendHex(b, uint64(int64(t.Priority))^(1<<63), 16)
	b = appendHex(b, t.Created.Seq, 16)
	return string(appendHex(b, uint64(t.Ordinal), 8))
}

const orderLen = 16 + 16 + 8

func seqKey(s int) string { return hex16(uint64(int64(s)) ^ (1 << 63)) }

// indexTask lists where a task is found:
//
//	task.id         id
//	task.all        status, order
//	task.goal       goal, status, order
//	task.plan       goal, plan, sequence                 of plans only
//	task.begun      goal, status, order                  if it is there to be taken, and has been before
//	task.review     role, goal, order                    if it is ready for review
//	task.merging    nothing                              if a merge of it has begun and not ended
//	task.claim      role, goal, class, order, id, targets    if it may be claimed but for what others hold
//	task.dependent  task it waits for                    unless it is terminal
//	task.held       nothing                              if it is claimed and writes to the shared directory
//	task.holder     agent                                if it is claimed
func indexTask(key string, t *Task) []entry {
	order := t.orderKey()
	out := make([]entry, 0, 5+len(t.DependsOn))
	out = append(out,
		entry{"task.id", key, key},
		entry{"task.all", string(t.Status) + sep + order, key},
		entry{"task.goal", string(t.Goal) + sep + string(t.Status) + sep + order, key})
	if t.PlanID != "" {
		out = append(out, entry{"task.plan", planKey(t.Goal, t.PlanID) + sep + seqKey(t.Sequence) + order, key})
	}
	if t.Fence > 0 && claimableStatus(t.Status) {
		out = append(out, entry{"task.begun", string(t.Goal) + sep + string(t.Status) + sep + order, key})
	}
	if t.Status == ReadyForReview {
		out = append(out, entry{"task.review", string(t.For) + sep + string(t.Goal) + sep + order, key})
	}
	if t.Review.Merge != nil {
		out = append(out, entry{"task.merging", key, key})
	}
	if !t.Status.Terminal() {
		for _, dep := range t.DependsOn {
			out = append(out, entry{"task.dependent", string(dep) + sep + key, key})
		}
	}
	switch {
	case t.Status == Claimed:
		out = append(out, entry{"task.holder", string(t.Agent) + sep + key, key})
		if class, _ := footprint(t); class != footprintNone {
			out = append(out, entry{"task.held", key, key})
		}
	case claimableStatus(t.Status) && !t.Waiting:
		class, targets := footprint(t)
		k := string(t.For) + sep + string(t.Goal) + sep + string(class) + sep + order + key
		for _, target := range targets {
			k += sep + target
		}
		out = append(out, entry{"task.claim", k, key})
	}
	return out
}

// stillIndexedTask tells whether nothing changed that indexTask looks at.
func stillIndexedTask(a, b *Task) bool {
	return a.Status == b.Status && a.Waiting == b.Waiting && a.Agent == b.Agent && a.Priority == b.Priority &&
		a.Created.Seq == b.Created.Seq && a.Ordinal == b.Ordinal && a.Goal == b.Goal && a.For == b.For &&
		a.PlanID == b.PlanID && a.Sequence == b.Sequence && a.ReadOnly == b.ReadOnly &&
		(a.Fence > 0) == (b.Fence > 0) && (a.Review.Merge != nil) == (b.Review.Merge != nil) &&
		slices.Equal(a.Targets, b.Targets) && slices.Equal(a.DependsOn, b.DependsOn)
}

func indexGoal(key string, g *Goal) []entry {
	order := hex16(g.InputRef.Seq)
	out := []entry{{"goal.all", order, key}, {"goal.status", key + sep + string(g.Status), key}}
	if g.Status != GoalEnded {
		out = append(out, entry{"goal.open", order, key})
	}
	return out
}

func indexActivation(key string, a *Activation) []entry {
	order := hex16(a.Started.Seq)
	out := []entry{{"activation.goal", string(a.Goal) + sep + order, key}}
	if a.Live() {
		out = append(out, entry{"activation.live", order, key}, entry{"activation.agent", string(a.Agent) + sep + order, key})
	}
	return out
}

func indexApproval(key string, a *Approval) []entry {
	order := hex16(a.Asked.Seq)
	out := []entry{{"approval.all", order, key}}
	if a.Given.Seq == 0 {
		out = append(out, entry{"approval.open", string(a.Goal) + sep + order, key})
	}
	return out
}

func indexAgent(key string, _ *Agent) []entry { return []entry{{"agent.all", key, key}} }

func indexAnomaly(key string, _ *AnomalyRecord) []entry { return []entry{{"anomaly.all", key, key}} }

func planKey(goal message.GoalID, plan message.PlanID) string {
	return string(goal) + sep + string(plan)
}
