package view

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"orch/blackboard"
	"orch/blackboard/journal"
	"orch/blackboard/message"
)

// Status says what Import found and did.
type Status string

// The statuses. After Imported, Restored and Refused there may be another edit:
// call Import again until it says Clean or Waiting.
const (
	Clean    Status = "clean"    // nobody edited the view
	Waiting  Status = "waiting"  // somebody saved it just now; try again at Until
	Imported Status = "imported" // the difference was appended as one HumanEdit
	Restored Status = "restored" // nothing was said in it; the view is fresh again
	Refused  Status = "refused"  // Why says the reason, Kept where the file is
)

// Result is what became of an edit.
type Result struct {
	Status  Status
	BaseSeq uint64          // the seq the edited file stated
	Message message.Message // of an imported edit
	Edits   []message.Edit
	Until   time.Time
	Line    int    // where it was refused, 0 if nowhere in particular
	Why     string // why it was refused, or what of an imported file was not taken
	Kept    string // the file with the person's bytes, if not all of them were taken in
}

// Refusal is the message that logs a refused edit.
func (r Result) Refusal() message.HumanEditRefused {
	return message.HumanEditRefused{BaseSeq: r.BaseSeq, Kept: filepath.Base(r.Kept), Why: r.Why}
}

// Hint says what a person can do about a refusal.
func (r Result) Hint() string {
	if r.Why == "" {
		return ""
	}
	return "in state.yaml only human_notes, priority and status from BLOCKED to ABANDONED can be edited, for more: orch task edit TASK; your file is " + r.Kept
}

// errNothing ends an append that has nothing to say.
var errNothing = errors.New("the edit says nothing new")

// Import takes in one edit of the view: the difference of the file to the view
// of the seq it states, merged with what happened since, becomes one HumanEdit.
// Then the view is fresh again. An error leaves the edit where it is; Import
// can be called again, after a crash as well: what was appended already is not
// appended twice.
func (k *Keeper) Import(ctx context.Context, b Board) (Result, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	unlock, err := k.lockWrite(ctx)
	if err != nil {
		return Result{}, err
	}
	res, err := k.importOne(ctx, b)
	return res, unlock(err)
}

func (k *Keeper) importOne(ctx context.Context, b Board) (Result, error) {
	saved, err := k.files.settle()
	if err != nil {
		return Result{}, err
	}
	if !saved.edited() {
		if saved, err = k.files.read(k.files.path()); err != nil {
			return Result{}, err
		}
		if Sealed(saved.data) {
			return Result{Status: Clean}, nil
		}
	}
	if until := k.quietAt(saved); !until.IsZero() {
		return Result{Status: Waiting, Until: until}, nil
	}
	res := Result{Status: Restored}
	if saved.edited() {
		if res, err = k.takeIn(ctx, b, saved.data); err != nil {
			return Result{}, err
		}
	}
	if res.Why != "" {
		if res.Kept, err = k.files.keep(saved, k.c.Clock.Now()); err != nil {
			return Result{}, err
		}
	}
	return res, k.putBack(ctx, b, saved)
}

// quietAt is when the file will have been left alone for long enough; zero if
// it has. A time in the future is a clock that jumped, not a save.
func (k *Keeper) quietAt(saved found) time.Time {
	if saved.missing {
		return time.Time{}
	}
	quiet := time.Duration(k.c.QuietMS) * time.Millisecond
	age := k.c.Clock.Now().Sub(saved.info.ModTime())
	if age >= quiet || age < -quiet {
		return time.Time{}
	}
	return saved.info.ModTime().Add(quiet)
}

// takeIn appends what the file says. What cannot be taken in is a refusal, not
// an error.
func (k *Keeper) takeIn(ctx context.Context, b Board, data []byte) (Result, error) {
	res := Result{}
	res.BaseSeq, _ = SeqOf(data)
	list, remarks, err := k.read(ctx, b, data)
	var why *EditError
	if err == nil {
		res.Message, err = b.AppendFunc(ctx, func(now State) (message.Message, error) {
			edits, err := merge(list, now)
			if err == nil && len(edits) == 0 {
				err = errNothing
			}
			res.Edits = edits
			return humanEdit(res.BaseSeq, edits), err
		})
	}
	switch {
	case errors.Is(err, errNothing):
		res.Status, res.Message = Restored, message.Message{}
	case err == nil:
		res.Status = Imported
	case errors.As(err, &why):
		return Result{Status: Refused, BaseSeq: res.BaseSeq, Line: why.Line, Why: why.Error()}, nil
	case refusedByBoard(err):
		return Result{Status: Refused, BaseSeq: res.BaseSeq, Why: err.Error()}, nil
	default:
		return Result{}, fmt.Errorf("take in the edit of the view: %w", err)
	}
	if len(remarks) > 0 {
		res.Why = fmt.Sprintf("comments are not kept in this file, write human_notes: %s", clip(strings.Join(remarks, " / "), maxTextRunes))
		if res.Status == Restored {
			res.Status = Refused
		}
	}
	return res, nil
}

