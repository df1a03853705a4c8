package workspace

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"orch/roles/process"
)

// TamperedError says that a workspace is no longer what was made.
type TamperedError struct{ Path, What string }

func (e *TamperedError) Error() string { return e.Path + ": " + e.What }

// RewrittenError says that the work no longer builds on its base.
type RewrittenError struct{ Base, Head Commit }

func (e *RewrittenError) Error() string {
	return fmt.Sprintf("commit %.12s does not build on %.12s, where the work began", e.Head, e.Base)
}

// Hint names what to do.
func (e *RewrittenError) Hint() string { return "git rebase --onto the base commit, then submit again" }

// unsound is how git says that an object is not what it has to be.
const unsound = "fsck error"

// whole tells why a workspace could not be read: because it is not whole any
// more, which is a *TamperedError, or for the reason that came up.
func (r Repo) whole(ctx context.Context, borrowed call, path string, head Commit, came error) error {
	if ctx.Err() != nil {
		return came
	}
	if strings.Contains(came.Error(), unsound) {
		return &TamperedError{path, came.Error()}
	}
	_, err := borrowed.text(ctx, "rev-list", "--objects", "--quiet", string(head))
	if err != nil && ctx.Err() == nil {
		return &TamperedError{path, fmt.Sprintf("objects that %.12s needs are gone", head)}
	}
	return came
}

// Salvage keeps the files of a workspace that Harvest finds tampered with, as
// one commit on the base that is pinned under ref; of what was committed there
// it knows nothing. Where no files are left it pins nothing, and the head is
// empty.
func (r Repo) Salvage(ctx context.Context, path, ref string, base Commit, left Leftover) (Harvested, error) {
	h := Harvested{Head: base}
	if info, err := os.Lstat(path); err != nil || !info.IsDir() {
		return Harvested{}, nil
	}
	seen, err := r.look(ctx, path, nil, base)
	if err != nil {
		return Harvested{}, fmt.Errorf("read what is in %s: %w", path, err)
	}
	defer seen.Close()
	have, err := r.Tree(ctx, base)
	if err != nil {
		return Harvested{}, err
	}
	if h.Left = have != seen.tree; h.Left {
		if h.Head, err = (call{dir: r.Dir}).commit(ctx, seen.tree, left, base); err != nil {
			return Harvested{}, fmt.Errorf("commit what was left in %s: %w", path, err)
		}
	}
	if err := r.Pin(ctx, ref, h.Head); err != nil {
		return Harvested{}, err
	}
	return h, r.describe(ctx, base, &h)
}

// Others brings over what a workspace has committed and no ref of the repository
// holds, such as commits of another branch, and pins it under names that begin
// with ref. What can not be read is left out. It returns the names.
func (r Repo) Others(ctx context.Context, path, ref string) (pinned []string, err error) {
	own, err := openOwn(path)
	if err != nil {
		return nil, nil // it has nothing that could be read
	}
	defer own.Close()
	borrowed := call{dir: r.Dir, env: []string{borrowing(own.objects())}}
	for _, tip := range own.tips() {
		if _, err := borrowed.text(ctx, "rev-parse", "--verify", "--quiet", string(tip)+"^{commit}"); err != nil {
			continue
		}
		had, err := git(ctx, r.Dir, "for-each-ref", "--count=1", "--format=x", "--contains", string(tip))
		if err == nil && had != "" {
			continue
		}
		if err := r.bring(ctx, borrowed, tip); err != nil {
			if ctx.Err() != nil {
				return pinned, ctx.Err()
			}
			continue
		}
		name := fmt.Sprintf("%s-%d", ref, len(pinned)+1)
		if err := r.Pin(ctx, name, tip); err != nil {
			return pinned, err
		}
		pinned = append(pinned, name)
	}
	return pinned, nil
}

// bring copies the objects a commit needs into the repository, each one
// checked, and none of the workspace's settings read.
func (r Repo) bring(ctx context.Context, borrowed call, head Commit) error {
	dir, err := process.MakeTemp()
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	file, err := os.Create(filepath.Join(dir, "pack"))
	if err != nil {
		return err
	}
	defer file.Close()
	have, err := git(ctx, r.Dir, "for-each-ref", "--format=^%(objectname)")
	if err != nil {
		return err
	}
	pack := borrowed.with("pack-objects", "--revs", "--stdout", "--quiet", "--delta-base-offset")
	pack.stdin, pack.out = strings.NewReader(string(head)+"\n"+have+"\n"), file
	if _, err := pack.run(ctx); err != nil {
		return err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, err = call{dir: r.Dir, stdin: file, args: []string{"index-pack", "--stdin", "--strict", "--fix-thin"}}.run(ctx)
	return err
}
