package exec

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"orch/blackboard/crash"
	"orch/roles/act/process"
	"orch/roles/think/agent/cli"
	"orch/roles/think/model"
)

// Runner drives one program. It may be used from several goroutines.
type Runner struct{ opt Options }

// New returns a runner. It does not look whether the program exists.
func New(o Options) *Runner {
	if o.Program == "" {
		o.Program = o.Preset.Program
	}
	return &Runner{opt: o.WithDefaults()}
}

// Run gives the program one task and waits for its end.
func (r *Runner) Run(ctx context.Context, t cli.Task) (cli.Result, error) {
	dir, err := os.MkdirTemp(r.opt.Scratch, "orch-agent-")
	if err != nil {
		return cli.Result{}, fmt.Errorf("make a directory for the agent: %w", err)
	}
	defer os.RemoveAll(dir)
	c, stdin, err := r.call(dir, t)
	if err != nil {
		return cli.Result{}, err
	}
	run := &run{Runner: r, task: t, dir: dir, seen: cli.NewSeen(t.OnEvent)}
	return run.do(ctx, c, stdin)
}

// call makes the files and arguments of one run.
func (r *Runner) call(dir string, t cli.Task) (cli.Call, string, error) {
	p := r.opt.Preset
	c := cli.Call{Model: r.opt.Model, More: r.opt.More, Last: filepath.Join(dir, "last.txt"), Usage: filepath.Join(dir, "usage.json")}
	prompt := t.Prompt
	if t.Schema != nil && p.SchemaArg {
		c.Schema, c.Inline = filepath.Join(dir, "schema.json"), string(t.Schema.JSON)
		if err := os.WriteFile(c.Schema, t.Schema.JSON, 0o600); err != nil {
			return c, "", fmt.Errorf("write the schema for the agent: %w", err)
		}
	}
	if p.Way == cli.Stdin {
		return c, prompt, nil
	}
	if cli.LongArg(prompt) {
		path := filepath.Join(dir, "task.md")
		if err := os.WriteFile(path, []byte(prompt), 0o600); err != nil {
			return c, "", fmt.Errorf("write the prompt for the agent: %w", err)
		}
		prompt = "Your task is in the file " + path + ". Read all of it first, then do what it says."
	}
	c.Prompt = prompt
	return c, "", nil
}

// run is one run from start to end.
type run struct {
	*Runner
	task cli.Task
	dir  string
	seen *cli.Seen
}

func (r *run) do(ctx context.Context, c cli.Call, stdin string) (cli.Result, error) {
	parser := r.opt.Preset.Parser(r.seen)
	running, stop := context.WithCancel(ctx)
	defer stop()
	var linger *time.Timer
	watch := model.WatchOf(ctx)
	lines := &cli.Lines{MaxBytes: cli.MaxLineBytes, Each: func(line []byte) {
		parser.Line(line)
		watch(r.seen.Usage, r.seen.Cost)
		if r.seen.Done && linger == nil {
			// Its answer is there. What it still wants to do is its own affair, and short.
			linger = time.AfterFunc(time.Duration(r.opt.LingerMS)*time.Millisecond, crash.Safe(stop))
		}
	}}
	said := &cli.Tail{MaxBytes: 8 << 10}
	spec, err := r.spec(c, stdin)
	if err != nil {
		return cli.Result{}, err
	}
	spec.Stdout, spec.Stderr = lines, said
	p := process.Run(running, spec)
	if linger != nil {
		linger.Stop()
	}
	_ = lines.Close() // never fails
	if !p.Ended() && !p.Killed() && p.Signal == "" && p.Err == nil {
		r.answerFile(c, parser)
		parser.Exit(p.Exit)
	}
	r.files(c)
	res := r.result(p, spec)
	if ctx.Err() != nil && !r.seen.Done {
		return res, context.Cause(ctx)
	}
	return res, r.failure(p, said.String(), lines.Dropped)
}

// spec bounds the process. Its argv never holds a prompt that went another way.
func (r *run) spec(c cli.Call, stdin string) (process.Spec, error) {
	spec := r.opt.Spec(r.task, r.dir)
	p := r.opt.Preset
	spec.Env = append(spec.Env, cli.ResultEnv+"="+c.Last)
	spec, err := r.opt.Confined(r.task, r.dir, spec)
	if err != nil {
		return spec, err
	}
	c.Access = r.opt.Access(r.task, spec)
	spec.Argv = append([]string{r.opt.Program}, p.Args(c)...)
	if p.Way == cli.Stdin {
		spec.Stdin = strings.NewReader(stdin)
	}
	return spec, nil
}

// answerFile lets a command of a person's own put its answer into a file
// instead of its output, so that it may write there what it likes.
func (r *run) answerFile(c cli.Call, parser cli.Parser) {
	p, ok := parser.(interface{ Answer([]byte) })
	if !ok {
		return
	}
	if raw, err := os.ReadFile(c.Last); err == nil && len(raw) > 0 && len(raw) <= cli.MaxTextBytes {
		p.Answer(raw)
	}
}

