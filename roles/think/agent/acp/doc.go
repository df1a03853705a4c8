// Package acp drives an agent that speaks the Agent Client Protocol over its
// standard streams: initialize, a session, one prompt, and its end.
//
// It promises what package exec promises: Run returns within its limits,
// leaves no process, counts as done only what the agent ended by answering the
// prompt, and fails with a *model.Error. Questions for permission are answered
// by the task's contract and never by a person. File and terminal requests are
// offered only if the task brings tools, and go through them. A request nobody
// knows is answered with "method not found", an update nobody knows is ignored.
//
// It never resumes a session, and never trusts a path of the agent: the tools
// decide what may be read and written.
package acp
