package workspace

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"strings"

	"orch/roles/act/contents"
)

// Contents is what a change from one commit to another consists of, and the
// commits it is made of that the branch does not have.
func (r Repo) Contents(ctx context.Context, from, to, branch Commit) (contents.Change, error) {
	var c contents.Change
	err := r.entries(ctx, from, to, &c)
	if err == nil {
		c.Passing, err = r.passing(ctx, from, to, branch)
	}
	if err == nil {
		c.Names, err = r.Files(ctx, to)
	}
	if err == nil {
		c.Commits, err = r.commits(ctx, from, to, branch)
	}
	if err != nil {
		return c, fmt.Errorf("see what %.12s consists of: %w", to, err)
	}
	return c, nil
}

// entries reads the paths that differ, with what is known of their objects.
func (r Repo) entries(ctx context.Context, from, to Commit, c *contents.Change) error {
	at := call{dir: r.common, bare: true, env: []string{"GIT_DIR=" + r.common}}
	raw, err := at.with("diff", "--raw", "-z", "--no-abbrev", "--no-renames", "--no-ext-diff", "--ignore-submodules=none", string(from), string(to)).run(ctx)
	if err != nil {
		return err
	}
	stats, err := at.with("diff", "--numstat", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none", string(from), string(to)).run(ctx)
	if err != nil {
		return err
	}
	binary := map[string]bool{}
	for _, line := range paths(stats) {
		if name, ok := strings.CutPrefix(line, "-\t-\t"); ok {
			binary[name] = true
		}
	}
	fields := paths(raw)
	var blobs []string
	for i := 0; i+1 < len(fields); i += 2 {
		meta := strings.Fields(strings.TrimPrefix(fields[i], ":"))
		if len(meta) < 5 {
			return fmt.Errorf("git said %q", fields[i])
		}
		c.Entries = append(c.Entries, contents.Entry{Path: fields[i+1], Old: meta[0], New: meta[1], Was: meta[2], Is: meta[3], Binary: binary[fields[i+1]]})
		blobs = append(blobs, meta[3])
	}
	return r.measure(ctx, blobs, c.Entries)
}

// measure fills in the sizes of blobs, and where links lead.
func (r Repo) measure(ctx context.Context, blobs []string, into []contents.Entry) error {
	out, err := call{dir: r.Dir, stdin: strings.NewReader(strings.Join(blobs, "\n") + "\n"), args: []string{"cat-file", "--batch-check=%(objecttype) %(objectsize)"}}.run(ctx)
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(bytes.NewReader(out))
	for i := range into {
		if !lines.Scan() {
			return fmt.Errorf("git said too little of %d objects", len(into))
		}
		// A submodule's commit is missing, and a file that is gone has no object.
		if _, err := fmt.Sscanf(lines.Text(), "blob %d", &into[i].Bytes); err != nil {
			continue
		}
		if into[i].IsLink() && into[i].Bytes <= smallBytes {
			target, err := call{dir: r.Dir, args: []string{"cat-file", "blob", blobs[i]}}.run(ctx)
			if err != nil {
				return err
			}
			into[i].Target = string(target)
		}
	}
	return lines.Err()
}

// passing lists the files of all commits of a change, as far as they are new,
// with their sizes: the history keeps also what its end does not have.
func (r Repo) passing(ctx context.Context, from, to, branch Commit) (all []contents.Entry, err error) {
	out, err := call{dir: r.Dir, stdin: strings.NewReader(rangeOf(from, to, branch)), args: []string{"rev-list", "--objects", "--stdin"}}.run(ctx)
	if err != nil {
		return nil, err
	}
	out, err = call{dir: r.Dir, stdin: bytes.NewReader(out), args: []string{"cat-file", "--batch-check=%(objecttype) %(objectsize) %(rest)"}}.run(ctx)
	for line := range strings.Lines(string(out)) {
		var e contents.Entry
		if n, _ := fmt.Sscanf(line, "blob %d", &e.Bytes); n == 1 {
			e.Path = strings.TrimSuffix(strings.SplitN(line, " ", 3)[2], "\n")
			all = append(all, e)
		}
	}
	return all, err
}

// rangeOf names, for --stdin, the commits of a change but for those of the branch.
func rangeOf(from, to, branch Commit) string {
	s := fmt.Sprintf("%s\n^%s\n", to, from)
	if branch != "" {
		s += fmt.Sprintf("^%s\n", branch)
	}
	return s
}

// Files lists the paths of all files of a commit.
func (r Repo) Files(ctx context.Context, of Commit) ([]string, error) {
	out, err := call{dir: r.Dir, args: []string{"ls-tree", "-r", "-z", "--full-tree", "--name-only", string(of)}}.run(ctx)
	return paths(out), err
}

// commits lists who made the commits of a change, but for those of the branch.
func (r Repo) commits(ctx context.Context, from, to, branch Commit) (all []contents.Commit, err error) {
	const each = "%H%x00%an <%ae>%x00%cn <%ce>"
	out, err := call{dir: r.Dir, stdin: strings.NewReader(rangeOf(from, to, branch)), args: []string{"log", "--stdin", "--no-show-signature", "--no-mailmap", "-z", "--format=" + each}}.run(ctx)
	if err != nil {
		return nil, err
	}
	fields := paths(out)
	for i := 0; i+2 < len(fields); i += 3 {
		all = append(all, contents.Commit{Hash: fields[i], Author: fields[i+1], Committer: fields[i+2]})
	}
	return all, nil
}
