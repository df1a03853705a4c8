// Package weaken finds, in a unified diff, what makes tests say less than they
// did: tests deleted, skipped or switched off, assertions removed or loosened,
// expectations changed, programs that behave otherwise when they are tested,
// and code that came without tests. Of a list of paths it finds those that
// belong to orch.
//
// It knows Go, Python, JavaScript and TypeScript, and Rust by their usual test
// libraries, and other languages by the names of their test files. It reads
// text, not syntax: it promises to be total and deterministic and to name file
// and line, not to find everything or never to be wrong. What it is sure about
// rejects a submission; the rest is for a reviewer to look at.
//
// It never reads a file and never runs anything.
package weaken
