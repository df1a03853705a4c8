package workspace

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"orch/roles/act/process"
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
		held, err := r.held(ctx, tip, ref)
		if err == nil && held {
			continue
		}
		if err := r.bring(ctx, borrowed, tip, ref); err != nil {
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

// held tells whether a ref holds a commit. The one that is likely to is asked
// first: of all the others there are some for each task.
func (r Repo) held(ctx context.Context, c Commit, likely string) (bool, error) {
	for _, where := range [][]string{{likely}, {}} {
		out, err := git(ctx, r.Dir, append([]string{"for-each-ref", "--count=1", "--format=x", "--contains", string(c)}, where...)...)
		if err != nil || out != "" {
			return err == nil, err
		}
	}
	return false, nil
}

// bring copies the objects a commit needs into the repository, each one
// checked, and none of the workspace's settings read. What is pinned below near
// is there already, as are the branches: these are not copied again.
func (r Repo) bring(ctx context.Context, borrowed call, head Commit, near string) error {
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
	// Not all refs: each task leaves some, and each one named is looked up.
	have, err := git(ctx, r.Dir, "for-each-ref", "--format=^%(objectname)", "refs/heads", "refs/tags", "refs/remotes", near)
	if err != nil {
		return err
	}
	pack := borrowed.with("pack-objects", "--revs", "--stdout", "--quiet", "--delta-base-offset")
	pack.stdin, pack.out = strings.NewReader(string(head)+"\n"+have+"\n"), file
	if _, err := pack.run(ctx); err != nil {
		return err
	}
	objects, err := packed(file)
	if err != nil || objects == 0 {
		return err
	}
	// A pack for each task would make every later git look into all of them;
	// what is lying around loose is found by its name.
	args := []string{"index-pack", "--stdin", "--strict", "--fix-thin"}
	if objects < packFrom {
		args = []string{"-c", "core.fsync=committed", "unpack-objects", "-q", "--strict"}
	}
	_, err = call{dir: r.Dir, stdin: file, args: args}.run(ctx)
	return err
}

// packFrom is the number of objects from which on a pack is kept as one, as
// git itself has it for what is fetched.
const packFrom = 100

// packed is the number of objects in a pack, which is left at its beginning.
func packed(file io.ReadSeeker) (uint32, error) {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return 0, err
	}
	var head [12]byte // "PACK", version, number of objects
	if _, err := io.ReadFull(file, head[:]); err != nil {
		return 0, fmt.Errorf("read what was packed: %w", err)
	}
	_, err := file.Seek(0, io.SeekStart)
	return binary.BigEndian.Uint32(head[8:]), err
}
