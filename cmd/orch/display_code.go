package main

import (
	"cmp"
	"fmt"
	"strings"

	"orch/blackboard/message"
)

// coding are the lines for what coders, reviewers and merges do.
func (d *display) coding(m message.Message) []string {
	switch b := m.Body.(type) {
	case message.TaskGated:
		return []string{d.item(d.paint.yellow("!"), b.Task, fmt.Sprintf("stays a draft: it misses %s", gateNames(b.Missing)))}
	case message.ReviewRequested:
		return []string{d.item(d.paint.dim("→"), b.Task, fmt.Sprintf("submitted by %s at %.12s", m.Agent, b.ReviewCommit))}
	case message.ReviewVerdict:
		return d.reviewed(m, b)
	case message.FindingsAccepted:
		return []string{d.item(d.paint.dim("→"), b.Task, fmt.Sprintf("%s accepted by a person", count(len(b.Findings), "finding")))}
	case message.Merged:
		return []string{d.item(d.paint.green("✓"), b.Task, fmt.Sprintf("merged as %.12s", b.To))}
	case message.IntegrationFailed:
		why := fmt.Sprintf("%s fails on the merged tree", b.Command)
		if len(b.Conflict) > 0 {
			why = "conflicts in " + strings.Join(b.Conflict, ", ")
		}
		return []string{d.item(d.paint.yellow("!"), b.Task, "does not fit the branch: "+oneLine(why, 120))}
	case message.Blocked:
		return []string{d.item(d.paint.yellow("!"), b.Task, fmt.Sprintf("blocked by %s: %s", cmp.Or(string(m.Agent), string(m.From)), oneLine(b.BlockedReason, 120)))}
	case message.Unblocked:
		if b.Task == "" {
			return nil
		}
		return []string{d.item(d.paint.dim("→"), b.Task, "unblocked: "+oneLine(b.Reason, 120))}
	case message.Rescoped:
		return []string{d.item(d.paint.yellow("↻"), b.Task, fmt.Sprintf("replaced by %s: %s", count(len(b.SupersededBy), "task"), oneLine(b.RescopeReason, 120)))}
	case message.Abandoned:
		return []string{d.item(d.paint.red("✗"), b.Task, "given up: "+oneLine(b.Reason, 120))}
	case message.Handoff:
		if b.Refused != "" {
			return []string{d.item(d.paint.yellow("!"), b.Task, "not taken: "+oneLine(b.Refused, 160)+"; a new worktree is made")}
		}
		return []string{d.item(d.paint.dim("→"), b.Task, "handed on: "+oneLine(b.NextAction, 120))}
	case message.Discovery:
		return []string{d.head("found", fmt.Sprintf("%s, %s: %s", b.Severity, b.Urgency, oneLine(b.Description, 120)))}
	}
	return nil
}

func (d *display) reviewed(m message.Message, b message.ReviewVerdict) []string {
	if b.Decision == message.Approved {
		return []string{d.item(d.paint.green("✓"), b.Task, fmt.Sprintf("approved by %s", m.Agent))}
	}
	out := []string{d.item(d.paint.red("✗"), b.Task, fmt.Sprintf("rejected by %s", m.Agent))}
	for _, x := range b.Blockers {
		out = append(out, d.cont(oneLine(x.Name(), 140)))
		if x.Finding != "" {
			out = append(out, d.cont(d.paint.dim(fmt.Sprintf("orch show %s; if it may stand: orch accept %s %s", x.Finding, m.Goal, x.Finding))))
		}
	}
	return out
}

func gateNames(all []message.Gate) string {
	var names []string
	for _, g := range all {
		names = append(names, g.Gate)
	}
	return strings.Join(names, ", ")
}
