// Package thinker lets a chat model play the roles: it perceives, plans, acts
// through the tools, judges and merges.
//
// It owns the conversation of one step: the question, the one chance to put an
// unreadable answer right, the tool loop, and the reading of answers into what
// the roles take.
//
// It promises that a conversation ends, by its own limits, whatever the model
// does; that nothing is accepted which the schema and the role's own rules do
// not allow; that a pass without a quote which is really in the evidence is a
// fail; that ids in an answer are dropped; and that failures keep their type:
// *model.Error as the client gave it (errors.As finds it), or
// *think.UnusableError with the raw answer.
//
// It never touches the board, never acts but through the tools it is given, and
// never retries a client's failure.
package thinker

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"orch/blackboard/message"
	"orch/roles/act/tool"
	"orch/roles/think"
	"orch/roles/think/answer"
	"orch/roles/think/model"
	"orch/roles/think/prompt"
)

// Options bound a thinker. The zero value has usable limits.
type Options struct {
	Turns           int // of one attempt of an executor; 0: DefaultTurns
	MaxOutputTokens int // of one answer; 0: the client's default

	// Tools are those the executor may call; nil: all that this system has.
	Tools []tool.Name
	// Survey lists what is in a workspace, for the planner; nil: nothing is listed.
	Survey func(workspace string) string
	// Spend is told what each question consumed, failed ones included. When it is
	// set, results carry no usage, so that nothing is counted twice.
	Spend func(message.Usage, *float64)
	// Sees is told each prompt before it is sent.
	Sees func(prompt.Prompt)
}

// DefaultTurns is how many answers an executor may take for one attempt.
const DefaultTurns = 40

// Thinker implements think.Perceiver, Planner, Executor, Judge and Merger on
// one model.
type Thinker struct {
	client model.Client
	o      Options
}

var (
	_ think.Perceiver = (*Thinker)(nil)
	_ think.Planner   = (*Thinker)(nil)
	_ think.Executor  = (*Thinker)(nil)
	_ think.Judge     = (*Thinker)(nil)
	_ think.Merger    = (*Thinker)(nil)
)

// New makes a thinker on a client.
func New(client model.Client, o Options) (*Thinker, error) {
	if client == nil {
		return nil, errors.New("a thinker without a model")
	}
	if o.Turns <= 0 {
		o.Turns = DefaultTurns
	}
	if o.Tools == nil {
		o.Tools = tool.Names()
	}
	for _, name := range o.Tools {
		if _, ok := toolTable()[name]; !ok {
			return nil, fmt.Errorf("there is no tool %q for a model", name)
		}
	}
	return &Thinker{client: client, o: o}, nil
}

// Model is the name of the model it thinks with.
func (t *Thinker) Model() string { return t.client.Model() }

// AsLimit tells whether a failure is an account's limit: the step releases its
// task, nothing counts as an attempt, and the account is paused.
func AsLimit(err error) (*model.Error, bool) {
	var failed *model.Error
	if errors.As(err, &failed) && failed.Kind == model.Limit {
		return failed, true
	}
	return nil, false
}

// talk is one conversation and what it has consumed.
type talk struct {
	t     *Thinker
	p     prompt.Prompt
	req   model.Request
	usage message.Usage

	decision string // the field of the answer that judges; empty where none does
	word     string // that such an answer must repeat
}

func (t *Thinker) talk(p prompt.Prompt) *talk {
	if t.o.Sees != nil {
		t.o.Sees(p)
	}
	req := p.Request()
	req.MaxOutputTokens = t.o.MaxOutputTokens
	return &talk{t: t, p: p, req: req}
}

// judging is a conversation whose answer judges: only one that repeats the
// word of the question counts, and decision is the field that must not be said
// twice and differently.
func (t *Thinker) judging(p prompt.Prompt, word, decision string) *talk {
	c := t.talk(p)
	c.word, c.decision = word, decision
	return c
}

