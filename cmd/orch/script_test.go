package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"orch/roles/confine"
)

// program is the orch under test: the real binary, because steps and residents
// are processes of it.
var program string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "orch-bin-")
	if err != nil {
		panic(err)
	}
	program = filepath.Join(dir, "orch")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
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
			// The go command needs a cache and a home; they are the machine's own,
			// so that the standard library is not compiled again for each script.
			for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPATH"} {
				out, err := exec.Command("go", "env", name).Output()
				if err != nil {
					return err
				}
				e.Setenv(name, strings.TrimSpace(string(out)))
			}
			cache, err := os.UserCacheDir()
			if err != nil {
				return err
			}
			e.Setenv("XDG_CACHE_HOME", cache) // confined builds have a cache of their own, below this one
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

// orchCommand runs the program in a project, offline and with a state directory of its own.
func orchCommand(root string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", discoverEnv+"=off", "XDG_STATE_HOME="+filepath.Join(filepath.Dir(root), "state"))
	return cmd
}