// files reads what the program left beside its stream.
func (r *run) files(c cli.Call) {
	if read := r.opt.Preset.UsageFile; read != nil {
		if raw, err := os.ReadFile(c.Usage); err == nil {
			read(raw, r.seen)
		}
	}
	if r.seen.Text == "" && r.seen.Done {
		if raw, err := os.ReadFile(c.Last); err == nil && len(raw) <= cli.MaxTextBytes {
			r.seen.Text = string(raw)
		}
	}
}

func (r *run) result(p process.Result, spec process.Spec) cli.Result {
	res := r.seen.Result
	res.Argv, res.Confined = shown(spec.Argv, r.task.Prompt), Layers(spec)
	res.Exit, res.DurationMS = p.Exit, p.DurationMS
	res.Leftovers, res.Survivors = len(p.Leftovers), len(p.Survivors)
	return res
}

// shown is the argv without the prompt.
func shown(argv []string, prompt string) []string {
	out := append([]string{}, argv...)
	for i, a := range out {
		if prompt != "" && a == prompt || len(a) > 2000 {
			out[i] = fmt.Sprintf("<%d bytes>", len(a))
		}
	}
	return out
}

// failure says why the run is none; nil if it is one.
func (r *run) failure(p process.Result, stderr string, dropped int) error {
	s := r.seen
	switch {
	case p.Killed() && !s.Done:
		return r.kind(model.Killed, ending(p)+", from outside")
	case p.Err != nil:
		return r.opt.NotStarted(p.Err, s.Usage)
	case p.TimedOut || p.Idle || p.Flooded:
		return r.cutShort(p, stderr)
	case s.Done && s.Failed != "":
		e := r.error(s.Failed, s.Status)
		if e.Kind == model.Ended && stderr != "" { // the stream is vague; the other one may tell
			if told := r.error(stderr, 0); told.Kind != model.Ended {
				e.Kind, e.Status, e.Until, e.Hearsay = told.Kind, told.Status, told.Until, true
			}
		}
		return e
	case s.Done && strings.TrimSpace(s.Text) == "" && dropped > 0:
		return r.kind(model.TooLarge, cli.TooLong(dropped))
	case s.Done && strings.TrimSpace(s.Text) == "":
		return r.kind(model.Unreadable, "it finished without an answer")
	case s.Done:
		return nil
	case dropped > 0:
		return r.kind(model.TooLarge, cli.TooLong(dropped))
	}
	what := s.Failed
	if what == "" {
		what = strings.TrimSpace(stderr)
	}
	e := r.error(what, s.Status)
	e.Hearsay = e.Hearsay || s.Failed == "" && s.Status == 0
	e.Detail = strings.TrimSuffix(fmt.Sprintf("it ended (%s) without its result event: %s", ending(p), e.Detail), ": ")
	return e
}

// cutShort is for a run that orch ended. A program that was waiting out an
// error of its provider is told apart from one that hangs.
func (r *run) cutShort(p process.Result, stderr string) error {
	kind := model.Idle
	switch {
	case p.Flooded:
		kind = model.TooLarge
	case p.TimedOut:
		kind = model.Ended
	}
	e := r.kind(kind, p.Why())
	e.Hearsay = true // that it is silent says nothing of its provider
	if r.seen.Status == 0 && r.seen.Failed == "" && !p.Flooded {
		if told := r.error(stderr, 0); told.Kind == model.Limit || told.Mend() || told.Kind == model.Overloaded {
			e.Kind, e.Until, e.Status = told.Kind, told.Until, told.Status
			e.Detail += "; it said: " + told.Detail
		}
		return e
	}
	if told := r.error(r.seen.Failed, r.seen.Status); told.Kind != model.Ended && !p.Flooded {
		e.Kind, e.Until, e.Status, e.Hearsay = told.Kind, told.Until, told.Status, told.Hearsay
		e.Detail += fmt.Sprintf(" while it retried: %s", told.Detail)
	}
	return e
}

func ending(p process.Result) string {
	switch {
	case p.Signal != "" && p.OutOfMem:
		return p.Signal + ", while memory ran out"
	case p.Signal != "":
		return p.Signal
	case p.Canceled:
		return p.Why()
	}
	return fmt.Sprintf("exit %d", p.Exit)
}

func (r *run) error(text string, status int) *model.Error {
	e := cli.Failure(text, status, r.opt.Now())
	if k := r.seen.Kind; k != "" {
		e.Kind = k
	}
	cli.Resets(e, r.seen.ResetUnix)
	e.Hearsay = r.seen.Prose
	return r.named(e)
}

func (r *run) kind(k model.Kind, detail string) *model.Error {
	return r.named(&model.Error{Kind: k, Detail: detail})
}

func (r *run) named(e *model.Error) *model.Error {
	e.Model, e.Account, e.Usage = r.opt.Name, r.opt.Account, r.seen.Usage
	return e
}
