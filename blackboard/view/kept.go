package view

import (
	"bytes"
	"iter"
	"os"
	"path/filepath"

	"orch/blackboard"
	"orch/blackboard/message"
)

// Restful is a State over a checkpoint that can say which tasks are still as
// that has them. *blackboard.State is one.
type Restful interface {
	State
	TaskRows(blackboard.Status) iter.Seq[blackboard.TaskRow]
	Below() uint64
	HeadAt(seq uint64) (hash string, known bool)
}

var _ Restful = (*blackboard.State)(nil)

// kept are the blocks of a view that another process rendered. One of them is
// copied for a task that has not changed since a checkpoint which is not younger
// than that view: then it was rendered from the very same record.
type kept struct {
	seq    uint64
	blocks map[message.TaskID][]byte
}

// keptOf takes a view apart. It must be sealed, of this board, and one that this
// very program made; others may show the same task in another way.
func keptOf(data []byte, s Restful) kept {
	seq, ok := SeqOf(data)
	if !ok || boardOf(data) != s.BoardID() || seq < s.Below() {
		return kept{}
	}
	was, ok := headerField(data, "head")
	if hash, known := s.HeadAt(seq); !ok || !known || was != hash {
		return kept{}
	}
	return kept{seq: seq, blocks: blocksOf(data[:len(data)-checksumLineBytes])}
}

// blocksOf finds the blocks of the tasks: each begins with a line that is
// indented by two and names it, and whatever is in it is indented by more.
func blocksOf(data []byte) map[message.TaskID][]byte {
	_, rest, ok := bytes.Cut(data, []byte("\ntasks:\n"))
	if !ok {
		return nil
	}
	blocks := map[message.TaskID][]byte{}
	name, begin := "", 0
	for at := 0; at < len(rest); {
		end := at + bytes.IndexByte(rest[at:], '\n') + 1
		if end == at {
			end = len(rest)
		}
		if line := rest[at:end]; len(line) > 3 && line[0] == ' ' && line[1] == ' ' && line[2] != ' ' {
			if name != "" {
				blocks[message.TaskID(name)] = rest[begin:at]
			}
			begin, name = at, ""
			if key, ok := bytes.CutSuffix(line[2:], []byte(":\n")); ok && isPlain(string(key)) {
				name = string(key)
			}
		}
		at = end
	}
	if name != "" {
		blocks[message.TaskID(name)] = rest[begin:]
	}
	return blocks
}

// usable tells whether blocks may be copied for the resting tasks of a state.
func (k kept) usable(s Restful) bool { return len(k.blocks) > 0 && s.Below() > 0 && s.Below() <= k.seq }

// made is the file that names the program which made the view, and the view by
// its checksum. It is a cache: whatever does not fit leaves all to be rendered.
func (k *Keeper) made() string { return filepath.Join(k.c.Dir, "cache", "view") }

// recall takes up the blocks of the view on disk, if this program made it.
func (k *Keeper) recall(s State) {
	rs, ok := s.(Restful)
	if !ok || k.c.Program == "" || k.recalled || k.c.Show.Full {
		return
	}
	k.recalled = true // a renderer that has rendered knows its own blocks
	by, _, err := readFile(k.c.FS, k.made())
	if err != nil {
		return
	}
	data, _, err := readFile(k.c.FS, k.files.path())
	if err != nil || len(data) < checksumLineBytes || !bytes.Equal(by, k.mark(data)) || !Sealed(data) {
		return
	}
	k.renderer.kept = keptOf(data, rs)
}

// mark is what is noted of a view that this program made.
func (k *Keeper) mark(sealed []byte) []byte {
	return append([]byte(k.c.Program+"\n"), sealed[len(sealed)-checksumLineBytes:]...)
}

// remember notes that this program made the view. It need not last.
func (k *Keeper) remember(data []byte) {
	if k.c.Program == "" {
		return
	}
	f, err := k.c.FS.OpenFile(k.made(), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return
	}
	_, _ = f.Write(k.mark(data)) // what is cut short fits no view
	_ = f.Close()
}
