package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"orch/roles/act/confine"
	"orch/roles/act/runner"
)

// program is the orch under test: the real binary, because steps and residents
// are processes of it.
var program string

func TestMain(m *testing.M) {
	if runner.Called(os.Args[0]) {
		os.Exit(runner.Main(os.Args[0], os.Args[1:]))
	}
	// A command that is tried in this process may start its own program, which is
	// this one: it must not begin the tests anew, in each of which it would again.
	if len(os.Args) > 1 && slices.ContainsFunc(commands, func(c command) bool { return c.name == os.Args[1] }) {
		os.Exit(Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	dir, err := os.MkdirTemp("", "orch-bin-")
	if err != nil {
		panic(err)
	}
	if err := leaveHome(filepath.Join(dir, "home")); err != nil {
		panic(err)
	}
	program = filepath.Join(dir, "orch")
	build := exec.Command("go", "build", "-o", program, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as the Makefile builds it
	if out, err := build.CombinedOutput(); err != nil {
		panic(string(out))
	}
	flag.Parse()
	if atOnce := flag.Lookup("test.parallel"); atOnce.Value.String() == atOnce.DefValue {
		// These tests wait for processes more than they compute.
		if err := atOnce.Value.Set(strconv.Itoa(2 * runtime.GOMAXPROCS(0))); err != nil {
			panic(err)
		}
	}
	exit := m.Run()
	os.RemoveAll(dir)
	os.Exit(exit)
}

// leaveHome gives the tests and all they start a home of their own: agents keep
// things in it, and the person's may be read-only. What the go command has built
// and fetched stays where it is, so that nothing is compiled twice.
func leaveHome(home string) error {
	cache, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	env := map[string]string{"HOME": home, "XDG_CACHE_HOME": cache}
	for _, name := range []string{"GOCACHE", "GOENV", "GOMODCACHE", "GOPATH"} {
		out, err := exec.Command("go", "env", name).Output()
		if err != nil {
			return err
		}
		env[name] = strings.TrimSpace(string(out))
	}
	for name, value := range env {
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	return os.Mkdir(home, 0o700)
}

// code runs a command and checks its exact exit code: "code 3 orch run …".
func code(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N command…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func TestScripts(t *testing.T) {
	t.Parallel()
	examples, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	scripts, err := filepath.Abs("../../scripts")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:  "testdata/script",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"code": code},
		Condition: func(name string) (bool, error) {
			if name != "namespace" {
				return false, fmt.Errorf("no condition is called %s", name)
			}
			return machine(t).Namespace, nil
		},
		Setup: func(e *testscript.Env) error {
			for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPATH", "XDG_CACHE_HOME"} { // the person's, see leaveHome
				e.Setenv(name, os.Getenv(name))
			}
			e.Setenv("PATH", filepath.Dir(program)+string(os.PathListSeparator)+e.Getenv("PATH"))
			e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
			e.Setenv("GOFLAGS", "-mod=mod")
			e.Setenv("GOPROXY", "off")
			e.Setenv("GOTOOLCHAIN", "local")
			e.Setenv("EXAMPLES", examples)
			e.Setenv("SCRIPTS", scripts)
			e.Setenv("XDG_STATE_HOME", filepath.Join(e.WorkDir, ".state"))
			e.Setenv("NO_COLOR", "1")
			e.Setenv(discoverEnv, "off") // nothing of the machine the tests run on takes part
			return os.MkdirAll(filepath.Join(e.WorkDir, "home"), 0o755)
		},
	})
}

// machine is what the machine of these tests has to confine with.
func machine(t *testing.T) confine.Machine {
	return confine.Probe(t.Context(), []string{program, "confine", "--try", "--"}, "")
}

// copyExample copies an example project to a place of its own.
func copyExample(t *testing.T, name string) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), name)
	if err := os.CopyFS(root, os.DirFS(filepath.Join("../../examples", name))); err != nil {
		t.Fatal(err)
	}
	return root
}

// runLimit only stops a test that would hang: it is far beyond what a run takes on
// a busy machine.
const runLimit = 4 * time.Minute

// tempOf is the place for temporary files that belongs to a project alone.
func tempOf(root string) string { return filepath.Join(filepath.Dir(root), "tmp") }

// orchCommand runs the program in a project, offline and with a state directory of
// its own; temporary files are beside the project, if the test has made a place.
func orchCommand(root string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", discoverEnv+"=off", "XDG_STATE_HOME="+filepath.Join(filepath.Dir(root), "state"))
	if info, err := os.Stat(tempOf(root)); err == nil && info.IsDir() {
		cmd.Env = append(cmd.Env, "TMPDIR="+tempOf(root))
	}
	return cmd
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// writeBelow writes a file and makes the directories it lies in.
func writeBelow(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, path, text)
}
