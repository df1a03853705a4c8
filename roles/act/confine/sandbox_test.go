//go:build unix

package confine

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestMain lets the test binary be what Probe and Run start.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "try":
			os.Exit(TryMain(os.Args[2:]))
		case "inside":
			fmt.Fprintln(os.Stderr, InsideMain(os.Args[2:]))
			os.Exit(99)
		case "run": // the layers, a root, and a shell command, confined as scene says
			layers, err := Parse(os.Args[2])
			if err == nil {
				var code int
				if code, err = Run([]string{os.Args[0], "inside"}, Sandbox{scene(os.Args[3]), layers}, os.Environ(), []string{"sh", "-c", os.Args[4]}); err == nil {
					os.Exit(code)
				}
			}
			fmt.Fprintln(os.Stderr, err)
			os.Exit(98)
		}
	}
	os.Exit(m.Run())
}

// scene is a policy over the directories that setScene makes.
func scene(root string) Policy {
	in := func(name string) string { return filepath.Join(root, name) }
	return Policy{Write: []string{in("work"), in("tmp"), in("work/.orch/files")}, ReadOnly: []string{in("work/.orch"), in("work/.git/hooks"), in("work/.git/config")}, Hide: []string{in("home/.ssh"), in("home/agent.sock")},
		Alone: []string{in("home/socks/mine")}}
}

