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

	"orch/blackboard"
	"orch/blackboard/message"
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
	f, err := os.Open(name)
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
	_, err := fmt.Fprintf(a.out, format+"\n", args...)
	return err
}

func newTaskLs(a *app) *cobra.Command {
	var goal, status string
	var all bool
	var limit int
	c := &cobra.Command{
		Use: "ls", Short: "list tasks, most urgent first", Args: cobra.NoArgs,
		Example: "  orch task ls --status UNCLAIMED",
		RunE: func(c *cobra.Command, _ []string) error {
			return a.listTasks(c.Context(), message.GoalID(goal), status, all, limit)
		},
	}
	c.Flags().StringVar(&goal, "goal", "", "only tasks of this goal")
	c.Flags().StringVar(&status, "status", "", "only tasks in this status")
	c.Flags().BoolVar(&all, "all", false, "also finished ones")
	c.Flags().IntVar(&limit, "limit", 200, "at most so many")
	return c
}

var openStatuses = []blackboard.Status{blackboard.Claimed, blackboard.ReadyForReview, blackboard.Rejected, blackboard.Blocked,
	blackboard.IntegrationFailed, blackboard.Unclaimed, blackboard.Approved, blackboard.Draft}
var endedStatuses = []blackboard.Status{blackboard.Merged, blackboard.Superseded, blackboard.Abandoned, blackboard.Void}

// taskRow is the documented shape of a task in lists, version 1.
type taskRow struct {
	ID       message.TaskID    `json:"id"`
	Goal     message.GoalID    `json:"goal"`
	Status   blackboard.Status `json:"status"`
	Priority int               `json:"priority"`
	Slot     string            `json:"slot"`
	Approach string            `json:"approach"`
	Intent   string            `json:"intent"`
	Agent    message.AgentID   `json:"agent"`
	Fence    message.Fence     `json:"fence"`
}

func rowOf(t blackboard.Task) taskRow {
	return taskRow{t.ID, t.Goal, t.Status, t.Priority, t.Slot, t.Approach, t.Intent, t.Agent, t.Fence}
}

func (a *app) listTasks(ctx context.Context, goal message.GoalID, status string, all bool, limit int) error {
	want := openStatuses
	if all {
		want = append(append([]blackboard.Status{}, openStatuses...), endedStatuses...)
	}
	if status != "" {
		want = []blackboard.Status{blackboard.Status(strings.ToUpper(status))}
	}
	b, err := a.read()
	if err != nil {
		return err
	}
	defer b.Close()
	rows := []taskRow{}
	err = b.View(ctx, func(st *blackboard.State) error {
		tasks := st.Tasks(want...)
		if goal != "" {
			tasks = st.TasksOf(goal, want...)
		}
		for t := range tasks {
			if len(rows) >= limit {
				break
			}
			rows = append(rows, rowOf(t))
		}
		return nil
	})
	if err != nil {
		return err
	}
	if a.asJSON {
		return a.printJSON(map[string]any{"version": 1, "tasks": rows})
	}
	for _, r := range rows {
		fmt.Fprintf(a.out, "%-36s %-16s %4d  %-14s %s\n", r.ID, r.Status, r.Priority, r.Agent, oneLine(r.Intent, 80))
	}
	return nil
}

func newTaskShow(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "show TASK", Short: "show all the board knows of a task", Args: cobra.ExactArgs(1),
		Example: "  orch task show 0198c1",
		RunE: func(c *cobra.Command, args []string) error {
			b, err := a.read()
			if err != nil {
				return err
			}
			defer b.Close()
			return b.View(c.Context(), func(st *blackboard.State) error {
				t, err := resolveTask(st, args[0])
				if err != nil {
					return err
				}
				if a.asJSON {
					return a.printJSON(map[string]any{"version": 1, "task": t})
				}
				return a.printTask(t)
			})
		},
	}
}

func resolveTask(st *blackboard.State, name string) (blackboard.Task, error) {
	t, err := st.ResolveTask(name)
	if err != nil {
		return t, usagef("orch task ls lists them", "%s", err)
	}
	return t, nil
}

func (a *app) printTask(t blackboard.Task) error {
	d := newDisplay(painting(a.out))
	fmt.Fprintf(a.out, "%s  %s\n  intent    %s\n", t.ID, t.Status, t.Intent)
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(a.out, "  %-9s %s\n", name, text)
		}
	}
	line("goal", string(t.Goal))
	line("approach", strings.TrimSpace(t.Approach+"  "+t.Target))
	line("holder", string(t.Agent))
	line("blocked", t.BlockedReason)
	line("output", oneLine(t.Output, 200))
	for _, n := range t.HumanNotes {
		line("note", n)
	}
	for _, c := range t.SuccessCriteria {
		line("criterion", c.Criterion)
	}
	if t.Outcome != nil {
		for _, l := range d.verdicts(t.Outcome.CriteriaVerdicts) {
			fmt.Fprintln(a.out, l)
		}
	}
	_, err := fmt.Fprintf(a.out, "  next      orch why %s\n", short(string(t.ID)))
	return err
}

func newTaskDone(a *app) *cobra.Command {
	var as, output string
	c := &cobra.Command{
		Use: "done TASK", Short: "say that a task you hold is finished; it goes to review", Args: cobra.ExactArgs(1),
		Example: "  orch task done t-1 --as human-1 --output \"timeout raised\"",
		RunE: func(c *cobra.Command, args []string) error {
			return a.byHand(c.Context(), as, args[0], func(t blackboard.Task) message.Body {
				return message.TaskFinished{Task: t.ID, Output: output}
			}, "handed in")
		},
	}
	c.Flags().StringVar(&as, "as", "", "the agent that holds it (required)")
	c.Flags().StringVar(&output, "output", "", "what came of it")
	return c
}
