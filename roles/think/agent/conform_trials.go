package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"orch/blackboard/crash"
	"orch/roles/act/process"
	"orch/roles/think/agent/cli"
	"orch/roles/think/answer"
	"orch/roles/think/fakemodel"
	"orch/roles/think/model"
)

// shellTools are what agents call their shell, and its argument.
var shellTools = []struct{ name, argument string }{
	{"exec_command", "cmd"}, {"Bash", "command"}, {"run_shell_command", "command"}, {"bash", "command"}, {"shell", "command"},
}

// script answers a trial: side requests without tools get plain text, a
// question for the tool gets one call of the agent's own shell, then an end.
func (c *conformance) script(t trial) fakemodel.Script {
	usage := fakemodel.Usage{Input: 11, Output: 7, Cached: 3}
	first := t.say
	first.Usage = usage
	return fakemodel.Script{Models: []string{testModel}, Rules: []fakemodel.Rule{{Func: func(r fakemodel.Request) fakemodel.Reply {
		asked := said(r, asksTool)
		switch {
		case first.Fault.Kind != "" || !asked && first.Text != "":
			return first
		case asked && r.Last().Role != "tool" && !answered(r):
			for _, s := range shellTools {
				if slices.Contains(r.Tools, s.name) {
					return fakemodel.Reply{Usage: usage, Calls: []fakemodel.Call{{ID: "call_1", Name: s.name, Input: map[string]any{s.argument: command(r), "description": "write"}}}}
				}
			}
		}
		return fakemodel.Reply{Text: "all done", Usage: usage}
	}}}}
}

func said(r fakemodel.Request, text string) bool {
	return slices.ContainsFunc(r.Turns, func(t fakemodel.Turn) bool { return strings.Contains(t.Text, text) })
}

func answered(r fakemodel.Request) bool {
	return slices.ContainsFunc(r.Turns, func(t fakemodel.Turn) bool { return t.Role == "tool" })
}

// command is the last line of the prompt that asked for the tool.
func command(r fakemodel.Request) string {
	for _, t := range r.Turns {
		if _, after, ok := strings.Cut(t.Text, asksTool+"\nCOMMAND: "); ok {
			line, _, _ := strings.Cut(after, "\n")
			return line
		}
	}
	return "true"
}

