package step

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"orch/blackboard/message"
)

// SayResult appends an execution's result. If the claim was lost meanwhile the
// result is kept in the goal's folder, the log says where, and ErrLate is
// returned: nothing is undone and nothing counts twice.
func (e *Env) SayResult(ctx context.Context, cause message.ID, r message.ExecutionResult) error {
	_, err := e.SayAs(ctx, e.Key.Role, cause, r)
	if err == nil || !Late(err) {
		return err
	}
	return e.KeepLate(ctx, r)
}

// KeepLate keeps a result whose claim is lost.
func (e *Env) KeepLate(ctx context.Context, r message.ExecutionResult) error {
	artefact, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("write late result: %w", err)
	}
	hash, err := e.Board.PutBlob(e.Goal, artefact)
	if err != nil {
		return err
	}
	_, err = e.Say(ctx, message.LateResult{Task: r.SubtaskID, Fence: e.Fence, Hash: hash, Status: r.Status, Output: Cut(r.Output, EvidenceBytes)})
	return errors.Join(ErrLate, err)
}
