package choose

import (
	"context"
	"errors"
	"strings"
	"testing"

	"orch/blackboard/message"
	"orch/roles/run/config"
	"orch/roles/think"
	"orch/roles/think/model"
)

// judging answers with what it was given, in order: an error or a judgement.
type judging struct {
	name  string
	out   []error
	asked *[]string
}

func (j *judging) Judge(_ context.Context, in think.JudgeInput) (think.Judgement, error) {
	*j.asked = append(*j.asked, j.name)
	var err error
	if len(j.out) > 0 {
		err, j.out = j.out[0], j.out[1:]
	}
	return think.Judgement{Pass: err == nil, Evidence: j.name}, err
}

func TestJudgesTakeTurns(t *testing.T) {
	garbage := error(&think.UnusableError{Model: "m", Why: "garbage"})
	for name, c := range map[string]struct {
		a, b     []error
		second   bool // it is asked twice
		asked    string
		unusable bool
		waits    bool
		fails    bool
	}{
		"the first can":                      {asked: "a"},
		"a second look is somebody else's":   {second: true, asked: "a b"},
		"garbage":                            {a: []error{garbage}, asked: "a b"},
		"garbage, and the second look":       {a: []error{garbage}, second: true, asked: "a b a"},
		"garbage from both":                  {a: []error{garbage}, b: []error{garbage}, asked: "a b", unusable: true},
		"an answer that is none":             {a: []error{fails(model.Malformed)}, asked: "a b"},
		"it declines":                        {a: []error{fails(model.Refused)}, b: []error{fails(model.TooLarge)}, asked: "a b", unusable: true},
		"a server that is down":              {a: []error{fails(model.Unreachable)}, asked: "a b"},
		"both servers are down":              {a: []error{fails(model.Unreachable)}, b: []error{fails(model.Server)}, asked: "a b", waits: true},
		"garbage, and a limit":               {a: []error{garbage}, b: []error{fails(model.Limit)}, asked: "a b", waits: true},
		"garbage to the second look as well": {b: []error{garbage}, second: true, asked: "a b a"},
	} {
		t.Run(name, func(t *testing.T) {
			m := newBench(t, nil, nil).Meter
			var asked []string
			j := NewJudge(m, []Judging{{entry("a"), &judging{"a", c.a, &asked}}, {entry("b"), &judging{"b", c.b, &asked}}})
			_, err := j.Judge(context.Background(), think.JudgeInput{Criterion: message.Criterion{ID: "c"}})
			if c.second && err == nil {
				_, err = j.Judge(context.Background(), think.JudgeInput{Criterion: message.Criterion{ID: "c"}, Second: true})
			}
			if got := strings.Join(asked, " "); got != c.asked {
				t.Errorf("asked %q, want %q", got, c.asked)
			}
			if (err != nil) != (c.unusable || c.waits || c.fails) || errors.As(err, new(*think.UnusableError)) != c.unusable || Waits(err) != c.waits {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestTiersHoldForFallbacksOfJudges(t *testing.T) {
	cfg := parse(t, `models:
  default: {backend: openai, name: d, tier: 1, fallback: local}
  planner: {backend: openai, name: p, tier: 2}
  meta-validator: {backend: openai, name: v, tier: 2, fallback: weak}
  weak: {backend: openai, name: w, tier: 1, fallback: strong}
  strong: {backend: openai, name: s, tier: 3, fallback: local}
  local: {backend: openai, name: l}
`)
	for role, want := range map[message.Role]string{message.MetaValidator: "meta-validator strong", message.AgentValidator: "default local"} {
		if got := names(Chain(cfg, message.UserInput{}, role)); got != want {
			t.Errorf("%s: %q, want %q", role, got, want)
		}
	}
	same := parse(t, "models: {default: {backend: openai, name: d, fallback: local}, local: {backend: openai, name: l}}\n")
	if got := names(Chain(same, message.UserInput{}, message.MetaValidator)); got != "default local" {
		t.Errorf("without tiers: %q", got)
	}
	if got := Chain(config.Config{}, message.UserInput{}, message.MetaValidator); len(got) != 0 {
		t.Errorf("without models: %v", got)
	}
}
