// Package tool is what an executor may do: run a shell command, read, write
// and edit files, search them, fetch a page, search the web, and on macOS ask
// Spotlight and run AppleScript.
//
// It owns the typed input of each tool, the order in which a call is refused
// or run, and what of its output is kept. Every call goes through the same
// door, Box.Do: the plan's MUST NOT first, then the same-call-again rule, then
// the safety gate, and only then the tool.
//
// It promises that a refused call has had no effect, that file tools never
// leave the workspace by a symbolic link, and that nothing a shell command
// started outlives its call.
//
// It never writes to the log, never asks a person, and never decides what a
// refusal means: it returns a Result, and the caller journals both sides.
package tool
