package acp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	protocol "github.com/coder/acp-go-sdk"

	"orch/blackboard/crash"
	"orch/roles/act/process"
	"orch/roles/think/agent/cli"
	"orch/roles/think/agent/exec"
	"orch/roles/think/model"
)

// Runner drives one agent. It may be used from several goroutines.
type Runner struct{ opt exec.Options }

// New returns a runner. Options are those of exec, of which Preset names the
// agent's ACP mode.
func New(o exec.Options) *Runner {
	if o.Program == "" {
		o.Program = o.Preset.Program
		if o.Preset.ACPBy != "" {
			o.Program = o.Preset.ACPBy
		}
	}
	return &Runner{opt: o.WithDefaults()}
}

// Run gives the agent one task and waits for its end.
func (r *Runner) Run(ctx context.Context, t cli.Task) (cli.Result, error) {
	scratch, err := os.MkdirTemp(r.opt.Scratch, "orch-agent-")
	if err != nil {
		return cli.Result{}, fmt.Errorf("make a directory for the agent: %w", err)
	}
	defer os.RemoveAll(scratch)
	if t.Dir == "" {
		t.Dir = scratch
	}
	if t.Dir, err = filepath.Abs(t.Dir); err != nil {
		return cli.Result{}, fmt.Errorf("resolve the agent's directory: %w", err)
	}
	run := &run{ctx: ctx, opt: r.opt, task: t, scratch: scratch, seen: cli.NewSeen(t.OnEvent), stderr: cli.Tail{MaxBytes: 8 << 10}}
	return run.do(ctx)
}

// run is one run from start to end.
type run struct {
	ctx     context.Context // of the run, for tool calls the agent asks for
	opt     exec.Options
	task    cli.Task
	scratch string
	mode    cli.Access // of its own rules; what a question is answered by is the task's
	stderr  cli.Tail
	lines   *cli.Lines

	mu        sync.Mutex // over seen: updates and requests come on goroutines of their own
	seen      *cli.Seen
	part      bool // the answer is being added to
	terminals terminals
}

// do starts the process beside the conversation. Whichever ends first ends the
// other: the conversation by closing the agent's input, the process by closing
// the connection.
func (r *run) do(ctx context.Context) (cli.Result, error) {
	running, kill := context.WithCancel(context.Background())
	defer kill()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ended := make(chan process.Result, 1)
	spec, err := r.spec(inR, outW)
	if err != nil {
		return cli.Result{}, err
	}
	r.mode = r.opt.Access(r.task, spec)
	crash.Go(func() {
		p := process.Run(running, spec)
		inR.CloseWithError(io.ErrClosedPipe)
		outW.Close()
		ended <- p
	})
	conn := protocol.NewConnection(r.handle, inW, outR)
	conn.SetLogger(slog.New(slog.DiscardHandler))
	said := make(chan error, 1)
	crash.Go(func() { said <- r.talk(ctx, conn) })

	err = <-said
	inW.Close() // most agents leave when their input ends
	linger := time.AfterFunc(time.Duration(r.opt.LingerMS)*time.Millisecond, crash.Safe(kill))
	if ctx.Err() != nil || err != nil {
		kill()
	}
	p := <-ended
	linger.Stop()
	outR.Close()
	<-conn.Done()
	r.terminals.close()
	r.mu.Lock()
	defer r.mu.Unlock()
	res := r.result(p, spec)
	if ctx.Err() != nil && !r.seen.Done {
		return res, context.Cause(ctx)
	}
	return res, r.failure(p, err)
}

func (r *run) spec(in io.Reader, out io.Writer) (process.Spec, error) {
	spec := r.opt.Spec(r.task, r.scratch)
	p := r.opt.Preset
	args := append(append([]string{}, p.ACP...), r.opt.More...)
	spec.Argv = append([]string{r.opt.Program}, args...)
	spec.Stdin = in
	r.lines = &cli.Lines{MaxBytes: cli.MaxLineBytes, Each: func(line []byte) { r.line(line, out) }}
	spec.Stdout = r.lines
	spec.Stderr = &r.stderr
	return r.opt.Confined(r.task, r.scratch, spec)
}

func (r *run) result(p process.Result, spec process.Spec) cli.Result {
	res := r.seen.Result
	res.Argv, res.Confined, res.Exit, res.DurationMS = spec.Argv, exec.Layers(spec), p.Exit, p.DurationMS
	res.Leftovers, res.Survivors = len(p.Leftovers), len(p.Survivors)
	return res
}

// talk holds the whole conversation. Its error is nil once the prompt was answered.
func (r *run) talk(ctx context.Context, conn *protocol.Connection) error {
	hello, err := protocol.SendRequest[protocol.InitializeResponse](conn, ctx, protocol.AgentMethodInitialize, protocol.InitializeRequest{
		ProtocolVersion: protocol.ProtocolVersionNumber,
		ClientCapabilities: protocol.ClientCapabilities{
			Fs: protocol.FileSystemCapabilities{ReadTextFile: r.task.Tools != nil, WriteTextFile: r.task.Tools != nil}, Terminal: r.task.Tools != nil,
		},
		ClientInfo: &protocol.Implementation{Name: "orch", Version: "1"},
	})
	if err != nil {
		return fmt.Errorf("initialize: %w", err)
	}
	if hello.ProtocolVersion != protocol.ProtocolVersionNumber {
		return fmt.Errorf("it speaks version %d of the protocol, wanted is %d", hello.ProtocolVersion, protocol.ProtocolVersionNumber)
	}
	session, err := protocol.SendRequest[protocol.NewSessionResponse](conn, ctx, protocol.AgentMethodSessionNew, protocol.NewSessionRequest{
		Cwd: r.task.Dir, McpServers: []protocol.McpServer{},
	})
	if err != nil {
		return fmt.Errorf("start a session: %w", err)
	}
	r.began(hello, session)
	if err := r.configure(ctx, conn, session); err != nil {
		return err
	}
	return r.prompt(ctx, conn, session.SessionId)
}

