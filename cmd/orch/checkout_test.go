package main

import (
	"strings"
	"testing"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/act/workspace"
	"orch/roles/act/workspace/workspacetest"
	"orch/roles/loop"
	"orch/roles/run/config"
	"orch/roles/run/supervisor"
)

// watchedBench is a bench whose person's checkout is looked at.
type watchedBench struct {
	*workspacetest.Bench
	guard  *checkoutGuard
	holder message.Process // of steps that begin
}

func newWatchedBench(t *testing.T) watchedBench {
	t.Helper()
	b := workspacetest.New(t)
	b.Git("update-ref", workspace.StartRef("g"), b.From)
	repo, err := workspace.Open(t.Context(), b.Repo)
	if err != nil {
		t.Fatal(err)
	}
	p := &codeProject{repo: repo, ref: workspacetest.Integration}
	guard, err := newCheckoutGuard(t.Context(), p, b.Board, "g", blackboard.ActivationKey{})
	if err != nil {
		t.Fatal(err)
	}
	return watchedBench{Bench: b, guard: guard}
}

// begins starts a step on the board, and returns what sees it through.
func (b watchedBench) begins(agent message.AgentID, subject string) supervisor.Claim {
	b.T.Helper()
	role, err := message.ParseAgent(agent)
	if err != nil {
		b.T.Fatal(err)
	}
	key := blackboard.ActivationKey{Role: role, Subject: subject, Cause: message.ID("for-" + agent)}
	b.say(key, message.StepStarting{Role: role, Subject: subject, Cause: key.Cause, Agent: agent, Try: 1, Marker: string(agent), Holder: b.holder})
	return supervisor.Claim{Activation: loop.Activation{Key: key, Goal: "g"}, Agent: agent, Marker: string(agent)}
}

func (b watchedBench) ends(c supervisor.Claim) {
	b.T.Helper()
	k := c.Activation.Key
	b.say(k, message.StepEnded{Role: k.Role, Subject: k.Subject, Cause: k.Cause, Agent: c.Agent, Class: message.EndDone})
}

func (b watchedBench) say(k blackboard.ActivationKey, body message.Body) {
	b.T.Helper()
	m := message.Message{From: message.Supervisor, To: message.All, Goal: "g", Subject: k.Subject, Cause: k.Cause, Body: body}
	if _, err := b.Board.Append(b.T.Context(), m); err != nil {
		b.T.Fatal(err)
	}
}

// stopped is why the goal was stopped; empty if it was not.
func (b watchedBench) stopped() string {
	c, _ := b.Last("CheckpointReached").(message.CheckpointReached)
	return c.Reason
}

// What changed was done by somebody who was at work, and that need not be the
// one whose end it is found at: a coder may end after its reviewer.
func TestWhoWasAtWorkIsNamed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		first string // who is looked at first
		want  string
	}{
		{"the reviewer ends first", "code-reviewer-7", "the main checkout changed while coder-7 worked on t, coder-8 on u and code-reviewer-7 on t: "},
		{"the coder ends first", "coder-7", "the main checkout changed while coder-7 worked on t, coder-8 on u and code-reviewer-7 on t: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newWatchedBench(t)
			b.ends(b.begins("coder-6", "t")) // looked at, found innocent
			claims := map[string]supervisor.Claim{"code-reviewer-7": b.begins("code-reviewer-7", "t"), "coder-7": b.begins("coder-7", "t"), "coder-8": b.begins("coder-8", "u")}
			b.begins("planner-1", "g")
			b.Ahead("theirs", "x\n")
			if err := b.guard.look(t.Context(), claims[c.first]); err != nil {
				t.Fatal(err)
			}
			if why := b.stopped(); !strings.HasPrefix(why, c.want) {
				t.Errorf("it says %q, want %q", why, c.want)
			}
		})
	}
}

