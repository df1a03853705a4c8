package codereviewer

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"orch/roles/act/check"
	"orch/roles/act/emptied"
	"orch/roles/act/ledger"
	"orch/roles/act/weaken"
	"orch/roles/act/workspace"
)

// The kinds of findings that come of emptying.
const (
	noLongerNoticed weaken.Kind = "no_longer_noticed"
	changeUnnoticed weaken.Kind = "change_not_noticed"
	unnoticed       weaken.Kind = "function_not_noticed"
)

// source is one changed file of code that is no test.
type source struct {
	name        string
	before, now []byte // nil: not there
}

// sources reads the changed code.
func (s *suite) sources(ctx context.Context, changed []string) (all []source, err error) {
	for _, name := range changed {
		if !weaken.IsCodeFile(name) {
			continue
		}
		f := source{name: name}
		for _, side := range []struct {
			at   workspace.Commit
			into *[]byte
		}{{workspace.Commit(s.task.Base), &f.before}, {s.commit, &f.now}} {
			text, ok, err := s.w.Repo.Show(ctx, side.at, name)
			if err != nil {
				return nil, err
			}
			if ok {
				*side.into = text
			}
		}
		if f.now != nil {
			all = append(all, f)
		}
	}
	return all, nil
}

// proof is what emptying showed of each changed function that was tried.
type proof struct {
	tried   []emptied.Change
	noticed []bool
	left    int // not tried, for want of time or because there are too many
}

// prove takes the changed functions out one by one, and tells of what no test
// noticed.
func (s *suite) prove(ctx context.Context, files []source) ([]weaken.Finding, error) {
	var all []emptied.Change
	for _, f := range files {
		all = append(all, emptied.Changes(f.name, f.before, f.now)...)
	}
	emptied.Sort(all)
	most := min(len(all), s.e.Config.Checks.EmptiedMax)
	if most == 0 {
		return nil, nil
	}
	p, err := s.without(ctx, s.commit, all[:most], s.own)
	if err != nil {
		return nil, err
	}
	p.left += len(all) - most
	lost, err := s.atBase(ctx, p, files)
	if err != nil {
		return nil, err
	}
	return p.findings(lost), nil
}

// without runs the suite on a checkout of a commit without each of some parts,
// one at a time, while there is time for it.
func (s *suite) without(ctx context.Context, c workspace.Commit, parts []emptied.Change, whole ledger.Ledger) (p proof, err error) {
	limit := time.Duration(s.e.Config.Checks.SuiteMaxMS) * time.Millisecond
	err = s.checkedOut(ctx, c, func(dir string) error {
		began := s.e.Clock.Now()
		for i, part := range parts {
			if took := s.e.Clock.Now().Sub(began); i > 0 && took+took/time.Duration(i) > limit {
				p.left = len(parts) - i
				return nil
			}
			noticed, tried, err := s.one(ctx, dir, part, whole)
			if err != nil {
				return err
			}
			if tried {
				p.tried, p.noticed = append(p.tried, part), append(p.noticed, noticed)
			}
		}
		return nil
	})
	return p, err
}

// one runs the suite without one part, and puts the part back.
func (s *suite) one(ctx context.Context, dir string, part emptied.Change, whole ledger.Ledger) (noticed, tried bool, err error) {
	at := filepath.FromSlash(part.File)
	root, err := os.OpenRoot(dir)
	if err != nil {
		return false, false, err
	}
	defer root.Close()
	kept, err := root.ReadFile(at)
	if err == nil {
		err = root.WriteFile(at, part.Text, 0o644)
	}
	if err != nil {
		return false, false, fmt.Errorf("empty %s in %s: %w", part.Name, part.File, err)
	}
	v, l, err := s.judged(ctx, dir, nil)
	if err != nil {
		return false, false, err
	}
	noticed, tried = noticedBy(part, whole, v, l)
	return noticed, tried, root.WriteFile(at, kept, 0o644)
}

// noticedBy tells whether a test that passed no longer does without a part, and
// whether that says anything: a program that does not compile does not.
func noticedBy(part emptied.Change, whole ledger.Ledger, v check.Verdict, l ledger.Ledger) (noticed, tried bool) {
	if !whole.Known() {
		return !v.Pass, part.Whole || v.Pass
	}
	if !l.Known() { // it was ended before it could say anything
		return !v.Pass, true
	}
	for _, suite := range l.Broken() {
		if whole.Why(suite) == "" && (!part.Whole || l.Why(suite) == ledger.NotCompiled) {
			return false, false
		}
	}
	return slices.ContainsFunc(whole.All(ledger.Passed), func(n ledger.Name) bool {
		return !whole.IsShaky(n) && l.Of(n) != ledger.Passed && l.Of(n) != ledger.Skipped
	}), true
}

// atBase tells which of the functions that no test notices now one did at the
// base.
func (s *suite) atBase(ctx context.Context, p proof, files []source) (lost []string, err error) {
	var parts []emptied.Change
	for i, part := range p.tried {
		at := slices.IndexFunc(files, func(f source) bool { return f.name == part.File })
		if p.noticed[i] || !part.Whole || files[at].before == nil {
			continue
		}
		if text, ok := emptied.At(part.File, files[at].before, part.Name); ok {
			part.Text = text
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		return nil, nil
	}
	then, err := s.without(ctx, workspace.Commit(s.task.Base), parts, s.base)
	for i, part := range then.tried {
		if then.noticed[i] {
			lost = append(lost, part.File+" "+part.Name)
		}
	}
	return lost, err
}

// findings are what a proof has against the change.
func (p proof) findings(lost []string) (all []weaken.Finding) {
	var files []string
	for i, part := range p.tried {
		if p.noticed[i] {
			continue
		}
		f := weaken.Finding{Kind: unnoticed, File: part.File, Subject: part.Name, Line: 1, What: "no test fails when " + part.Name + " is emptied"}
		if slices.Contains(lost, part.File+" "+part.Name) {
			f.Kind, f.Sure = noLongerNoticed, true
			f.What = "its test no longer notices: no test fails when " + part.Name + " is emptied, and one did at the base"
			f.Fix = "let a test fail again when " + part.Name + " does nothing"
		}
		all, files = append(all, f), append(files, part.File)
	}
	if len(p.tried) == 0 || slices.Contains(p.noticed, true) {
		return all
	}
	what := fmt.Sprintf("the tests do not notice this change: %d of its functions were emptied, one at a time, and no test failed", len(p.tried))
	if p.left > 0 {
		what += fmt.Sprintf(" (%d smaller ones were not tried)", p.left)
	}
	return append(all, weaken.Finding{Kind: changeUnnoticed, File: slices.Min(files), Line: 1, What: what, Sure: true,
		Fix: "add a test that fails without the change"})
}