func (c *conformance) answers(ctx context.Context, p *place) (string, error) {
	res, err := p.run(ctx, nil, Task{Prompt: "Say that you are done.", Access: cli.Read})
	if err != nil {
		return "", err
	}
	if !strings.Contains(res.Text, "all done") {
		return "", fmt.Errorf("the model said %q, the agent %q", "all done", cut(res.Text, 100))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.card.Version = firstOf(c.card.Version, res.Version)
	return fmt.Sprintf("%d ms", res.DurationMS), nil
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func (c *conformance) long(ctx context.Context, p *place) (string, error) {
	prompt := "Read this and say that you are done.\n" + strings.Repeat("lorem ipsum dolor sit amet ", 200<<10/27) + longTail
	res, err := p.run(ctx, nil, Task{Prompt: prompt, Access: cli.Read})
	if err != nil {
		return "", err
	}
	for _, r := range p.server.Requests() {
		if strings.Contains(string(r.Body), longTail) {
			return fmt.Sprintf("%d bytes reached the model", len(prompt)), nil
		}
	}
	if c.preset.Way == cli.LastArg && c.target.Kind == Exec {
		return "too long for an argument: handed over as a file", nil
	}
	return "", fmt.Errorf("the prompt did not reach the model whole: %q", cut(res.Text, 100))
}

func (c *conformance) structured(ctx context.Context, p *place) (string, error) {
	a, err := p.agent(nil)
	if err != nil {
		return "", err
	}
	schema, err := answer.Compile("attempt", claimSchema)
	if err != nil {
		return "", err
	}
	got, err := a.Complete(ctx, model.Request{Turns: []model.Turn{{By: model.User, Text: "How did it go?"}}, Schema: &model.Schema{Name: "attempt", JSON: claimSchema}})
	if err != nil {
		return "", err
	}
	var said claimed
	if err := answer.Parse(got.Text, schema, &said); err != nil {
		return "", fmt.Errorf("%w: %q", err, cut(got.Text, 100))
	}
	return "one object that fits its schema", nil
}

func (c *conformance) tool(ctx context.Context, p *place) (string, error) {
	res, err := p.run(ctx, nil, Task{Prompt: asksTool + "\nCOMMAND: echo hi > made.txt\n", Access: cli.Workspace})
	if err != nil {
		return "", err
	}
	raw, err := os.ReadFile(filepath.Join(p.dir, "made.txt"))
	if err != nil || string(raw) != "hi\n" {
		return "", fmt.Errorf("the file was not written: %q, denials %+v", raw, res.Denials)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.card.Usage = res.Usage.OutputTokens >= 7 && res.Usage.InputTokens >= 11
	c.card.Cost, c.card.Session = res.Cost != nil, res.Session != ""
	if res.Calls == 0 {
		return "", errors.New("the file was written, but the stream did not show the call")
	}
	return fmt.Sprintf("%d call seen, tokens %d in %d out", res.Calls, res.Usage.InputTokens, res.Usage.OutputTokens), nil
}

// inside has the agent's shell write beside the workspace. Where nothing confines
// it, only its own limits stand before that, which is not what is tried here.
func (c *conformance) inside(ctx context.Context, p *place) (string, error) {
	line := "echo hi > made.txt; echo hi > " + filepath.Join(p.root, "outside.txt") + "; true"
	res, err := p.run(ctx, nil, Task{Prompt: asksTool + "\nCOMMAND: " + line + "\n", Access: cli.Full})
	if err != nil {
		return "", err
	}
	_, out := os.Stat(filepath.Join(p.root, "outside.txt"))
	_, in := os.Stat(filepath.Join(p.dir, "made.txt"))
	switch {
	case res.Confined == "":
		return "nothing confines it here", nil
	case out == nil:
		return "", fmt.Errorf("it wrote beside its workspace, confined by %s", res.Confined)
	case in != nil:
		return "its own limits refused it before it met those of " + res.Confined, nil
	}
	return "confined by " + res.Confined, nil
}

// leaves has the agent's shell start what outlives the agent.
func (c *conformance) leaves(ctx context.Context, p *place) (string, error) {
	line := "setsid sleep 86401 >/dev/null 2>&1 & sleep 86402 >/dev/null 2>&1 & echo hi > made.txt"
	res, err := p.run(ctx, nil, Task{Prompt: asksTool + "\nCOMMAND: " + line + "\n", Access: cli.Full, Marker: p.marker()})
	found, ferr := process.Find(p.marker())
	switch {
	case ferr != nil:
		return "", fmt.Errorf("look for processes: %w", ferr)
	case len(found) > 0:
		return "", fmt.Errorf("%d processes are left", len(found))
	case err != nil:
		return "", err
	}
	if _, err := os.Stat(filepath.Join(p.dir, "made.txt")); err != nil {
		return "", fmt.Errorf("its shell was not used: %w", err)
	}
	return fmt.Sprintf("nothing; %d processes it left were ended", res.Leftovers), nil
}

var errEnough = errors.New("stopped by the conformance run")

func (c *conformance) stops(ctx context.Context, p *place) (string, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var asked time.Time
	crash.Go(func() { // until the model is asked, there is nothing to stop
		for ctx.Err() == nil && len(p.server.Requests()) == 0 {
			select {
			case <-ctx.Done():
			case <-time.After(20 * time.Millisecond):
			}
		}
		asked = c.world.Now()
		cancel(errEnough)
	})
	_, err := p.run(ctx, nil, Task{Prompt: "Say that you are done.", Access: cli.Read, Marker: p.marker()})
	if !errors.Is(err, errEnough) {
		return "", fmt.Errorf("it ended before it was told to: %w", orNothing(err))
	}
	took := c.world.Now().Sub(asked)
	found, err := process.Find(p.marker())
	if err != nil || len(found) > 0 {
		return "", fmt.Errorf("%d processes are left: %w", len(found), orNothing(err))
	}
	return fmt.Sprintf("gone %d ms after it was told", took.Milliseconds()), nil
}

func orNothing(err error) error {
	if err == nil {
		return errors.New("no error")
	}
	return err
}

func (c *conformance) silent(ctx context.Context, p *place) (string, error) {
	_, err := p.run(ctx, map[string]string{"idle_ms": fmt.Sprint(silentIdleMS)}, Task{Prompt: "Say that you are done.", Access: cli.Read})
	if err == nil {
		return "", errors.New("it claimed success without a model")
	}
	var e *model.Error
	if !errors.As(err, &e) {
		return "", err
	}
	return fmt.Sprintf("ended as %s", e.Kind), nil
}

// fault wants a failure of a kind. Another kind that also says that waiting may
// help is noted, not refused: some programs do not tell them apart.
func (c *conformance) fault(want model.Kind) func(context.Context, *place) (string, error) {
	return func(ctx context.Context, p *place) (string, error) {
		_, err := p.run(ctx, map[string]string{"idle_ms": "45000"}, Task{Prompt: "Say that you are done.", Access: cli.Read})
		var e *model.Error
		switch {
		case err == nil:
			return "", errors.New("it claimed success")
		case !errors.As(err, &e):
			return "", err
		case e.Kind == want:
			return fmt.Sprintf("%s after %d requests", e.Kind, len(p.server.Requests())), nil
		case e.Passing() && want != model.Auth:
			return fmt.Sprintf("%s, not told apart from %s: %s", e.Kind, want, oneLine(cut(e.Detail, 120))), nil
		}
		return "", fmt.Errorf("it was taken for %s: %s", e.Kind, e.Detail)
	}
}
