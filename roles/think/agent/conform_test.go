//go:build unix

package agent

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"orch/roles/act/process"
	"orch/roles/think/agent/cli"
	"orch/roles/think/model"
)

// fake is the fake agent, built once.
var fake string

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "guard" {
		os.Exit(process.GuardMain(os.Args[2:]))
	}
	dir, err := os.MkdirTemp("", "fakeagent-")
	if err != nil {
		panic(err)
	}
	fake = filepath.Join(dir, "fakeagent")
	if out, err := exec.Command("go", "build", "-o", fake, "orch/scripts/fakeagent").CombinedOutput(); err != nil {
		panic(string(out))
	}
	flag.Parse()
	if atOnce := flag.Lookup("test.parallel"); atOnce.Value.String() == atOnce.DefValue {
		// These tests wait for processes, and for limits, more than they compute.
		if err := atOnce.Value.Set(strconv.Itoa(3 * runtime.GOMAXPROCS(0))); err != nil {
			panic(err)
		}
	}
	code := m.Run()
	os.RemoveAll(dir)
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// way is one way to drive the fake agent.
type way struct {
	name, kind string
	options    map[string]string
}

func ways() []way {
	return []way{
		{"claude", Exec, map[string]string{"preset": "claude"}},
		{"codex", Exec, map[string]string{"preset": "codex"}},
		{"text", Exec, map[string]string{"format": "text"}},
		{"json", Exec, map[string]string{"format": "json"}},
		{"acp", ACP, map[string]string{}},
	}
}

// start makes an agent of the fake that behaves in a mode.
func (w way) start(t *testing.T, mode string, more map[string]string) (*Agent, string) {
	t.Helper()
	pids := filepath.Join(t.TempDir(), "pids")
	options := map[string]string{"command": fake, "timeout_ms": "240000", "idle_ms": "120000", "linger_ms": "300", "keep_env": "FAKEAGENT_*"}
	for _, m := range []map[string]string{w.options, more} {
		for k, v := range m {
			options[k] = v
		}
	}
	a, err := New(w.kind, "", options, World{
		Environ:     []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "FAKEAGENT_MODE=" + mode, "FAKEAGENT_AS=" + w.name, "FAKEAGENT_PIDS=" + pids, "SECRET_TOKEN=x"},
		Process:     process.Spec{Guard: []string{os.Args[0], "guard", "--"}, GraceMS: 200},
		StreamBytes: 64 << 20, // a chatty agent and one of long lines stay below
	})
	if err != nil {
		t.Fatal(err)
	}
	return a, pids
}

func eachWay(t *testing.T, f func(t *testing.T, w way)) {
	for _, w := range ways() {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			f(t, w)
		})
	}
}

// noneLeft asserts that no process the fake agent noted lives.
func noneLeft(t *testing.T, pids string, want int) {
	t.Helper()
	raw, err := os.ReadFile(pids)
	if err != nil && want > 0 {
		t.Fatalf("the agent left nothing to look for: %v", err)
	}
	found := strings.Fields(string(raw))
	if len(found) < want {
		t.Fatalf("%d processes noted, want %d", len(found), want)
	}
	for _, f := range found {
		var pid int
		fmt.Sscan(f, &pid)
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("process %d lives: %v", pid, err)
		}
	}
}

func kindOf(t *testing.T, err error) model.Kind {
	t.Helper()
	if err == nil {
		return ""
	}
	var e *model.Error
	if !errors.As(err, &e) {
		t.Fatalf("%v is a %T, want a *model.Error", err, err)
	}
	return e.Kind
}

func TestATaskEndToEnd(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		for _, mode := range []string{"ok", "slow", "children", "stays", "stubborn", "chatty", "garbage", "longline"} {
			if (w.name == "text" || w.name == "json") && (mode == "stays" || mode == "stubborn" || mode == "garbage" || mode == "chatty" || mode == "longline") {
				continue // without events only its end ends it, and every line is its answer
			}
			t.Run(mode, func(t *testing.T) {
				a, pids := w.start(t, mode, nil)
				dir := t.TempDir()
				res, err := a.Run(t.Context(), Task{Prompt: "write made.txt", Dir: dir})
				if err != nil {
					t.Fatalf("%v\n%+v", err, res)
				}
				if got, _ := os.ReadFile(filepath.Join(dir, "made.txt")); string(got) != "hi\n" {
					t.Errorf("made.txt is %q", got)
				}
				if res.Text != "all done" {
					t.Errorf("the answer is %q", res.Text)
				}
				if w.name != "text" && (res.Usage.OutputTokens != 7 || res.Usage.InputTokens != 25 || res.Usage.CachedTokens != 5 || res.Session != "s-1") {
					t.Errorf("usage %+v, session %q", res.Usage, res.Session)
				}
				if w.name != "text" && w.name != "json" && res.Calls != 1+map[bool]int{true: 1}[mode == "garbage" && w.name == "acp"] {
					t.Errorf("%d calls: %+v", res.Calls, res.Tools)
				}
				left := map[string]int{"children": 3, "stubborn": 3}[mode]
				noneLeft(t, pids, left)
				if res.Leftovers < left || res.Survivors != 0 {
					t.Errorf("%d leftovers, %d survivors", res.Leftovers, res.Survivors)
				}
			})
		}
	})
}

// mute are the modes that only the idle limit ends; a busy machine may need
// longer than that to start the others.
var mute = map[string]bool{"silent": true, "hang": true, "limit-retry": true, "lies-on-term": true}

