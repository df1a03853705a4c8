package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"orch/blackboard"
	"orch/roles/act/process"
	"orch/roles/memory"
	"orch/roles/run/config"
)

// memoryDir is where the index of what was learned is.
func memoryDir(root string) string {
	return filepath.Join(root, blackboard.DirName, blackboard.MemoryDir)
}

// memoryOptions are the store's thresholds and its clock.
func memoryOptions(cfg config.Config, now func() time.Time) memory.Options {
	m := cfg.Memory
	return memory.Options{Now: now, Params: memory.Params{
		Notice: m.Notice, Lean: m.Lean, Forget: m.Forget,
		PromoteAttract: m.PromoteAttention, PromoteDecision: m.PromoteDecision, BankruptK: m.BankruptK,
	}}
}

// lookIn opens the memory to look something up as of a time. Where a resident
// has the store, or the store is damaged, the look is taken at one that is made
// from the log for it, and removed afterwards.
func (a *app) lookIn(ctx context.Context, asOf string, look func(*memory.Store, time.Time) error) error {
	now, err := parseAsOf(asOf, time.Now())
	if err != nil {
		return err
	}
	root, err := a.root()
	if err != nil {
		return err
	}
	cfg, err := a.config(root)
	if err != nil {
		return err
	}
	b, err := a.read()
	if err != nil {
		return err
	}
	defer b.Close()
	o := memoryOptions(cfg, func() time.Time { return now })
	s, err := memory.Open(memoryDir(root), o)
	if err == nil {
		if err = s.CatchUp(ctx, b.Messages); err == nil {
			return errors.Join(look(s, now), s.Close())
		}
		err = errors.Join(err, s.Close())
	}
	var held *memory.HeldError
	var corrupt *memory.CorruptError
	switch {
	case errors.As(err, &held):
	case errors.As(err, &corrupt):
		a.warn(corrupt)
	default:
		return err
	}
	return lookAtCopy(ctx, b, o, func(s *memory.Store) error { return look(s, now) })
}

// lookAtCopy makes a store from the log for one look.
func lookAtCopy(ctx context.Context, b *blackboard.Board, o memory.Options, look func(*memory.Store) error) error {
	dir, err := process.MakeTemp()
	if err != nil {
		return fmt.Errorf("make a place for a copy of the memory: %w", err)
	}
	defer os.RemoveAll(dir)
	s, err := memory.Open(filepath.Join(dir, "memory"), o)
	if err != nil {
		return err
	}
	if err := s.CatchUp(ctx, b.Messages); err != nil {
		return errors.Join(err, s.Close())
	}
	return errors.Join(look(s), s.Close())
}

// parseAsOf reads a point in time: empty for now, "200d" or "36h" from now, a
// date, or a time.
func parseAsOf(text string, now time.Time) (time.Time, error) {
	text = strings.TrimPrefix(text, "+")
	if text == "" {
		return now, nil
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.ParseFloat(days, 64); err == nil {
			return now.Add(time.Duration(n * float64(24*time.Hour))), nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil {
		return now.Add(d), nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, usagef("for example --as-of 200d, --as-of 2026-12-31 or --as-of 2026-12-31T18:00:00Z", "%q is no time", text)
}

// parsePair reads a pair as people type it: "APPROACH on TARGET", an intent
// space, or SPACE and ENTITY as they are filed, with a space in between.
func parsePair(args []string) (memory.Pair, error) {
	text := strings.Join(args, " ")
	approach, target, ok := strings.Cut(text, " on ")
	switch {
	case len(args) == 2:
		return memory.Pair{Space: args[0], Entity: args[1]}, nil
	case strings.HasPrefix(text, "intent:"), strings.HasPrefix(text, "fact:"):
		return memory.Pair{Space: text, Entity: localEntity}, nil
	case ok:
		return memory.Pair{Space: "tool:" + approach, Entity: "path:" + target}, nil
	}
	return memory.Pair{}, usagef("orch memory query \"rerun on go test ./...\", or orch memory query intent:make_the_tests", "%q is no pair", text)
}

// pairName is how people read a pair, and type it.
func pairName(p memory.Pair) string {
	approach, isTool := strings.CutPrefix(p.Space, "tool:")
	target, isPath := strings.CutPrefix(p.Entity, "path:")
	switch {
	case isTool && isPath:
		return approach + " on " + target
	case p.Entity == localEntity:
		return p.Space
	}
	return p.Space + " " + p.Entity
}
