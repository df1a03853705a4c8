package tool

import (
	"context"

	"orch/roles/act/tool/gate"
)

func (i *MDFindInput) check() error { return need("query", i.Query) }
func (i *MDFindInput) reads() bool  { return true }
func (i *MDFindInput) gate(*Box) []gate.Decision {
	return nil // the search is limited to the workspace
}
func (i *MDFindInput) target(*Box) string { return i.Query }

func (i *MDFindInput) run(ctx context.Context, b *Box) Result {
	return b.tool(ctx, "mdfind", "-onlyin", b.opt.Workspace, "--", i.Query)
}

func (i *AppleScriptInput) check() error { return need("script", i.Script) }
func (i *AppleScriptInput) reads() bool  { return false }
func (i *AppleScriptInput) gate(b *Box) []gate.Decision {
	return []gate.Decision{b.gate.Ask(string(AppleScript), gate.InlineCode, i.Script, "applescript can do anything this account can")}
}
func (i *AppleScriptInput) target(*Box) string { return i.Script }

func (i *AppleScriptInput) run(ctx context.Context, b *Box) Result {
	return b.tool(ctx, "osascript", "-e", i.Script)
}

// tool runs a program of the system with the box's limits.
func (b *Box) tool(ctx context.Context, argv ...string) Result {
	spec := b.opt.Process
	spec.Argv, spec.Dir, spec.Session = argv, b.opt.Workspace, true
	if spec.WallMS <= 0 {
		spec.WallMS = DefaultWallMS
	}
	return b.command(ctx, spec)
}
