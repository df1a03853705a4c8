package blackboard

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"orch/blackboard/journal"
	"orch/blackboard/message"
	"orch/blackboard/plainfile"
)

// RestoreOptions say what a board is put together from.
type RestoreOptions struct {
	Copy   string          // a backup: a log, a .orch, or a project; empty: what is here has to do
	Known  []journal.Known // heads that are remembered elsewhere than Known knows of
	Accept bool            // give up what is nowhere any more
}

// Restored says what Restore did.
type Restored struct {
	journal.Restored
	Moved   []string // what was no file although it had the name of one
	Files   int      // files that messages name and only the copy had
	GivenUp []string // files that messages name and nobody has
	New     bool     // no message was whole, and a new board was begun
}

// NoCopyError: there is no log where a copy was said to be.
type NoCopyError struct{ Path, Why string }

func (e *NoCopyError) Error() string {
	return fmt.Sprintf("there is no copy of a log in %s: %s", e.Path, e.Why)
}

// Restore puts the log of the project in root together again, and what messages
// refer to; see journal.Restore. It returns a journal.LossError, having changed
// nothing of the log, if something is gone and that is not accepted. What was done
// is a message of the log. The head that the user's state directory notes becomes
// the one of the new log.
func Restore(ctx context.Context, root string, o Options, r RestoreOptions) (Restored, error) {
	b := newBoard(root, o)
	var out Restored
	c, err := openCopy(r.Copy)
	if err != nil {
		return out, err
	}
	if out.Moved, err = moveNonFiles(root, o); err != nil {
		return out, err
	}
	if err := makeLayout(b.opts.FS, b.dir); err != nil {
		return out, err
	}
	if err := c.bring(b.dir, ArchiveDir, archivePrefix); err != nil {
		return out, err
	}
	known := append(Known(root, o), r.Known...)
	out.Restored, err = journal.Restore(ctx, b.dir, b.journalOptions(), journal.RestoreOptions{Known: known, Copies: c.logs, Accept: r.Accept, Fits: b.fits})
	if err != nil {
		return out, err
	}
	if err := b.forget(); err != nil {
		return out, err
	}
	if out.Head.Seq == 0 {
		out.New = true
		if err := b.beginAnew(); err != nil {
			return out, err
		}
	}
	return out, b.complete(ctx, c, r, &out)
}

// fits folds records and says how many the board takes. It refuses those that
// only a newer program understands: they are no damage.
func (b *Board) fits(records iter.Seq2[journal.Record, error]) (n int, err error) {
	s := NewState()
	for r, err := range records {
		if err != nil {
			return n, err
		}
		if n == 0 && r.Seq > 1 {
			return 0, nil // nobody can check what they follow from
		}
		_, err = fold(s, r)
		var newer *NewerFormatError
		if errors.As(err, &newer) {
			return n, err
		}
		if err != nil {
			return n, b.refuse(s)
		}
		n++
	}
	return n, b.refuse(s)
}

// forget removes the checkpoints in the cache: they may be of another log.
func (b *Board) forget() error {
	for _, name := range b.cached() {
		if err := b.opts.FS.Remove(b.path(CacheDir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("forget a checkpoint: %w", err)
		}
	}
	return nil
}

// beginAnew makes a log where there is nothing left of one.
func (b *Board) beginAnew() error {
	if at := noteAt(b.root, b.opts); at != "" {
		if err := b.opts.FS.Remove(at); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("forget the old log: %w", err)
		}
	}
	fresh, err := Init(b.root, b.opts)
	if err != nil {
		return err
	}
	return fresh.Close()
}

// complete brings back the files that messages name, notes the head, and says in
// the log what was done.
func (b *Board) complete(ctx context.Context, c copied, r RestoreOptions, out *Restored) error {
	if err := b.noteAnew(); err != nil {
		return err
	}
	board, err := Open(b.root, b.opts)
	if err != nil {
		return err
	}
	defer board.Close()
	report, err := board.Verify(ctx)
	if err != nil {
		return err
	}
	for _, missing := range report.Missing {
		if c.blob(missing, board) {
			out.Files++
			continue
		}
		out.GivenUp = append(out.GivenUp, missing.Hash)
	}
	if len(out.GivenUp) > 0 && !r.Accept {
		return fmt.Errorf("%d of the files that messages name are gone: %w", len(out.GivenUp), report.Missing[0])
	}
	if !out.Changed && out.LostTo == 0 && len(out.GivenUp) == 0 {
		return nil
	}
	_, err = board.log.Append(ctx, board.restored(c, *out), nil)
	return err
}

