//go:build linux

package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// strays is a coder that reaches for all that is not its own, and then does its
// work.
const strays = `
for f in "$MAIN/README.md" "$MAIN/.orch/config.yaml" "$MAIN/.git/hooks/post-merge" "$MAIN/.git/config" "$MAIN/new"; do
	{ echo strayed >> "$f"; } 2>/dev/null || true
done
git --git-dir="$MAIN/.git" update-ref refs/heads/integration HEAD 2>/dev/null || true
git --git-dir="$MAIN/.git" branch -f strayed HEAD 2>/dev/null || true
`

// TestACoderStaysInItsWorktree: where the machine can confine, it can change
// nothing else, and the run goes on; where it can not, the run stops for a
// person to look.
func TestACoderStaysInItsWorktree(t *testing.T) {
	for _, layers := range []string{machine(t).Layers.String(), "none"} {
		t.Run(layers, func(t *testing.T) {
			t.Setenv(layersEnv, layers)
			p := newPair(t, "")
			p.plan("sh check.sh", task("first"))
			p.script("coder/first.sh", strings.ReplaceAll(strays, "$MAIN", p.root)+work)
			before := p.git("rev-parse", "HEAD") + p.git("hash-object", ".git/config", filepath.Join(".orch", "config.yaml"), "README.md")
			r := p.run("print names", "--jobs", "1")
			after := p.git("rev-parse", "HEAD") + p.git("hash-object", ".git/config", filepath.Join(".orch", "config.yaml"), "README.md")
			strayed := p.git("for-each-ref", "refs/heads/strayed") != "" || before != after
			if layers == "none" {
				if r.code != exitSuspended || !strings.Contains(r.out, mainCheckout) || !strayed {
					t.Errorf("exit %d, strayed %v\n%s\n%s", r.code, strayed, r.out, r.err)
				}
				return
			}
			if r.code != 0 || strayed || p.on("lib/first.sh") == "" {
				t.Errorf("exit %d, strayed %v\n%s\n%s", r.code, strayed, r.out, r.err)
			}
			p.clean()
		})
	}
}
