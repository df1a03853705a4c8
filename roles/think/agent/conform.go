package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"orch/blackboard/crash"
	"orch/roles/act/process"
	"orch/roles/think/agent/cli"
	"orch/roles/think/fakemodel"
	"orch/roles/think/model"
)

// Target is what a conformance run is about.
type Target struct {
	Kind    string // exec or acp
	Preset  string
	Command string // instead of the preset's program
	Version string // as List found it; empty: it is asked
	// WallMS bounds each run of the program; 0: 90 seconds.
	WallMS int64
}

const (
	conformWallMS = 90_000
	silentIdleMS  = 8_000
	dummyKey      = "sk-ant-orch-0000"
	testModel     = "orch-test"
	asksTool      = "Use your shell once to write the file."
	longTail      = "the-last-word-of-the-prompt"
)

// Conform tries a program against a scripted model server on loopback, with an
// empty home and a dummy key, so that it costs nothing. Its own network is
// whatever it has: run orch where it has none to be sure that it calls nobody.
func Conform(ctx context.Context, target Target, w World, progress func(Check)) (Card, error) {
	p, ok := cli.Find(target.Preset)
	if !ok {
		return Card{}, &OptionError{"preset", fmt.Sprintf("is %q, allowed: %s", target.Preset, strings.Join(cli.Names(), ", "))}
	}
	if w.Now == nil {
		w.Now = time.Now
	}
	if target.WallMS <= 0 {
		target.WallMS = conformWallMS
	}
	c := &conformance{target: target, preset: p, world: w, progress: progress}
	c.card = Card{Name: p.Name, Title: p.Title, Backend: target.Kind, Version: target.Version, Date: w.Now()}
	if c.card.Version == "" {
		c.card.Version = Version(ctx, w, p, w.LookPath(c.program()))
	}
	c.all(ctx)
	if err := ctx.Err(); err != nil {
		return c.card, context.Cause(ctx)
	}
	for _, k := range c.card.Checks {
		if !k.OK {
			c.card.Missing = append(c.card.Missing, k.Name)
		}
	}
	c.card.OK = len(c.card.Missing) == 0
	return c.card, nil
}

type conformance struct {
	target   Target
	preset   cli.Preset
	world    World
	progress func(Check)

	mu   sync.Mutex
	card Card
}

func (c *conformance) program() string {
	switch {
	case c.target.Command != "":
		return c.target.Command
	case c.target.Kind == ACP && c.preset.ACPBy != "":
		return c.preset.ACPBy
	}
	return c.preset.Program
}

// trial is one check: what the server answers, and what must come of it.
type trial struct {
	name string
	run  func(context.Context, *place) (string, error)
	say  fakemodel.Reply // what the server answers first; the zero value: plain text
}

func (c *conformance) all(ctx context.Context) {
	trials := []trial{
		{name: "starts and answers", run: c.answers, say: fakemodel.Reply{Text: "all done"}},
		{name: "long prompt", run: c.long, say: fakemodel.Reply{Text: "all done"}},
		{name: "structured answer", run: c.structured, say: fakemodel.Reply{Text: `{"status":"completed","output":"it is done"}`}},
		{name: "runs a tool", run: c.tool},
		{name: "stays inside", run: c.inside},
		{name: "leaves nothing", run: c.leaves},
		{name: "stops when told", run: c.stops, say: fakemodel.Reply{Fault: fakemodel.Fault{Kind: fakemodel.Silent}}},
		{name: "no output", run: c.silent, say: fakemodel.Reply{Fault: fakemodel.Fault{Kind: fakemodel.Silent}}},
		{name: "401", run: c.fault(model.Auth), say: status(401, "invalid x-api-key")},
		{name: "429", run: c.fault(model.Limit), say: status(429, "rate limit exceeded")},
		{name: "500", run: c.fault(model.Server), say: status(500, "internal server error")},
	}
	// One first: it alone tells whether the rest is worth trying.
	if !c.do(ctx, trials[0]) {
		return
	}
	var group sync.WaitGroup
	room := make(chan struct{}, 3)
	for _, t := range trials[1:] {
		group.Go(crash.Safe(func() {
			room <- struct{}{}
			defer func() { <-room }()
			c.do(ctx, t)
		}))
	}
	group.Wait()
	slices.SortStableFunc(c.card.Checks, func(a, b Check) int { return order(trials, a.Name) - order(trials, b.Name) })
}