// The outcome of every way to fail, and that none takes long.
func TestFailures(t *testing.T) {
	all := map[string]model.Kind{
		"silent": model.Idle, "hang": model.Idle, "crash": model.Ended, "killed": model.Killed, "quiet": model.Ended, "noresult": model.Ended,
		"flood": model.TooLarge, "limit": model.Limit, "limit-retry": model.Limit, "auth": model.Auth,
		"overloaded": model.Overloaded, "server": model.Server, "error": model.Ended, "empty": model.Unreadable, "lies-on-term": model.Idle,
		"limit-open": model.UsedUp, "forbidden": model.Auth, "unreachable": model.Unreachable, "babble": model.Ended, "huge": model.TooLarge, "wrong": "",
	}
	except := map[string]map[string]model.Kind{
		// A program without events says nothing but its output and its end.
		"text": {"error": "", "limit": model.Ended, "auth": model.Ended, "overloaded": model.Ended, "server": model.Ended, "limit-retry": model.Idle, "empty": model.Ended, "crash": model.Ended, "noresult": model.Ended,
			"limit-open": model.Ended, "forbidden": model.Ended, "unreachable": model.Ended, "babble": ""},
		"json": {"limit-open": model.Limit, "limit-retry": model.Idle, "babble": model.Unreadable, "empty": model.Ended, "crash": model.Ended, "noresult": model.Ended},
		"acp":  {"limit-retry": model.Idle},
	}
	eachWay(t, func(t *testing.T, w way) {
		for mode, want := range all {
			if k, ok := except[w.name][mode]; ok {
				want = k
			}
			t.Run(mode, func(t *testing.T) {
				t.Parallel()
				more := map[string]string{}
				if mute[mode] {
					more["idle_ms"] = "1500"
				}
				if want == model.Limit && mute[mode] { // it has to say so before it is mute
					more["idle_ms"] = "10000"
				}
				a, pids := w.start(t, mode, more)
				res, err := a.Run(t.Context(), Task{Prompt: "do it", Dir: t.TempDir()})
				if got := kindOf(t, err); got != want {
					t.Errorf("kind %q, want %q: %v\n%+v", got, want, err, res)
				}
				if res.Survivors != 0 {
					t.Errorf("%d survivors", res.Survivors)
				}
				noneLeft(t, pids, 0)
				if e := (*model.Error)(nil); errors.As(err, &e) && mode == "limit" && want == model.Limit {
					if until := time.Until(e.Until); until < 55*time.Minute || until > time.Hour {
						t.Errorf("the limit ends %v, want in an hour", e.Until)
					}
				}
			})
		}
	})
}

func TestTheExitCodeDecidesNothing(t *testing.T) {
	for _, w := range ways()[:2] {
		a, _ := w.start(t, "cheat", nil) // exits with 3 after a result that claims success
		res, err := a.Run(t.Context(), Task{Prompt: "do it", Dir: t.TempDir()})
		if err != nil || res.Text != "All tests pass now." || res.Calls != 0 {
			t.Errorf("%s: %v %+v", w.name, err, res)
		}
	}
}

func TestDenialsAreSeen(t *testing.T) {
	for _, w := range ways() {
		if w.name == "text" || w.name == "json" {
			continue
		}
		a, _ := w.start(t, "denied", nil)
		dir := t.TempDir()
		res, err := a.Run(t.Context(), Task{Prompt: "do it", Dir: dir})
		if err != nil || len(res.Denials) != 1 {
			t.Errorf("%s: %v, denials %+v", w.name, err, res.Denials)
		}
		if left, _ := os.ReadDir(dir); len(left) != 0 {
			t.Errorf("%s did it all the same: %v", w.name, left)
		}
	}
}

func TestLongPromptAndSecrets(t *testing.T) {
	long := strings.Repeat("x", 200_000)
	eachWay(t, func(t *testing.T, w way) {
		a, _ := w.start(t, "echo", nil)
		res, err := a.Run(t.Context(), Task{Prompt: long, Dir: t.TempDir()})
		if err != nil || !strings.HasPrefix(res.Text, "200000 bytes: xxx") {
			t.Errorf("%v: %.60q", err, res.Text)
		}
		for _, arg := range res.Argv {
			if len(arg) > 1000 {
				t.Errorf("the prompt is in the argv")
			}
		}
	})
}

func TestAStoppedRunLeavesNothing(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		for _, mode := range []string{"silent", "hang", "stubborn"} {
			if mode == "stubborn" && w.name == "acp" {
				continue // it has answered by then
			}
			a, pids := w.start(t, mode, map[string]string{"linger_ms": "240000"})
			ctx, stop := context.WithCancelCause(t.Context())
			answered := mode == "stubborn" && w.name != "text" && w.name != "json"
			task := Task{Prompt: "do it", Dir: t.TempDir()}
			if answered {
				task.OnEvent = func(e cli.Event) {
					if e.Kind == cli.Done {
						stop(errStopped)
					}
				}
			} else {
				time.AfterFunc(time.Second, func() { stop(errStopped) })
			}
			res, err := a.Run(ctx, task)
			stop(nil)
			if !answered && !errors.Is(err, errStopped) || answered && err != nil {
				t.Errorf("%s: %v", mode, err)
			}
			if res.Survivors != 0 {
				t.Errorf("%s: survivors", mode)
			}
			noneLeft(t, pids, 0)
		}
	})
}

var errStopped = errors.New("stopped by the test")
