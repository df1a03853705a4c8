package view

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"

	"orch/blackboard"
	"orch/blackboard/message"
)

// Restful is a State over a checkpoint that can say which tasks are still as
// that has them. *blackboard.State is one.
type Restful interface {
	State
	Below() uint64
	HeadAt(seq uint64) (hash string, known bool)
}

var _ Restful = (*blackboard.State)(nil)

// kept are the blocks of a view that another process rendered. One of them is
// copied for a task that has not changed since a checkpoint which is not younger
// than that view: then it was rendered from the very same record.
type kept struct {
	seq    uint64
	blocks map[message.TaskID]*taskBlock
}

// keptOf takes a view apart. It must be sealed, of this board, and one that this
// very program made; others may show the same task in another way.
func keptOf(data []byte, s Restful) kept {
	seq, ok := SeqOf(data)
	if !ok || boardOf(data) != s.BoardID() || seq < s.Below() {
		return kept{}
	}
	was, ok := headIn(data)
	if hash, known := s.HeadAt(seq); !ok || !known || was != hash {
		return kept{}
	}
	return kept{seq: seq, blocks: blocksOf(data[:len(data)-checksumLineBytes])}
}

// blocksOf finds the blocks of the tasks, and what is kept of each under
// bookkeeping. A block whose name does not tell the slot or the id of its task
// is left out: then the task is rendered.
func blocksOf(data []byte) map[message.TaskID]*taskBlock {
	at := bookkeepingAt(data)
	if at < 0 {
		return nil
	}
	_, tasks, ok := bytes.Cut(data[:at+1], []byte("\ntasks:\n"))
	if !ok {
		return nil
	}
	lines := map[string][]byte{}
	if _, under, ok := bytes.Cut(data[at:], []byte("\n  tasks:\n")); ok {
		entries(under, 4, func(name string, text []byte) { lines[name] = bytes.TrimSuffix(text, []byte("\n")) })
	}
	blocks := map[message.TaskID]*taskBlock{}
	entries(tasks, 2, func(name string, text []byte) {
		text, ok := bytes.CutPrefix(text, []byte("\n"))
		if !ok {
			return
		}
		b := &taskBlock{id: message.TaskID(name), text: text, line: lines[name], stub: !bytes.Contains(text, []byte("\n    priority: "))}
		if _, rest, ok := bytes.Cut(text, []byte("\n    id: ")); ok {
			id, _, _ := bytes.Cut(rest, []byte("\n"))
			if !isPlain(string(id)) || numbered(name) {
				return
			}
			b.id, b.slot = message.TaskID(id), name
		}
		blocks[b.id] = b
	})
	return blocks
}

// numbered tells whether a name may have been given a number to be the only one.
func numbered(name string) bool {
	digits := len(strings.TrimRight(name, "0123456789"))
	return digits < len(name) && digits > 0 && name[digits-1] == '.'
}

// plainKey is the key that a line begins with; empty if it is not a plain one.
func plainKey(line []byte) string {
	for i, c := range line {
		if c == ':' && i+1 < len(line) && (line[i+1] == ' ' || line[i+1] == '\n') {
			if key := string(line[:i]); isPlain(key) {
				return key
			}
			break
		}
	}
	return ""
}

// entries yields the entries of a mapping that is indented by n: whatever is
// indented by more belongs to the entry before. Names that are quoted are left out.
func entries(data []byte, n int, yield func(name string, text []byte)) {
	name, begin := "", 0
	for at := 0; at < len(data); {
		end := at + bytes.IndexByte(data[at:], '\n') + 1
		if end == at {
			end = len(data)
		}
		if line := data[at:end]; len(line) > n+1 && len(bytes.TrimLeft(line[:n], " ")) == 0 && line[n] != ' ' {
			if name != "" {
				yield(name, data[begin:at])
			}
			name = plainKey(line[n:])
			begin = at + n + len(name) + 1
		}
		at = end
	}
	if name != "" {
		yield(name, data[begin:])
	}
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
