package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"orch/blackboard"
	"orch/blackboard/message"
)

// open are the commands that a command below a step may run on the step's
// board. It is written out here so that opening one more is a decision.
var open = strings.Split(`status|goals|goals sprint show|task ls|task show|cost|why|log|show|diff|audit|
memory ls|memory show|memory query|memory why|config|doctor|agent ls|board state|board verify|board replay|role prompt|role controller decide|
agent submit|note anomaly|note discovery|note blocked|note handoff|version|guard|doctor confine|agent test|init|role step|task claim|task release`, "|")

// TestACommandOfAStepRunsOnlyWhatIsOpenToIt has each command of the tree refuse
// at once below a step, unless it is one of those above; a new one too.
func TestACommandOfAStepRunsOnlyWhatIsOpenToIt(t *testing.T) {
	t.Parallel()
	refused := &notPersonError{"executor-1"}
	a := &app{refuses: func(context.Context) error { return refused }}
	list := append(slices.Clone(commands), command{name: "bless", build: func(*app) *cobra.Command {
		return &cobra.Command{Use: "bless", RunE: func(*cobra.Command, []string) error { return nil }}
	}})
	seen := map[string]bool{}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			walk(sub)
		}
		path := pathOf(c)
		switch {
		case c.Run != nil:
			t.Errorf("%s has a Run, which nobody refuses", path)
		case c.RunE == nil || c.HasSubCommands() && !slices.Contains([]string{"goals", "config", "doctor"}, path):
			// it only groups others
		case slices.ContainsFunc(open, func(o string) bool { return strings.TrimSpace(o) == path }):
			seen[path] = true
			if !openBelow(path, func(string) bool { return false }) {
				t.Errorf("%s is refused", path)
			}
		default:
			if err := c.RunE(c, nil); !errors.Is(err, error(refused)) {
				t.Errorf("%s is not refused: %v", path, err)
			}
		}
	}
	walk(newRoot(a, list))
	if len(seen) != len(open) {
		t.Errorf("of %d open commands there are %d: %v", len(open), len(seen), seen)
	}
	for _, c := range []struct {
		path, flag string
		want       bool
	}{{"config trust", "", false}, {"config trust", "list", true}, {"bless", "", false}} {
		if got := openBelow(c.path, func(f string) bool { return f == c.flag }); got != c.want {
			t.Errorf("%s --%s is open: %v", c.path, c.flag, got)
		}
	}
}

// TestADamagedBoardKnowsItsSteps: where the log can not be read, its steps'
// commands are refused by what is left of it.
func TestADamagedBoardKnowsItsSteps(t *testing.T) {
	t.Parallel()
	line := above()
	if len(line) == 0 {
		t.Log("this system does not tell who is above")
		return
	}
	for role, want := range map[message.Role]bool{message.Executor: true, message.Supervisor: false} {
		root := t.TempDir()
		p := line[0]
		log := fmt.Sprintf("{\"type\":\"Registered\",\"payload\":{\"agent\":\"%s-1\",\"role\":%q,\"process\":{\"pid\":%d,\"start\":%d,\"boot\":%q}}}\nnot a message\n", role, role, p.PID, p.StartTicks, p.BootID)
		writeBelow(t, filepath.Join(root, blackboard.DirName, "log.jsonl"), log)
		err := (&app{dir: root}).mustBePerson(t.Context())
		if got := errors.As(err, new(*notPersonError)); got != want {
			t.Errorf("below a %s: %v", role, err)
		}
	}
}
