package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"

	"orch/roles/run/config"
	"orch/roles/think/agent"
	"orch/roles/think/agent/cli"
	"orch/roles/think/choose"
	"orch/roles/think/endpoint"
	"orch/roles/think/endpoint/anthropic"
	"orch/roles/think/endpoint/openai"
	"orch/roles/think/model"
)

// newClient makes what speaks for one entry of the configuration.
func newClient(cfg config.Config, e choose.Entry, w agent.World) (model.Client, error) {
	if e.IsAgent() {
		return newAgent(e, w)
	}
	o, err := endpointOptions(cfg, e)
	if err != nil {
		return nil, err
	}
	if o.KeyName != "" && o.Key == "" {
		return keyless{e}, nil
	}
	switch e.Backend {
	case choose.OpenAI:
		return openai.New(o)
	case choose.Anthropic:
		return anthropic.New(o)
	}
	return nil, fmt.Errorf("there is no backend %q", e.Backend)
}

// own are the options this package reads itself.
var own = []string{choose.OptionKeyEnv, "states_cost"}

func endpointOptions(cfg config.Config, e choose.Entry) (endpoint.Options, error) {
	l := cfg.Limits
	o := endpoint.Options{Model: e.Model.Name, Account: e.Account(), KeyName: e.KeyEnv(),
		IdleMS: l.ModelIdleMS, WallMS: l.ModelWallMS, Retries: l.ModelRetries, MaxWaitMS: l.ModelWaitMS}
	if l.ModelRetries == 0 {
		o.Retries = -1 // none, not the default
	}
	if l.ModelWaitMS == 0 {
		o.MaxWaitMS = 1
	}
	for _, name := range slices.Sorted(maps.Keys(e.Options)) {
		if slices.Contains(own, name) {
			continue
		}
		if err := o.Set(name, e.Options[name]); err != nil {
			return o, err
		}
	}
	if o.KeyName != "" {
		o.Key = os.Getenv(o.KeyName)
	}
	return o, nil
}

// keyless is an entry whose key is not in the environment. It fails as a wrong
// key does, so that a fallback may take over, or a person is told what to set.
type keyless struct{ choose.Entry }

func (k keyless) Model() string { return k.Backend + ":" + k.Entry.Model.Name }

func (k keyless) Complete(context.Context, model.Request) (model.Response, error) {
	return model.Response{}, &model.Error{Kind: model.Auth, Model: k.Model(), Account: k.Account(), Detail: k.KeyEnv() + " is not set"}
}

// programOf is what an agent's entry starts; empty for what is no agent.
func programOf(e choose.Entry) string {
	if !e.IsAgent() {
		return ""
	}
	if program := e.Program(); program != "" {
		return program
	}
	p, _ := cli.Find(e.Options[choose.OptionPreset])
	return p.Program
}

// usable tells whether an entry can be asked, as far as can be seen from here.
func usable(cfg config.Config, e choose.Entry) error {
	c, err := newClient(cfg, e, agent.World{})
	if err != nil {
		return choose.Missing(e, err)
	}
	if _, bad := c.(keyless); bad {
		return choose.Missing(e, errors.New(e.KeyEnv()+" is not set"))
	}
	if program := programOf(e); program != "" {
		if _, err := exec.LookPath(program); err != nil {
			return choose.Missing(e, err)
		}
	}
	return nil
}
