package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/blackboard/plainfile"
	"orch/blackboard/view"
)

// editTask opens a task's editable fields, checks what comes back, and sends
// the difference. The lock of the board is not held while the editor is open.
func (a *app) editTask(ctx context.Context, name, editor string) error {
	b, err := a.open(person())
	if err != nil {
		return err
	}
	defer b.Close()
	var t blackboard.Task
	var seq uint64
	err = b.View(ctx, func(st *blackboard.State) error {
		var err error
		seq, _ = st.Head()
		t, err = resolveTask(st, name)
		return err
	})
	if err != nil {
		return err
	}
	old := view.EditableYAML(t)
	edited, err := a.edited(b.Board, t, old, editor)
	if err != nil {
		return err
	}
	if bytes.Equal(old, edited) {
		return a.report(map[string]any{"version": 1, "task": t.ID, "edits": 0}, "nothing was changed")
	}
	edits, err := view.ParseEdited(t, edited)
	if err != nil {
		kept := filepath.Join(b.Dir(), "edit.rejected-"+short(string(t.ID))+".yaml")
		return errors.Join(usagef("mend "+kept+" and run orch task edit again", "%s", err), os.WriteFile(kept, edited, 0o644))
	}
	_, err = b.Append(ctx, message.Message{From: message.Human, To: message.All, Goal: t.Goal, Subject: string(t.ID),
		Body: message.HumanEdit{BaseSeq: seq, Edits: edits}})
	if err != nil {
		return err
	}
	return a.report(map[string]any{"version": 1, "task": t.ID, "edits": len(edits)}, "%s: changed %s", t.ID, count(len(edits), "field"))
}

// edited is what the person's editor left of a text.
func (a *app) edited(b *blackboard.Board, t blackboard.Task, text []byte, editor string) ([]byte, error) {
	dir, err := os.MkdirTemp(filepath.Join(b.Dir(), blackboard.RunDir), "edit-")
	if err != nil {
		return nil, fmt.Errorf("make a file to edit: %w", err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, short(string(t.ID))+".yaml")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return nil, fmt.Errorf("make a file to edit: %w", err)
	}
	if err := a.runEditor(editor, path); err != nil {
		return nil, err
	}
	return plainfile.Read(path)
}

// acceptEdit takes in a person's edit of state.yaml that waits.
func (a *app) acceptEdit(ctx context.Context) error {
	b, err := a.open(person())
	if err != nil {
		return err
	}
	defer b.Close()
	// A save that is still being written is not quiet yet; it soon is.
	time.Sleep(view.DefaultQuietMS * time.Millisecond)
	edits, err := b.takeIn(ctx)
	if err != nil {
		return err
	}
	return a.report(map[string]any{"version": 1, "edits": edits}, "%s taken in", count(edits, "edit"))
}