func setScene(t *testing.T) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"work/.orch/config.yaml": "kept", "work/.git/config": "kept", "work/.git/hooks/sample": "kept", "work/file": "old",
		"tmp/.keep": "", "work/.orch/files/part": "", "home/.ssh/id": "secret", "home/agent.sock": "secret", "outside/file": "kept",
		"home/socks/mine/s": "own", "home/socks/other/s": "secret"} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func inScene(root string, l Layers, command string) (string, error) {
	cmd := exec.Command(os.Args[0], "run", l.String(), root, command)
	cmd.Dir = filepath.Join(root, "work")
	cmd.Env = append(os.Environ(), "ROOT="+root)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// each runs f under every combination of layers this machine has.
func each(t *testing.T, f func(t *testing.T, l Layers)) {
	m := Probe(t.Context(), []string{os.Args[0], "try"}, "")
	if !m.Namespace && m.NoNamespace == "" || m.Landlock == 0 && m.NoLandlock == "" {
		t.Fatalf("a layer is missing and nobody says why: %+v", m)
	}
	t.Logf("this machine has %s (%s %s)", m.Layers, m.NoNamespace, m.NoLandlock)
	for _, l := range []Layers{m.Layers, {Namespace: m.Namespace}, {Landlock: m.Landlock}} {
		if l.Any() {
			t.Run(l.String(), func(t *testing.T) { f(t, l) })
		}
	}
}

func TestWhatAConfinedCommandNeedsWorks(t *testing.T) {
	each(t, func(t *testing.T, l Layers) {
		for _, command := range []string{
			"echo new > file && mkdir -p a/b && mv file a/b/file && rm -r a",
			"echo x > $ROOT/tmp/x && ln $ROOT/tmp/x $ROOT/tmp/y && rm $ROOT/tmp/x",
			"cat $ROOT/outside/file .orch/config.yaml && ls / > /dev/null",
			"echo x > /dev/null && head -c 8 /dev/urandom > random && test -s random && echo out > /dev/stdout",
			"test \"$(pwd -P)\" = \"$ROOT/work\"",
			"sh -c 'sleep 60 & kill $!'",
			"echo x > .git/index",
			"test \"$(cat $ROOT/home/socks/mine/s)\" = own",
			"echo x > .orch/files/part && echo x > .orch/files/new && mv .orch/files/new .orch/files/part",
		} {
			if out, err := inScene(setScene(t), l, command); err != nil {
				t.Errorf("%s: %v\n%s", command, err, out)
			}
		}
	})
}

func TestWhatAConfinedCommandMustNotDoFails(t *testing.T) {
	always := []string{
		"echo x > $ROOT/outside/file",
		": > $ROOT/outside/file",
		"truncate -s 0 $ROOT/outside/file",
		"rm $ROOT/outside/file",
		"mkdir $ROOT/new",
		"mv file $ROOT/outside/",
		"ln $ROOT/outside/file here && echo x > here",
		"ln -s $ROOT/outside/file link && echo x > link",
		"cd / && echo x > $ROOT/outside/file",
		"(setsid sh -c 'echo x > $ROOT/outside/file') ; grep -q x $ROOT/outside/file",
		"echo x > /proc/self/root$ROOT/outside/file",
		"cat $ROOT/home/.ssh/id",
		"cat $ROOT/home/agent.sock | grep secret",
		"cat /proc/self/root$ROOT/home/.ssh/id",
		"cat /proc/$PPID/root$ROOT/home/.ssh/id",
		"cat /proc/$PPID/environ | grep -q ROOT",
		"mount -o remount,rw / && echo x > $ROOT/outside/file",
		"mount -t tmpfs none $ROOT/outside",
		"umount -l $ROOT/home/.ssh && cat $ROOT/home/.ssh/id",
		"unshare -Urm sh -c 'mount -o remount,rw / ; umount -l $ROOT/home/.ssh; cat $ROOT/home/.ssh/id || echo x > $ROOT/outside/file'",
		"unshare -m sh -c 'umount -l $ROOT/home/.ssh && cat $ROOT/home/.ssh/id'",
		"nsenter -t $PPID -m cat $ROOT/home/.ssh/id",
		"nsenter -t 1 -m sh -c 'echo x > $ROOT/outside/file'",
		"echo x > /proc/sys/kernel/core_pattern",
		"mknod here b 7 0 && cat here",
	}
	byNamespace := []string{
		"echo x > .orch/config.yaml",
		"touch .orch/new",
		"mv .orch away",
		"mv .orch/files/part .orch/config.yaml",
		"mv .orch/files away",
		"echo x > .orch/files/../config.yaml",
		"rm -rf .orch/config.yaml .orch; ! test -f .orch/config.yaml",
		"echo x > .git/hooks/post-checkout",
		"echo x >> .git/config",
		"echo x > new && mv new .git/config",
		"mv .git away",
		"ln .orch/config.yaml here && echo x > here",
		"ls -A $ROOT/home/.ssh | grep id",
		"ls -A $ROOT/home/socks | grep other",
		"cat $ROOT/home/socks/other/s",
		"umount -l $ROOT/home/socks && cat $ROOT/home/socks/other/s",
		"umount -l $ROOT/home/socks/mine && umount -l $ROOT/home/socks && cat $ROOT/home/socks/other/s",
		"mount -o remount,rw .orch && touch .orch/new",
		"umount -l .orch && touch .orch/new",
	}
	each(t, func(t *testing.T, l Layers) {
		commands := always
		if l.Namespace {
			commands = append(append([]string{}, always...), byNamespace...)
		}
		for _, command := range commands {
			root := setScene(t)
			out, err := inScene(root, l, command)
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() == 98 {
				t.Errorf("%s: %v\n%s", command, err, out)
			}
			if strings.Contains(out, "secret") {
				t.Errorf("%s: it saw what is hidden", command)
			}
			kept := []string{"outside/file"}
			if l.Namespace {
				kept = append(kept, "work/.orch/config.yaml", "work/.git/config", "work/.git/hooks/sample")
			}
			for _, name := range kept {
				if raw, err := os.ReadFile(filepath.Join(root, name)); string(raw) != "kept" {
					t.Errorf("%s: %s is %q now, %v", command, name, raw, err)
				}
			}
		}
	})
}

// TestASandboxInsideOfASandbox: orch may be what is confined. Its own namespace
// is refused then, its Landlock is not.
func TestASandboxInsideOfASandbox(t *testing.T) {
	each(t, func(t *testing.T, l Layers) {
		if l.Landlock == 0 {
			return
		}
		inner := fmt.Sprintf("%s run landlock%d $ROOT 'echo x > file'", os.Args[0], l.Landlock)
		if out, err := inScene(setScene(t), l, inner); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		root := setScene(t)
		out, err := inScene(root, l, strings.Replace(inner, "> file", "> $ROOT/outside/file", 1))
		if raw, _ := os.ReadFile(filepath.Join(root, "outside/file")); err == nil || string(raw) != "kept" {
			t.Errorf("%s\n%s", raw, out)
		}
	})
}

// TestNobodyOutsideIsEnded: with Landlock from ABI 6 on, signals stay inside.
func TestNobodyOutsideIsEnded(t *testing.T) {
	each(t, func(t *testing.T, l Layers) {
		other := exec.Command("sleep", "60")
		if err := other.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = other.Process.Kill(); _ = other.Wait() }()
		out, err := inScene(setScene(t), l, fmt.Sprintf("kill -9 %d", other.Process.Pid))
		if ended := err == nil; ended != (l.Landlock < scopedForTests) {
			t.Errorf("ended: %v under %s\n%s", ended, l, out)
		}
	})
}

// scopedForTests is the ABI from which signals stay inside.
const scopedForTests = 6

func TestNothingIsConfinedByALayerThatIsNotThere(t *testing.T) {
	m := Probe(t.Context(), []string{"/bin/false"}, "")
	if m.Any() || m.NoNamespace == "" || m.NoLandlock == "" {
		t.Errorf("a trial that failed was taken for a success: %+v", m)
	}
}
