package workspace

import (
	"bytes"
	"context"
	"fmt"
	"strings"
)

// Candidate is a merge that could be made. Nothing has moved yet.
type Candidate struct {
	Base, Ours, Theirs Commit
	Commit             Commit   // the merge commit; empty when there are conflicts
	Tree               string   // of the merge commit
	Conflicts          []string // paths both sides changed in ways that do not fit
}

// TryMerge merges theirs into ours in the object store only: no working tree
// and no ref is touched.
func (r Repo) TryMerge(ctx context.Context, ours, theirs Commit, said Leftover) (Candidate, error) {
	c := Candidate{Ours: ours, Theirs: theirs}
	base, err := git(ctx, r.Dir, "merge-base", string(ours), string(theirs))
	if err != nil {
		return c, fmt.Errorf("find where %.12s and %.12s parted: %w", ours, theirs, err)
	}
	c.Base = Commit(base)
	out, err := call{dir: r.Dir, args: []string{"merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", string(ours), string(theirs)}}.run(ctx)
	if err != nil && !no(err) {
		return c, fmt.Errorf("merge %.12s into %.12s: %w", theirs, ours, err)
	}
	named := paths(out)
	if len(named) == 0 {
		return c, fmt.Errorf("merge %.12s into %.12s: git named no tree", theirs, ours)
	}
	if no(err) {
		c.Conflicts = named[1:]
		return c, nil
	}
	c.Tree = named[0]
	c.Commit, err = call{dir: r.Dir}.commit(ctx, c.Tree, said, ours, theirs)
	if err != nil {
		return c, fmt.Errorf("merge %.12s into %.12s: %w", theirs, ours, err)
	}
	return c, nil
}

// Lost checks a merge by another way than the one that made it: what a side
// added must be there, what it removed must be gone, a file only one side
// changed must be that side's file, and of a file both changed, every line a
// side added must be there and every line a side removed must be gone, as often
// as that side did so. It names the paths where that does not hold.
func (r Repo) Lost(ctx context.Context, c Candidate) ([]string, error) {
	var sides [3]map[string]change
	for i, to := range []Commit{c.Ours, c.Theirs, c.Commit} {
		var err error
		if sides[i], err = r.changes(ctx, c.Base, to); err != nil {
			return nil, err
		}
	}
	ours, theirs, merged := sides[0], sides[1], sides[2]
	var lost, unsure []string
	for _, side := range []struct{ own, other map[string]change }{{ours, theirs}, {theirs, ours}} {
		for path, did := range side.own {
			other, shared := side.other[path]
			switch is := merged[path]; {
			case is.blob == did.blob:
			case shared && did.status != "D" && (is.status == "M" || other.status == "D"), did.status == "A" && is.status == "A":
				unsure = append(unsure, path) // both changed it, or one side moved it: its lines tell
			default:
				lost = append(lost, path)
			}
		}
	}
	if len(lost) > 0 || len(unsure) == 0 {
		return lost, nil
	}
	return r.lostLines(ctx, c, unsure)
}

// lostLines decides what objects alone can not: files both sides changed, and
// files one side moved and the other changed.
func (r Repo) lostLines(ctx context.Context, c Candidate, suspects []string) ([]string, error) {
	var counts [3]lines
	for i, side := range []Commit{c.Ours, c.Theirs, c.Commit} {
		diff, err := call{dir: r.Dir, args: []string{"diff", "--unified=0", "--no-ext-diff", "--no-textconv", "--no-color", "--find-renames", "--text", string(c.Base), string(side)}}.run(ctx)
		if err != nil {
			return nil, fmt.Errorf("compare %.12s and %.12s: %w", c.Base, side, err)
		}
		counts[i] = countLines(diff)
	}
	if counts[2].covers(counts[0]) && counts[2].covers(counts[1]) {
		return nil, nil
	}
	return suspects, nil
}

// change is what became of a path.
type change struct {
	status string // A, D, M or T, as git says
	blob   string // mode and object; zeros when it is gone
}

// changes maps each path that differs between two commits.
func (r Repo) changes(ctx context.Context, from, to Commit) (map[string]change, error) {
	out, err := call{dir: r.Dir, args: []string{"diff-tree", "-r", "-z", "--no-renames", "--no-commit-id", string(from), string(to)}}.run(ctx)
	if err != nil {
		return nil, fmt.Errorf("compare %.12s and %.12s: %w", from, to, err)
	}
	found := map[string]change{}
	fields := paths(out)
	for i := 0; i+1 < len(fields); i += 2 {
		meta := strings.Fields(fields[i])
		if len(meta) < 5 {
			return nil, fmt.Errorf("compare %.12s and %.12s: git said %q", from, to, fields[i])
		}
		found[fields[i+1]] = change{meta[4], meta[1] + " " + meta[3]}
	}
	return found, nil
}

// lines counts how often a line was added (positive) or removed.
type lines struct{ added, removed map[string]int }

func countLines(diff []byte) lines {
	n := lines{map[string]int{}, map[string]int{}}
	header := true
	for line := range bytes.SplitSeq(diff, []byte{'\n'}) {
		switch {
		case bytes.HasPrefix(line, []byte("diff --git ")):
			header = true
		case bytes.HasPrefix(line, []byte("@@ ")):
			header = false
		case header || len(line) == 0:
		case line[0] == '+':
			n.added[string(line[1:])]++
		case line[0] == '-':
			n.removed[string(line[1:])]++
		}
	}
	return n
}

// covers tells whether everything a side did is in n. A line that a side both
// removed and added, such as a moved one, counts by the difference.
func (n lines) covers(side lines) bool {
	for line, k := range side.added {
		if k -= side.removed[line]; k > 0 && n.added[line]-n.removed[line] < k {
			return false
		}
	}
	for line, k := range side.removed {
		if k -= side.added[line]; k > 0 && n.removed[line]-n.added[line] < k {
			return false
		}
	}
	return true
}
