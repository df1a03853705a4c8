package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"orch/blackboard/message"
	"orch/blackboard/plainfile"
)

func newTask(a *app) *cobra.Command {
	c := &cobra.Command{Use: "task", Short: "make and look at tasks by hand", Example: "  orch task add \"write the changelog\"\n  orch task ls"}
	c.AddCommand(newTaskAdd(a), newTaskLs(a), newTaskShow(a), newTaskDone(a))
	return c
}

// batchBytes keeps a bulk message well under the journal's limit of one line.
const batchBytes = 512 << 10

func newTaskAdd(a *app) *cobra.Command {
	var t message.SubTask
	var id, goal, from string
	var depends, criteria []string
	var draft bool
	c := &cobra.Command{
		Use:   "add [INTENT]",
		Short: "add one task, or many from a file of JSON lines",
		Long: `Add one task, or many with --from FILE (- for standard input): one JSON
object a line with the fields of SubTask in docs/messages.md; id, intent and
success_criteria are what most need. Ids that are left out are made up.`,
		Example: `  orch task add "raise the timeout to 30 s" --target config/ --criterion "timeout is 30"
  orch task add --from tasks.jsonl`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if (from == "") == (len(args) == 0) {
				return usagef("orch task add --help", "give an intent, or --from FILE")
			}
			var src taskSource
			if from != "" {
				f, err := a.input(from)
				if err != nil {
					return err
				}
				defer f.Close()
				src = jsonLines(from, f)
			} else {
				t.ID, t.Intent = message.TaskID(id), args[0]
				for _, d := range depends {
					t.DependsOn = append(t.DependsOn, message.TaskID(d))
				}
				for i, s := range criteria {
					t.SuccessCriteria = append(t.SuccessCriteria, message.Criterion{ID: fmt.Sprintf("c%d", i+1), Criterion: s, Mode: message.Verifiable, Required: true})
				}
				src = oneTask(t)
			}
			return a.addTasks(c.Context(), src, message.GoalID(goal), draft)
		},
	}
	f := c.Flags()
	f.StringVar(&id, "id", "", "name of the task; made up when left out")
	f.StringVar(&goal, "goal", "", "open goal it belongs to; none by default")
	f.StringVar(&from, "from", "", "file of JSON lines, - for standard input")
	f.StringArrayVar(&criteria, "criterion", nil, "what must be true in the end, repeatable")
	f.StringArrayVar(&depends, "depends-on", nil, "task that must be done before, repeatable")
	f.StringArrayVar(&t.Targets, "target", nil, "path it may change, repeatable; none means everything")
	f.BoolVar(&t.ReadOnly, "read-only", false, "it changes nothing")
	f.IntVar(&t.Priority, "priority", 100, "lower is more urgent")
	f.StringVar(&t.Context, "context", "", "what whoever does it should know")
	f.BoolVar(&draft, "draft", false, "not claimable yet")
	return c
}

// taskSource yields tasks one by one; io.EOF ends it.
type taskSource func() (message.SubTask, error)

func oneTask(t message.SubTask) taskSource {
	given := false
	return func() (message.SubTask, error) {
		if given {
			return t, io.EOF
		}
		given = true
		return t, nil
	}
}

func jsonLines(name string, r io.Reader) taskSource {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	n := 0
	return func() (message.SubTask, error) {
		for lines.Scan() {
			n++
			text := strings.TrimSpace(lines.Text())
			if text == "" {
				continue
			}
			t := message.SubTask{Priority: 100}
			dec := json.NewDecoder(strings.NewReader(text))
			dec.DisallowUnknownFields()
			if err := dec.Decode(&t); err != nil {
				return t, usagef("docs/messages.md shows the fields of SubTask", "%s:%d: %s", name, n, err)
			}
			return t, nil
		}
		if err := lines.Err(); err != nil {
			return message.SubTask{}, usagef("one task a line, at most 1 MiB", "%s:%d: %s", name, n+1, err)
		}
		return message.SubTask{}, io.EOF
	}
}

// input opens a file argument; - is standard input.
func (a *app) input(name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(a.in), nil
	}
	f, err := plainfile.Open(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, usagef("name a file, or - for standard input", "%s", err)
	}
	return f, nil
}

func (a *app) addTasks(ctx context.Context, next taskSource, goal message.GoalID, draft bool) error {
	batches, total, err := collect(next)
	if err != nil {
		return err
	}
	b, err := a.open(person())
	if err != nil {
		return err
	}
	defer b.Close()
	for _, tasks := range batches {
		_, err := b.Append(ctx, message.Message{From: message.Human, Goal: goal, Subject: string(tasks[0].ID),
			Body: message.TaskAdded{Tasks: tasks, Draft: draft}})
		if err != nil {
			return fmt.Errorf("add tasks: %w", err)
		}
	}
	return a.report(map[string]any{"version": 1, "added": total, "first": batches[0][0].ID},
		"added %s, first %s", count(total, "task"), batches[0][0].ID)
}

// collect reads everything before anything is written, so that a bad line adds nothing.
func collect(next taskSource) (batches [][]message.SubTask, total int, err error) {
	var batch []message.SubTask
	size := 0
	for {
		t, err := next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, 0, err
		}
		if t.ID == "" {
			t.ID = message.TaskID(uuid.NewString())
		}
		raw, err := json.Marshal(t)
		if err != nil {
			return nil, 0, err
		}
		if size+len(raw) > batchBytes && len(batch) > 0 {
			batches, batch, size = append(batches, batch), nil, 0
		}
		batch, size, total = append(batch, t), size+len(raw), total+1
	}
	if total == 0 {
		return nil, 0, usagef("one JSON object a line", "there is no task in the input")
	}
	return append(batches, batch), total, nil
}

// report prints one JSON object, or one line for people.
func (a *app) report(v any, format string, args ...any) error {
	if a.asJSON {
		return a.printJSON(v)
	}
	_, err := say(a.out, format+"\n", args...)
	return err
}
