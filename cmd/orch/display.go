package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"orch/blackboard/message"
	"orch/roles/ggs"
	"orch/roles/run/config"
)

// display turns messages into the lines a person reads. It is a function of
// the messages it was shown; it never asks the board.
type display struct {
	paint   paint
	tasks   map[message.TaskID]message.SubTask
	round   int
	cost    float64
	refused []string // why the last plan was
	asked   string   // the goal's own words
	figures bool     // show what the controller measured, too
	cfg     config.Config
	epsilon float64 // |∇L| below it is shown as a plateau
}

// newDisplay shows messages as the controller under a configuration sees them.
func newDisplay(p paint, cfg config.Config) *display {
	return &display{paint: p, cfg: cfg, epsilon: epsilonOf(cfg), tasks: map[message.TaskID]message.SubTask{}}
}

// epsilonOf is the controller's ε under a configuration.
func epsilonOf(cfg config.Config) float64 {
	if e := cfg.Controller.Epsilon; e >= 0 {
		return e
	}
	return ggs.Defaults(cfg.Controller.Policy).Epsilon
}

// lines is what one message means to a person; most messages mean nothing.
func (d *display) lines(m message.Message) []string {
	switch b := m.Body.(type) {
	case message.UserInput:
		d.asked = b.Text
		return append([]string{d.head("goal", string(m.Goal)+": "+oneLine(b.Text, 100))}, d.budget(b)...)
	case message.ClarificationQuestion:
		return append([]string{d.head("question", fmt.Sprintf("round %d", b.Round))}, bullets(b.Questions)...)
	case message.TaskSpec:
		if oneLine(b.Intent, 110) == oneLine(d.asked, 110) {
			return nil
		}
		return []string{d.head("understood", oneLine(b.Intent, 110))}
	case message.MemoryTimeout:
		return []string{d.head("memory", "did not answer: "+b.Reason)}
	case message.MemoryAnswer:
		return d.remembered(b)
	case message.NegativeFeedback:
		return []string{d.head("memory", "a rule did not hold: "+oneLine(b.Content, 140))}
	case message.MemoryRebuilt:
		return []string{d.head("memory", "its index was made anew from the log: "+oneLine(b.Reason, 100))}
	case message.SubTask:
		d.tasks[b.ID] = b
	case message.DispatchManifest:
		return d.plan(b)
	case message.PlanRejected:
		return d.rejected(b)
	case message.ExecutionResult:
		return d.executed(b)
	case message.CorrectionSignal:
		return []string{d.item(d.paint.yellow("↻"), b.SubtaskID, "again: "+oneLine(b.WhatToDo, 100))}
	case message.SubTaskOutcome:
		return d.outcome(b)
	case message.ReplanRequest:
		return d.replan(b)
	case message.OutcomeSummary:
		return append([]string{d.head(fmt.Sprintf("round %d", d.round), oneLine(b.Summary, 100))}, d.verdicts(b.TaskVerdicts)...)
	case message.PlanDirective:
		return d.directive(b)
	case message.GiveUp:
		return []string{d.head("given up", oneLine(b.Reason, 100))}
	case message.FinalResult:
		return d.final(b)
	case message.StepEnded:
		d.cost += b.Cost
		return d.ended(b)
	}
	return append(d.interruptions(m), d.coding(m)...)
}

// interruptions are the lines for what stops or endangers a run.
func (d *display) interruptions(m message.Message) []string {
	switch b := m.Body.(type) {
	case message.ApprovalRequest:
		return []string{d.head("permission", fmt.Sprintf("%s needs a yes: %s", b.Tool, b.Reason)),
			d.cont("orch allow " + b.Request + "   or   orch deny " + b.Request)}
	case message.CheckpointReached:
		return []string{d.head("checkpoint", b.Name+": "+b.Reason)}
	case message.Escalated:
		return []string{d.head("escalated", fmt.Sprintf("nobody answered for %s, told %s: %s", (time.Duration(b.WaitedMS)*time.Millisecond).Round(time.Second), count(b.Level, "time"), oneLine(b.Reason, 120)))}
	case message.BudgetReached:
		return []string{d.head("budget", fmt.Sprintf("the cap on %s is reached: $%.4g of $%.4g", b.Cap, b.Used, b.Limit))}
	case message.Paused:
		return []string{d.head("paused", b.Reason)}
	case message.Resumed:
		return []string{d.head("resumed", b.Reason)}
	case message.Aborted:
		return []string{d.head("aborted", b.Reason)}
	case message.LimitReached:
		return []string{d.head("limit", fmt.Sprintf("%s until %s: %s", b.Account, b.Until.Local().Format("15:04:05"), oneLine(b.Reason, 120)))}
	case message.Outage:
		return []string{d.head("no answer", fmt.Sprintf("%s: %s", b.Role, oneLine(b.Reason, 160))),
			d.cont(fmt.Sprintf("try %d; the next one is at %s, in %s. Nothing is spent while it waits; Ctrl-C ends it", b.Try,
				b.Until.Local().Format("15:04:05"), b.Until.Sub(m.TS).Round(time.Second)))}
	case message.LateResult:
		return []string{d.head("late", "a result came after its claim was lost and is kept, not applied")}
	case message.BoundaryViolation:
		if b.Refused == "" {
			return []string{d.head("refused", fmt.Sprintf("%s (%s): %s", b.By, b.From, b.Why))}
		}
		return []string{d.head("refused", fmt.Sprintf("%s (%s) may not say %s: %s", b.By, b.From, b.Refused, b.Why))}
	case message.JournalRepaired:
		if b.LostTo > 0 || b.From != "" {
			return []string{d.head("restored", b.Why+"; what was there before is kept as "+b.Kept)}
		}
		return []string{d.head("repaired", fmt.Sprintf("%d bytes that were never acknowledged moved to %s", b.Bytes, b.Kept))}
	}
	return nil
}

