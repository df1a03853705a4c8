//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAnAgentMayNotWriteWhatItRunsLater lets a program that stands for claude try
// what it keeps in the home: its state it may write, and what it would run at its
// next start, outside of any confinement, it may only read. It sees its own login
// and no other's.
func TestAnAgentMayNotWriteWhatItRunsLater(t *testing.T) {
	t.Parallel()
	if !machine(t).Layers.Namespace {
		t.Log("not tried: this machine lets no namespace be made")
		return
	}
	srv := serve(t, greeting())
	root := project(t, "models:\n  default: "+asked(srv, "openai", "/v1", "true")+
		"\n  executor: {backend: exec, options: {preset: claude, command: ./claude.sh}}"+quick)
	home := filepath.Join(filepath.Dir(root), "home")
	for name, text := range map[string]string{".claude/settings.json": `{"own":1}`, ".claude/.credentials.json": "own-login", ".codex/auth.json": "others-login"} {
		writeBelow(t, filepath.Join(home, name), text)
	}
	write(t, filepath.Join(root, "claude.sh"), `#!/bin/sh
cat >/dev/null
try() { if (eval "$2") 2>/dev/null; then echo "$1 yes"; else echo "$1 no"; fi; }
{
	try state 'echo x >$HOME/.claude/state'
	try settings 'echo x >$HOME/.claude/settings.json'
	try replaces 'mv $HOME/.claude/state $HOME/.claude/settings.json'
	try hook 'echo x >$HOME/.claude/hooks/x'
	try plugin 'mkdir $HOME/.claude/plugins/x'
	try reads 'grep -q own $HOME/.claude/settings.json'
	try login 'grep -q own $HOME/.claude/.credentials.json'
	try others 'grep -q others $HOME/.codex/auth.json'
} >tried.txt
echo 'hello dear friend' >hello.txt
echo '{"type":"result","subtype":"success","is_error":false,"result":"hello.txt says: hello dear friend","num_turns":1,"total_cost_usd":0.01,"usage":{"input_tokens":1,"output_tokens":1}}'
`)
	if err := os.Chmod(filepath.Join(root, "claude.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := orchCommand(root, "run", "greet me")
	cmd.Env = append(cmd.Env, "HOME="+home)
	out, err := cmd.CombinedOutput()
	raw, rerr := os.ReadFile(filepath.Join(root, "tried.txt"))
	if err != nil || rerr != nil {
		t.Fatalf("%v, %v\n%s", err, rerr, out)
	}
	const want = "state yes\nsettings no\nreplaces no\nhook no\nplugin no\nreads yes\nlogin yes\nothers no\n"
	if string(raw) != want {
		t.Errorf("it could:\n%swant:\n%s", raw, want)
	}
	if kept, err := os.ReadFile(filepath.Join(home, ".claude", "settings.json")); err != nil || !strings.Contains(string(kept), "own") {
		t.Errorf("its settings: %s, %v", kept, err)
	}
}