// A step that somebody else closed is named where it is looked at all the same.
func TestWhoIsLookedAtIsNamed(t *testing.T) {
	t.Parallel()
	b := newWatchedBench(t)
	c := b.begins("coder-7", "t")
	b.ends(c)
	b.Ahead("theirs", "x\n")
	if err := b.guard.look(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if why := b.stopped(); !strings.HasPrefix(why, "the main checkout changed while coder-7 worked on t: ") {
		t.Errorf("it says %q", why)
	}
}

// Before a merge whoever is at work on something else is all that can be named.
func TestWhoIsAtWorkBeforeAMergeIsNamed(t *testing.T) {
	t.Parallel()
	for atWork, want := range map[string]string{
		"":        "and more is to be merged on top. If that was you: orch resume",
		"coder-8": "and more is to be merged on top, while coder-8 works on u. If that was you: orch resume",
	} {
		b := newWatchedBench(t)
		b.ends(b.begins("coder-7", "t"))
		if atWork != "" {
			b.begins(message.AgentID(atWork), "u")
		}
		b.Ahead("theirs", "x\n")
		drift, err := b.guard.lookAtBranch(t.Context(), "c", "more is to be merged on top")
		if err != nil {
			t.Fatal(err)
		}
		if drift != b.stopped() || !strings.HasSuffix(drift, want) || !strings.Contains(drift, "where no merge of this goal put it") {
			t.Errorf("it says %q, want %q", drift, want)
		}
	}
}

// What approved work waits for is said with what to do about it.
func TestWhatHoldsAMergeBackIsSaid(t *testing.T) {
	t.Parallel()
	b := newWatchedBench(t)
	held := func() (what, hint string) {
		t.Helper()
		held, err := heldBack(t.Context(), b.Board)
		if err != nil {
			t.Fatal(err)
		}
		if held == nil {
			return "", ""
		}
		return held.Error(), hintOf(held)
	}
	expect := func(agent, wantHint string) {
		t.Helper()
		wantWhat := ""
		if agent != "" {
			wantWhat = "t is approved, and waits for the step of " + agent + " on it to end"
		}
		if what, hint := held(); what != wantWhat || hint != wantHint {
			t.Errorf("%q with %q, want %q with %q", what, hint, wantWhat, wantHint)
		}
	}
	expect("", "")
	me, err := supervisor.Self()
	if err != nil {
		t.Fatal(err)
	}
	b.holder = me
	reviewer := b.begins("code-reviewer-7", "t")
	expect("code-reviewer-7", "once it has ended: orch role integrate --once")
	b.holder = message.Process{}
	coder := b.begins("coder-7", "t")
	expect("coder-7", "nobody sees that step through any more: orch run --continue g")
	b.ends(coder)
	expect("code-reviewer-7", "once it has ended: orch role integrate --once")
	b.ends(reviewer)
	expect("", "")
}

// Where no step can reach the person's repository, the person may commit there
// while a run goes on, also on the branch that the goal merges into.
func TestACommitOfOnesOwnStopsNothing(t *testing.T) {
	t.Parallel()
	for _, apart := range []bool{true, false} {
		b := newWatchedBench(t)
		b.guard.apart = apart
		c := b.begins("coder-7", "t")
		b.Git("commit", "--allow-empty", "-m", "mine")
		b.Git("tag", "mine")
		for range 2 { // what is there is known then
			if err := b.guard.look(t.Context(), c); err != nil {
				t.Fatal(err)
			}
		}
		if why := b.stopped(); (why == "") != apart {
			t.Errorf("apart %v: it says %q", apart, why)
		}
	}
	for _, look := range []string{"after a step", "before a merge"} {
		b := newWatchedBench(t)
		b.guard.apart = true
		c := b.begins("coder-7", "t")
		b.Ahead("mine", "x\n")
		err, drift := error(nil), ""
		if look == "after a step" {
			err = b.guard.look(t.Context(), c)
		} else {
			drift, err = b.guard.lookAtBranch(t.Context(), "c", "more is to be merged on top")
		}
		if why := b.stopped(); err != nil || why != "" || drift != "" {
			t.Errorf("%s: it says %q %q, %v", look, why, drift, err)
		}
	}
}

// Steps are kept apart from the checkout by a sandbox that nobody opened.
func TestStepsAreKeptApartUnlessTheConfigurationOpensTheCheckout(t *testing.T) {
	b := newWatchedBench(t)
	repo := b.guard.project.repo
	for name, c := range map[string]struct {
		layers string
		cfg    config.Config
		want   bool
	}{
		"a sandbox":         {"namespace", config.Config{}, true},
		"no sandbox":        {"none", config.Config{}, false},
		"turned off":        {"namespace", config.Config{Confine: confineOff}, false},
		"something else":    {"namespace", config.Config{ConfineWrite: []string{"/opt/cache"}}, true},
		"its git directory": {"namespace", config.Config{ConfineWrite: []string{".git"}}, false},
		"what it lies in":   {"namespace", config.Config{ConfineWrite: []string{"/"}}, false},
	} {
		t.Setenv(layersEnv, c.layers)
		got, err := (&app{}).keptApart(t.Context(), c.cfg, repo)
		if err != nil || got != c.want {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}
