//go:build unix

package process

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orch/roles/act/confine"
)

func TestNothingIsConfinedWithoutAGuard(t *testing.T) {
	r := Run(t.Context(), Spec{Argv: []string{"true"}, Confine: &confine.Sandbox{}})
	var un *confine.UnavailableError
	if !errors.As(r.Err, &un) || r.Exit != -1 {
		t.Fatalf("%+v", r)
	}
}

// TestAGuardConfinesWhatItGuards: and ends all of it as it does otherwise. Where
// a layer is missing, the command that asks for it is not started.
func TestAGuardConfinesWhatItGuards(t *testing.T) {
	m := confine.Probe(t.Context(), []string{os.Args[0], "try"}, "")
	for _, l := range []confine.Layers{{Namespace: true}, {Landlock: confine.MinLandlock}} {
		t.Run(l.String(), func(t *testing.T) {
			work, out := t.TempDir(), t.TempDir()
			spec := Spec{
				Argv: []string{"sh", "-c", "echo x > here; echo x > " + out + "/there; setsid sleep 60 & sleep 60 & echo done"},
				Dir:  work, Env: os.Environ(), GraceMS: 200, NoCgroup: true, Guard: []string{os.Args[0], "guard", "--"},
				Confine: &confine.Sandbox{Policy: confine.Policy{Write: []string{work}}, Layers: l},
			}
			r := Run(t.Context(), spec)
			if has := l.Namespace && m.Namespace || l.Landlock > 0 && m.Landlock > 0; !has {
				if r.Err == nil || len(r.Head) > 0 {
					t.Errorf("it ran without the layer it was to have: %+v", r)
				}
				return
			}
			if !r.OK() || !strings.Contains(string(r.Head), "done") || len(r.Leftovers) != 2 || len(r.Survivors) != 0 {
				t.Errorf("%+v\n%s", r, r.Head)
			}
			if _, err := os.Stat(filepath.Join(work, "here")); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(filepath.Join(out, "there")); err == nil {
				t.Error("it wrote where it must not")
			}
		})
	}
}