// refusedByBoard tells whether the board will never take this edit, from whether
// it cannot now.
func refusedByBoard(err error) bool {
	return errors.As(err, new(*blackboard.RefusedError)) || errors.As(err, new(*blackboard.TransitionError)) ||
		errors.As(err, new(*journal.TooLongError))
}

func humanEdit(base uint64, edits []message.Edit) message.Message {
	m := message.Message{From: message.Human, Body: message.HumanEdit{BaseSeq: base, Edits: edits}}
	if len(edits) > 0 && edits[0].Task == edits[len(edits)-1].Task { // edits are in the order of the tasks
		m.Subject = string(edits[0].Task)
	}
	return m
}

// read finds what a person changed in the file, and their comments.
func (k *Keeper) read(ctx context.Context, b Board, data []byte) ([]wish, []string, error) {
	theirs, err := parse(data)
	if err != nil {
		return nil, nil, err
	}
	if olderForm(data) {
		return nil, nil, &EditError{Field: "format", Why: fmt.Sprintf("is %d, the form of an earlier version of orch; look at the new file and edit again", FormatOf(data))}
	}
	state, err := baseOf(ctx, b, statedSeq(theirs.Content[0]))
	if err != nil {
		return nil, nil, err
	}
	base, err := parse(Render(state, k.c.Show))
	if err == nil {
		err = state.Err()
	}
	if err != nil {
		return nil, nil, fmt.Errorf("render the view that was edited: %v", err) // it is not the person's fault: no EditError
	}
	list, err := wishes(differences(base, theirs), base.Content[0], state)
	return list, newComments(base, theirs), err
}

// statedSeq is where a file says which seq it was made from; nil if nowhere.
func statedSeq(root *yaml.Node) *yaml.Node {
	for _, key := range []string{bookkeepingKey, "log", "seq"} {
		if root = child(root, key); root == nil {
			return nil
		}
	}
	return root
}

// baseOf is the state that the person saw.
func baseOf(ctx context.Context, b Board, stated *yaml.Node) (State, error) {
	if stated == nil || stated.Kind != yaml.ScalarNode {
		return nil, &EditError{Field: "seq", Why: "the file does not say any more which seq it was made from"}
	}
	head, err := headOf(ctx, b)
	if err != nil {
		return nil, err
	}
	seq, err := strconv.ParseUint(stated.Value, 10, 64)
	if err != nil || seq == 0 || seq > head {
		return nil, &EditError{Line: stated.Line, Field: "seq", Why: fmt.Sprintf("is %s, which is no message of the log; it ends at %d", oneLine(stated.Value), head)}
	}
	state, err := b.StateAt(ctx, seq)
	var gone *blackboard.HistoryError
	if errors.As(err, &gone) {
		return nil, &EditError{Line: stated.Line, Field: "seq", Why: gone.Error()}
	}
	if err != nil {
		return nil, fmt.Errorf("fold the log up to %d: %w", seq, err)
	}
	return state, nil
}

// putBack replaces the file that was judged by a fresh view. If the person has
// saved again meanwhile, that file is left for the next Import.
func (k *Keeper) putBack(ctx context.Context, b Board, judged found) error {
	data, _, err := k.render(ctx, b)
	if err != nil {
		return err
	}
	if judged.name == k.files.swap() {
		now, err := k.files.read(judged.name)
		if err != nil || !bytes.Equal(now.data, judged.data) {
			return err
		}
		if err := k.files.drop(judged.name); err != nil {
			return err
		}
		_, err = k.put(data)
		return err
	}
	displaced, err := k.files.replace(data)
	if err != nil || displaced.missing {
		return err
	}
	if displaced.edited() && !bytes.Equal(displaced.data, judged.data) {
		return nil
	}
	if err := k.files.drop(k.files.swap()); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