func (r *run) began(hello protocol.InitializeResponse, session protocol.NewSessionResponse) {
	version, name := "", ""
	if hello.AgentInfo != nil {
		version = hello.AgentInfo.Version
	}
	if session.Models != nil {
		name = string(session.Models.CurrentModelId)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen.Begin(string(session.SessionId), name, version)
}

// configure sets the mode that fits the task's access, and the model.
func (r *run) configure(ctx context.Context, conn *protocol.Connection, session protocol.NewSessionResponse) error {
	want := r.opt.Preset.Modes[r.mode]
	if session.Modes != nil && want != "" && string(session.Modes.CurrentModeId) != want {
		for _, m := range session.Modes.AvailableModes {
			if string(m.Id) != want {
				continue
			}
			_, err := protocol.SendRequest[map[string]any](conn, ctx, protocol.AgentMethodSessionSetMode, map[string]any{"sessionId": session.SessionId, "modeId": want})
			if err != nil && r.access() == cli.Read {
				return fmt.Errorf("set mode %s: %w", want, err)
			}
		}
	}
	if r.opt.Model == "" {
		return nil
	}
	_, err := protocol.SendRequest[map[string]any](conn, ctx, protocol.AgentMethodSessionSetModel, map[string]any{"sessionId": session.SessionId, "modelId": r.opt.Model})
	if err != nil {
		return fmt.Errorf("choose model %s (leave name empty to use the agent's own): %w", r.opt.Model, err)
	}
	return nil
}

func (r *run) access() cli.Access {
	if r.task.Access == "" {
		return cli.Workspace
	}
	return r.task.Access
}

// cancelPatience is how long an agent may take to answer a cancelled prompt.
const cancelPatience = 2 * time.Second

func (r *run) prompt(ctx context.Context, conn *protocol.Connection, session protocol.SessionId) error {
	asking, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	unhook := context.AfterFunc(ctx, crash.Safe(func() {
		_ = conn.SendNotification(asking, protocol.AgentMethodSessionCancel, protocol.CancelNotification{SessionId: session}) // it is ended anyway
		time.AfterFunc(cancelPatience, crash.Safe(stop))
	}))
	defer unhook()
	answer, err := protocol.SendRequest[promptAnswer](conn, asking, protocol.AgentMethodSessionPrompt, protocol.PromptRequest{
		SessionId: session, Prompt: []protocol.ContentBlock{protocol.TextBlock(r.task.Prompt)},
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	answer.into(r.seen, r.opt.Preset.TellsUse)
	return nil
}

// failure says why the run is none; nil if it is one.
func (r *run) failure(p process.Result, talked error) error {
	s := r.seen
	name := func(e *model.Error) error {
		e.Model, e.Account, e.Usage, e.Cause = r.opt.Name, r.opt.Account, s.Usage, talked
		return e
	}
	said := strings.TrimSpace(r.stderr.String())
	var refused *protocol.RequestError
	switch {
	case p.Killed() && !s.Done:
		return name(&model.Error{Kind: model.Killed, Detail: cmp.Or(p.Signal, fmt.Sprintf("exit %d", p.Exit)) + ", from outside"})
	case p.Err != nil:
		return r.opt.NotStarted(p.Err, s.Usage)
	case s.Done && s.Failed != "":
		e := cli.Failure(s.Failed, s.Status, r.opt.Now())
		e.Hearsay = s.Prose
		return name(e)
	case s.Done && strings.TrimSpace(s.Text) == "" && r.lines.Dropped > 0:
		return name(&model.Error{Kind: model.TooLarge, Detail: cli.TooLong(r.lines.Dropped)})
	case s.Done && strings.TrimSpace(s.Text) == "":
		return name(&model.Error{Kind: model.Unreadable, Detail: "it finished without an answer"})
	case s.Done:
		return nil
	case p.TimedOut || p.Idle || p.Flooded:
		kind := map[bool]model.Kind{true: model.Idle, false: model.Ended}[p.Idle] // its silence says nothing of its provider
		if p.Flooded {
			kind = model.TooLarge
		}
		return name(&model.Error{Kind: kind, Detail: p.Why(), Hearsay: true})
	case errors.As(talked, &refused) && !connectionLost(refused):
		e := cli.Failure(talked.Error(), 0, r.opt.Now())
		if refused.Code == -32000 && e.Kind == model.Ended {
			e.Kind = model.Auth
		}
		return name(e)
	case talked == nil, connectionLost(refused):
		e := cli.Failure(said, 0, r.opt.Now())
		e.Hearsay = true
		e.Detail = strings.TrimSuffix(fmt.Sprintf("it ended (exit %d %s) without answering the prompt: %s", p.Exit, p.Signal, e.Detail), ": ")
		return name(e)
	}
	return name(&model.Error{Kind: model.Malformed, Detail: talked.Error()})
}

// connectionLost tells the library's own error about a peer that went away
// from what an agent answered.
func connectionLost(e *protocol.RequestError) bool {
	if e == nil {
		return false
	}
	return e.Code == -32603 && (strings.Contains(e.Error(), "peer disconnected") || strings.Contains(e.Error(), "closed pipe") || strings.Contains(e.Error(), "connection closed"))
}
