// Package step is the environment of one activation of a role: what it may
// read, act through and say, and nothing else.
//
// It owns the addressing of what a role says (goal, subject, cause, agent and
// fence are set here, never by a role), the tools journalled on both sides,
// the folder of what is too large for the log, the lease of the task at hand,
// and what happens to a result that comes too late.
//
// It promises that a tool's start is durable before the tool acts, that a
// forbidden or refused call has had no effect, and that a change of orch's own
// configuration by a tool suspends the goal.
//
// It never decides anything about a goal or a task, and never waits for an
// answer: a step appends and leaves.
package step