func (d *display) plan(b message.DispatchManifest) []string {
	d.round++
	out := []string{d.head(fmt.Sprintf("plan %d", d.round), fmt.Sprintf("%s, %s%s", count(len(b.SubtaskIDs), "task"),
		count(len(b.TaskCriteria), "criterion"), kept(len(b.Kept))))}
	if b.Memory != "" {
		out = append(out, d.cont(d.paint.dim("memory: "+b.Memory)))
	}
	for _, id := range b.SubtaskIDs {
		t := d.tasks[id]
		out = append(out, d.cont(fmt.Sprintf("• %s  %s", d.name(id), d.paint.dim(oneLine(t.Intent, 90)))))
	}
	return out
}

func kept(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", %d kept", n)
}

func (d *display) rejected(b message.PlanRejected) []string {
	var why []string
	for _, v := range b.Violations {
		why = append(why, d.cont(fmt.Sprintf("%s: %s, because %s", strings.ReplaceAll(string(v.Rule), "_", " "), oneLine(v.What, 80), oneLine(v.Because, 100))))
	}
	if b.Attempt > 1 && slices.Equal(why, d.refused) { // said already
		return nil
	}
	d.refused = why
	return append([]string{d.head("refused", fmt.Sprintf("plan %d, attempt %d", d.round+1, b.Attempt))}, why...)
}

func (d *display) executed(b message.ExecutionResult) []string {
	if b.Status == message.Completed {
		return nil
	}
	why := b.Reason
	if b.Infeasible != "" {
		why = "infeasible: " + b.Infeasible
	}
	return []string{d.item(d.paint.yellow("!"), b.SubtaskID, "attempt failed: "+oneLine(why, 100))}
}

func (d *display) outcome(b message.SubTaskOutcome) []string {
	mark, word := d.paint.green("✓"), "done"
	if b.Status != message.Matched {
		mark, word = d.paint.red("✗"), b.Status
	}
	if b.Attempts != 1 {
		word += " after " + count(b.Attempts, "attempt")
	}
	out := []string{d.item(mark, b.SubtaskID, word)}
	return append(out, d.verdicts(b.CriteriaVerdicts)...)
}

func (d *display) verdicts(list []message.Verdict) []string {
	var out []string
	for _, v := range list {
		mark := d.paint.green("✓")
		if !v.Passed() {
			mark = d.paint.red("✗")
		}
		line := mark + " " + oneLine(v.Criterion, 80)
		if v.FailureClass != "" {
			line += d.paint.dim(" (" + string(v.FailureClass) + ")")
		}
		if e := oneLine(v.Evidence, 110); e != "" {
			line += d.paint.dim("  — " + e)
		}
		out = append(out, d.cont(line))
	}
	return out
}

func (d *display) ended(b message.StepEnded) []string {
	switch b.Class {
	case message.EndDone, message.EndAgain, message.EndMoved, message.EndInterrupted, message.EndOutage:
		return nil
	case message.EndKilled, message.EndUnjudged: // its exit code says nothing
		return []string{d.head("step", fmt.Sprintf("%s %s: %s", b.Agent, b.Class, oneLine(b.Detail, 140)))}
	}
	return []string{d.head("step", fmt.Sprintf("%s %s (exit %d) %s", b.Agent, b.Class, b.Exit, oneLine(b.Detail, 140)))}
}

// head is a line that starts with what kind of event it is.
func (d *display) head(kind, text string) string {
	return d.paint.cyan(fmt.Sprintf("%-11s", kind)) + " " + text
}

// cont is a line under a head.
func (d *display) cont(text string) string { return strings.Repeat(" ", 12) + text }

func (d *display) item(mark string, id message.TaskID, text string) string {
	return strings.Repeat(" ", 10) + mark + " " + d.paint.bold(d.name(id)) + "  " + text
}

// knows tells whether there is more than an id to call a task by.
func (d *display) knows(id message.TaskID) bool {
	t, ok := d.tasks[id]
	return ok && t.Slot != ""
}

// name is how a person recognises a task: its slot and approach.
func (d *display) name(id message.TaskID) string {
	t, ok := d.tasks[id]
	switch {
	case !ok || t.Slot == "" && t.Approach == "":
		return short(string(id))
	case t.Approach == "":
		return t.Slot
	}
	return t.Slot + "/" + t.Approach
}

func bullets(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = fmt.Sprintf("%12s%d. %s", "", i+1, oneLine(s, 200))
	}
	return out
}

// oneLine makes text fit a line: white space folded, cut with an ellipsis.
func oneLine(s string, limit int) string {
	r := []rune(strings.Join(strings.Fields(s), " "))
	if len(r) > limit {
		return string(r[:limit-1]) + "…"
	}
	return string(r)
}

func short(id string) string { return id[:min(len(id), 8)] }

func count(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case noun == "criterion":
		return fmt.Sprintf("%d criteria", n)
	case noun == "approach":
		return fmt.Sprintf("%d approaches", n)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// budget is what a goal may take before the controller gives it up.
func (d *display) budget(in message.UserInput) []string {
	p, err := paramsOf(d.cfg, in)
	if err != nil {
		return nil // the run itself refuses it
	}
	text := fmt.Sprintf("%s of active time, %s", time.Duration(p.TimeBudgetMS)*time.Millisecond, count(p.MaxReplans, "replan"))
	if p.CostCap > 0 {
		text += fmt.Sprintf(", $%.4g", p.CostCap)
	}
	return []string{d.head("budget", text)}
}