// ask sends the conversation as it stands.
func (c *talk) ask(ctx context.Context) (model.Response, error) {
	r, err := c.t.client.Complete(ctx, c.req)
	if err != nil {
		var failed *model.Error
		if errors.As(err, &failed) {
			c.spend(failed.Usage, nil)
		}
		return r, fmt.Errorf("ask the model for the %s: %w", c.p.Role, err)
	}
	c.spend(r.Usage, r.Cost)
	return r, nil
}

func (c *talk) spend(u message.Usage, cost *float64) {
	if c.t.o.Spend != nil {
		c.t.o.Spend(u, cost)
		return
	}
	c.usage.InputTokens += u.InputTokens
	c.usage.OutputTokens += u.OutputTokens
	c.usage.CachedTokens += u.CachedTokens
	c.usage.ModelCalls += u.ModelCalls
	if u.Model != "" {
		c.usage.Model = u.Model
	}
}

// keptBytes is how much of an answer that could not be read goes back to the model.
const keptBytes = 8 << 10

// object asks for one JSON object. An answer that can not be read, or that
// check refuses, is sent back once with the reason.
func object[T any](ctx context.Context, c *talk, check func(*T) error) (T, error) {
	for chance := 0; ; chance++ {
		var zero T
		r, err := c.ask(ctx)
		var v T
		if none := noAnswer(err); none != nil {
			err = errors.New(none.Detail)
		} else if err != nil {
			return zero, err
		} else if v, err = read(c, r, check); err == nil {
			return v, nil
		}
		if chance > 0 || r.Stop == model.StopRefuse {
			return zero, c.unusable(r, err)
		}
		c.sendBack(r, err)
	}
}

// noAnswer is the failure of a program that did its work and gave no answer
// that could be read, which it is told like one that has the wrong form; nil
// for other failures.
func noAnswer(err error) *model.Error {
	failed, ok := errors.AsType[*model.Error](err)
	if !ok || failed.Kind != model.Unreadable {
		return nil
	}
	return failed
}

// read takes the value out of an answer.
func read[T any](c *talk, r model.Response, check func(*T) error) (T, error) {
	var v T
	if r.Stop == model.StopRefuse {
		return v, errors.New("the model declined to answer")
	}
	parse := answer.Parse
	if c.decision != "" {
		parse = func(text string, schema *answer.Schema, into any) error {
			return answer.Bound(text, schema, c.word, c.decision, into)
		}
	}
	if err := parse(said(r), c.p.Schema, &v); err != nil {
		if r.Stop == model.StopLength {
			return v, fmt.Errorf("%w; it was cut off by the limit of its length, so be briefer", err)
		}
		return v, err
	}
	if check != nil {
		if err := check(&v); err != nil {
			return v, err
		}
	}
	return v, nil
}

// said is an answer's text. A model that calls the form of the answer as if it
// were a tool has answered as well.
func said(r model.Response) string {
	if strings.TrimSpace(r.Text) == "" && len(r.Calls) == 1 {
		return string(r.Calls[0].Input)
	}
	return r.Text
}

// sendBack adds the answer and what was wrong with it to the conversation.
func (c *talk) sendBack(r model.Response, why error) {
	text := said(r)
	if len(text) > keptBytes {
		text = strings.ToValidUTF8(text[:keptBytes], "") + " […]"
	}
	if strings.TrimSpace(text) == "" {
		text = "(nothing)"
	}
	c.req.Turns = append(c.req.Turns,
		model.Turn{By: model.Assistant, Text: text},
		model.Turn{By: model.User, Text: fmt.Sprintf("That can not be used: %s. Answer again, with one JSON object that fits the schema above and nothing else.", reason(why))})
}

// reason is an error in the words for the model.
func reason(err error) string {
	var refusal *answer.Error
	if errors.As(err, &refusal) {
		return strings.TrimPrefix(err.Error(), "the answer can not be used: ")
	}
	return err.Error()
}

func (c *talk) unusable(r model.Response, why error) error {
	return &think.UnusableError{Role: string(c.p.Role), Model: c.t.client.Model(), Why: reason(why), Raw: said(r)}
}
