package playbook

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"orch/blackboard/lazyregexp"
	"orch/blackboard/message"
	"orch/roles/think"
)

// Name is the backend's name in the configuration.
const Name = "playbook"

// Options are what a backend is made of. Only Library is required.
type Options struct {
	Library *Library
	Orch    string                                     // path of the running orch, for ${orch}
	Home    string                                     // the person's home, for ~/
	Facts   func(dir string) Facts                     // nil: Workspace with the PATH of this process
	Sleep   func(context.Context, time.Duration) error // nil: a timer
}

// Backend thinks with playbooks. It perceives, plans, executes and merges; it
// never judges. It keeps nothing between calls.
type Backend struct{ opt Options }

// New checks the options.
func New(opt Options) (*Backend, error) {
	if opt.Library == nil {
		return nil, errors.New("a playbook backend needs a library")
	}
	if opt.Facts == nil {
		opt.Facts = func(dir string) Facts { return Workspace(dir, nil) }
	}
	if opt.Sleep == nil {
		opt.Sleep = sleep
	}
	return &Backend{opt}, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

var declarative = lazyregexp.New(`(?i)^\s*((please\s+)?(remember|note|keep in mind)(\s+that)?|always|never|from now on)\b`)

// Declares tells whether words are a fact to remember rather than work to do.
func Declares(words string) bool { return declarative.MatchString(words) }

// Perceive takes the person's words as they are: a playbook either fits them or
// doesn't (*NoMatchError, *UnknownError). It asks no questions.
func (b *Backend) Perceive(ctx context.Context, in think.PerceiveInput) (think.Perception, error) {
	if err := ctx.Err(); err != nil {
		return think.Perception{}, err
	}
	intent := sentence(in.Input.Text)
	if in.Input.Playbook == "" && Declares(in.Input.Text) {
		return think.Perception{Intent: intent, Tags: []string{}, Declarative: true}, nil
	}
	p, err := b.opt.Library.For(in.Input.Playbook, in.Input.Text)
	if err != nil {
		return think.Perception{}, err
	}
	out := think.Perception{Intent: intent, Tags: append([]string{p.Name}, p.Tags...)}
	if dir := cleanPath(p.fromIntent(in.Input.Text).text("dir"), b.opt.Home); dir != "" {
		out.Constraints.Scope = &dir
	}
	return out, nil
}

// sentence makes one line of a person's words.
func sentence(s string) string {
	if one := cut(s, 400); one != "" {
		return one
	}
	return strings.TrimSpace(s)
}

// Merge joins the outputs of matched tasks under the name of their slot.
func (b *Backend) Merge(ctx context.Context, in think.MergeInput) (think.Merged, error) {
	if err := ctx.Err(); err != nil {
		return think.Merged{}, err
	}
	var parts, slots []string
	for _, o := range in.Outcomes {
		if o.Status != message.Matched {
			continue
		}
		slots = append(slots, fmt.Sprintf("%s by %s", o.Slot, o.Approach))
		if text := strings.TrimSpace(o.Output); text != "" {
			parts = append(parts, "## "+o.Slot+"\n\n"+text)
		}
	}
	return think.Merged{
		Summary: fmt.Sprintf("%d of %d tasks matched: %s", len(slots), len(in.Outcomes), strings.Join(slots, ", ")),
		Output:  strings.Join(parts, "\n\n"),
	}, nil
}

// maxMoves bounds the advice after a goal was given up.
const maxMoves = 3

// NextMoves says what a person could do after a goal was given up: the advice of
// the playbook that planned it, picked by the evidence of what failed.
func (b *Backend) NextMoves(in message.UserInput, evidence string) []string {
	p, err := b.opt.Library.For(in.Playbook, in.Text)
	if err != nil {
		return nil // it is gone, or was never there
	}
	var moves []string
	for _, n := range p.NextMoves {
		re, err := regexp.Compile("(?m)" + n.Seen)
		if err != nil {
			continue // Decode has refused it
		}
		m := re.FindStringSubmatch(evidence)
		if m == nil {
			continue
		}
		say := strings.TrimSpace(n.Say)
		if len(m) > 1 {
			say = strings.ReplaceAll(say, "$1", m[1])
		}
		if moves = append(moves, say); len(moves) == maxMoves {
			break
		}
	}
	return moves
}