func order(trials []trial, name string) int {
	return slices.IndexFunc(trials, func(t trial) bool { return t.name == name })
}

func status(code int, text string) fakemodel.Reply {
	return fakemodel.Reply{Fault: fakemodel.Fault{Kind: fakemodel.Status, Status: code, Message: text}}
}

// do runs one trial in a place of its own.
func (c *conformance) do(ctx context.Context, t trial) bool {
	if ctx.Err() != nil {
		return false
	}
	began := c.world.Now()
	k := Check{Name: t.name}
	p, err := c.place(t)
	if err == nil {
		k.Detail, err = t.run(ctx, p)
		err = errors.Join(err, p.close())
	}
	k.OK, k.TookMS = err == nil, c.world.Now().Sub(began).Milliseconds()
	if err != nil {
		k.Detail = oneLine(err.Error())
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.card.Checks = append(c.card.Checks, k)
	if c.progress != nil {
		c.progress(k)
	}
	return k.OK
}

func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	return cut(s, 300)
}

// place is a fresh home, a workspace and a model server.
type place struct {
	root, home, dir string
	server          *fakemodel.Server
	world           World
	c               *conformance
}

func (c *conformance) place(t trial) (*place, error) {
	root, err := os.MkdirTemp(c.world.Scratch, "orch-conform-")
	if err != nil {
		return nil, fmt.Errorf("make a place for the agent: %w", err)
	}
	p := &place{root: root, home: filepath.Join(root, "home"), dir: filepath.Join(root, "work"), c: c, world: c.world}
	p.server, err = fakemodel.Listen(c.script(t), "127.0.0.1:0", nil)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start the model server: %w", err), os.RemoveAll(root))
	}
	env, files := c.preset.Aim(cli.Server{URL: p.server.URL(), Key: dummyKey, Model: testModel})
	for name, text := range files {
		path := filepath.Join(p.home, name)
		if err = os.MkdirAll(filepath.Dir(path), 0o755); err == nil {
			err = os.WriteFile(path, []byte(text), 0o600)
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("write the agent's configuration: %w", err), p.close())
		}
	}
	for _, dir := range []string{p.home, p.dir} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, errors.Join(fmt.Errorf("make a place for the agent: %w", err), p.close())
		}
	}
	path := "PATH=" + os.Getenv("PATH")
	for _, kv := range c.world.Environ {
		if strings.HasPrefix(kv, "PATH=") {
			path = kv
		}
	}
	p.world.Environ = append([]string{path, "HOME=" + p.home, "TMPDIR=" + os.TempDir(), "LANG=C.UTF-8"}, env...)
	return p, nil
}

func (p *place) close() error {
	p.server.Close()
	return os.RemoveAll(p.root)
}

// agent makes the agent of this place.
func (p *place) agent(options map[string]string) (*Agent, error) {
	o := map[string]string{"preset": p.c.preset.Name, "timeout_ms": fmt.Sprint(p.c.target.WallMS), "linger_ms": "3000"}
	if p.c.target.Command != "" {
		o["command"] = p.c.target.Command
	}
	for k, v := range options {
		o[k] = v
	}
	return New(p.c.target.Kind, "", o, p.world)
}

func (p *place) run(ctx context.Context, options map[string]string, t Task) (Result, error) {
	a, err := p.agent(options)
	if err != nil {
		return Result{}, err
	}
	t.Dir = p.dir
	res, err := a.Run(ctx, t)
	p.c.mu.Lock()
	p.c.card.Leftovers += res.Leftovers
	p.c.mu.Unlock()
	if res.Survivors > 0 {
		err = errors.Join(err, fmt.Errorf("%d processes could not be ended", res.Survivors))
	}
	return res, err
}

// marker finds by the environment what a run's own hunt might have missed.
func (p *place) marker() process.Marker { return process.Marker("conform-" + filepath.Base(p.root)) }