// noteAnew makes the notes outside say what the log is now, whatever they said.
func (b *Board) noteAnew() error {
	if !b.makeHeads() {
		return nil
	}
	without := b.opts
	without.StateDir = ""
	board, err := Open(b.root, without)
	if err != nil {
		return err
	}
	defer board.Close()
	head, err := board.log.Head()
	if err != nil {
		return err
	}
	for _, path := range []string{noteAt(b.root, b.opts), noteOf(board.id, b.opts)} {
		if err := journal.Note(path, board.id, head, b.journalOptions()); err != nil {
			return err
		}
	}
	return nil
}

// restored is the message about a restore.
func (b *Board) restored(c copied, out Restored) journal.Draft {
	body := message.JournalRepaired{FromSeq: out.Head.Seq + 1, Bytes: out.Bytes, LostTo: out.LostTo, From: c.path, Files: out.GivenUp,
		Why: "the log was put together again from its own lines"}
	if out.LostFrom > 0 {
		body.FromSeq = out.LostFrom
	}
	if c.path != "" {
		body.Why = fmt.Sprintf("the log was put together again; a copy had %d of its messages", out.Copied)
	}
	if out.Kept != "" {
		if kept, err := filepath.Rel(b.dir, out.Kept); err == nil {
			body.Kept = filepath.ToSlash(kept)
		}
	}
	payload, err := message.Encode(body)
	if err != nil { // not for a body of numbers and strings
		panic(err)
	}
	return journal.Draft{
		From: string(message.Board), To: string(message.All), Type: string(body.Type()),
		Agent: string(b.opts.Identity.Agent), Door: string(message.DoorBoard), Payload: b.opts.Redact(payload),
	}
}

// copied is a backup that a person named.
type copied struct {
	path string
	dir  string   // the .orch in it; empty if it is just a log
	logs []string // its segments
}

// openCopy finds the log in a copy: the file itself, a .orch, or a project's folder.
func openCopy(path string) (copied, error) {
	if path == "" {
		return copied{}, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return copied{}, &NoCopyError{path, "it does not exist"}
	}
	if info.Mode().IsRegular() {
		return copied{path: path, logs: []string{path}}, nil
	}
	for _, dir := range []string{path, filepath.Join(path, DirName)} {
		c := copied{path: path, dir: dir}
		for _, pattern := range []string{"log.jsonl", filepath.Join(ArchiveDir, "log-*.jsonl"), "log-*.jsonl"} {
			found, err := filepath.Glob(filepath.Join(globbed(dir), pattern))
			if err != nil {
				return copied{}, err
			}
			c.logs = append(c.logs, found...)
		}
		if len(c.logs) > 0 {
			return c, nil
		}
	}
	return copied{}, &NoCopyError{path, "neither log.jsonl nor " + DirName + " is in it"}
}

// globbed makes a path stand for itself in a pattern.
func globbed(path string) string {
	return strings.NewReplacer(`[`, `[[]`, `*`, `[*]`, `?`, `[?]`).Replace(path)
}

// bring copies files of one folder of the copy that are missing here. They are
// named by their content, and checked when they are used.
func (c copied) bring(to, folder, prefix string) error {
	if c.dir == "" {
		return nil
	}
	entries, err := os.ReadDir(filepath.Join(c.dir, folder))
	if err != nil {
		return nil // the copy has none
	}
	for _, e := range entries {
		target := filepath.Join(to, folder, e.Name())
		if !strings.HasPrefix(e.Name(), prefix) || !e.Type().IsRegular() {
			continue
		}
		if _, err := os.Stat(target); err == nil {
			continue
		}
		data, err := plainfile.Read(filepath.Join(c.dir, folder, e.Name()))
		if err != nil {
			return fmt.Errorf("read the copy: %w", err)
		}
		if err := journal.WriteFileAtomic(journal.OSFS{}, target, data, filePerm); err != nil {
			return err
		}
	}
	return nil
}

// blob brings one file back that a message names, if the copy has it.
func (c copied) blob(missing *BlobError, b *Board) bool {
	if c.dir == "" {
		return false
	}
	rel, err := filepath.Rel(b.dir, b.BlobPath(missing.Goal, missing.Hash))
	if err != nil {
		return false
	}
	data, err := readFile(journal.OSFS{}, filepath.Join(c.dir, rel))
	if err != nil {
		return false
	}
	path := filepath.Join(b.dir, rel)
	if b.opts.FS.MkdirAll(filepath.Dir(path), dirPerm) != nil || journal.WriteFileAtomic(b.opts.FS, path, data, filePerm) != nil {
		return false
	}
	_, err = b.Blob(missing.Goal, missing.Hash)
	return err == nil
}
