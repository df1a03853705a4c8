package simfs

// DataFate is what a crash does to the bytes of a file that were not synced.
type DataFate string

// The fates of bytes.
const (
	DataKept    DataFate = "data kept"
	DataDropped DataFate = "data dropped"
	DataHalf    DataFate = "data half kept"    // the first half of the writes, the last of them in part
	DataHole    DataFate = "data with a hole"  // all, but one page in the middle is as it was before
	DataZeroed  DataFate = "data of zeros"     // the size, but not the bytes
	DataLastCut DataFate = "last write halved" // all, but the last write in part
)

// NameFate is what a crash does to the names of a directory that were not synced.
type NameFate string

// The fates of names.
const (
	NamesKept    NameFate = "names kept"
	NamesDropped NameFate = "names dropped"
	NamesHalf    NameFate = "first half of names kept"
	NamesOdd     NameFate = "every second name kept"
)

// Fate is what a crash does to all that was not durable.
type Fate struct {
	Data  DataFate
	Names NameFate
}

// Fates returns every combination.
func Fates() []Fate {
	var list []Fate
	for _, data := range []DataFate{DataKept, DataDropped, DataHalf, DataHole, DataZeroed, DataLastCut} {
		for _, names := range []NameFate{NamesKept, NamesDropped, NamesHalf, NamesOdd} {
			list = append(list, Fate{data, names})
		}
	}
	return list
}

// PageBytes is the page of DataHole. It is small so that short files have many.
const PageBytes = 128

// Crash returns the file system found after a power cut right now. The old one
// is left as it is, so that several fates can be tried; nothing is shared.
func (f *FS) Crash(fate Fate) *FS {
	f.mu.Lock()
	defer f.mu.Unlock()
	after := New()
	after.nextID = f.nextID
	copies := map[*node]*node{}
	after.root = f.root.after(fate, copies)
	return after
}

// Kill returns the file system as other processes find it if every process that
// used it is killed right now: all is as it is seen, nothing more is durable, no
// lock is held. The old one is left as it is.
func (f *FS) Kill() *FS {
	f.mu.Lock()
	defer f.mu.Unlock()
	next := New()
	next.nextID = f.nextID
	copies := map[*node]*node{}
	next.root = f.root.clone(copies)
	return next
}

func (n *node) clone(copies map[*node]*node) *node {
	if found := copies[n]; found != nil {
		return found
	}
	c := &node{id: n.id, dir: n.dir, data: n.data, durable: n.durable}
	copies[n] = c
	c.pending = append(c.pending, n.pending...)
	if !n.dir {
		return c
	}
	c.names, c.durableNames = map[string]*node{}, map[string]*node{}
	for name, child := range n.names {
		c.names[name] = child.clone(copies)
	}
	for name, child := range n.durableNames {
		c.durableNames[name] = child.clone(copies)
	}
	for _, r := range n.pendingNames {
		if r.to != nil {
			r.to = r.to.clone(copies)
		}
		if r.swappedTo != nil {
			r.swappedTo = r.swappedTo.clone(copies)
		}
		c.pendingNames = append(c.pendingNames, r)
	}
	return c
}

// after copies a node as it is found after a crash; copies keeps second names.
func (n *node) after(fate Fate, copies map[*node]*node) *node {
	if found := copies[n]; found != nil {
		return found
	}
	found := &node{id: n.id, dir: n.dir}
	copies[n] = found
	if !n.dir {
		found.data = n.dataAfter(fate.Data)
		found.durable = found.data
		return found
	}
	found.names, found.durableNames = map[string]*node{}, map[string]*node{}
	for name, child := range n.namesAfter(fate.Names) {
		copied := child.after(fate, copies)
		found.names[name], found.durableNames[name] = copied, copied
	}
	return found
}

func (n *node) namesAfter(fate NameFate) map[string]*node {
	names := map[string]*node{}
	for name, child := range n.durableNames {
		names[name] = child
	}
	for i, r := range n.pendingNames {
		if fate == NamesKept || (fate == NamesHalf && i < (len(n.pendingNames)+1)/2) || (fate == NamesOdd && i%2 == 1) {
			r.apply(names)
		}
	}
	return names
}

func (n *node) dataAfter(fate DataFate) []byte {
	switch fate {
	case DataKept:
		return replay(n.durable, n.pending, len(n.pending), false)
	case DataHalf:
		return replay(n.durable, n.pending, len(n.pending)/2+1, true)
	case DataLastCut:
		return replay(n.durable, n.pending, len(n.pending), true)
	case DataZeroed:
		data := replay(n.durable, n.pending, len(n.pending), false)
		return resized(n.durable, int64(len(data)))
	case DataHole:
		return n.withHole()
	}
	return n.durable
}

// replay applies the first count edits, the last of them in part if cut.
func replay(data []byte, edits []edit, count int, cut bool) []byte {
	count = min(count, len(edits))
	for i, e := range edits[:count] {
		if cut && i == count-1 && e.bytes != nil {
			e.bytes = e.bytes[:len(e.bytes)/2]
		}
		data = e.apply(data)
	}
	return data
}

func (n *node) withHole() []byte {
	data := replay(n.durable, n.pending, len(n.pending), false)
	first, last := int64(-1), int64(0)
	for _, e := range n.pending {
		if first < 0 || e.at < first {
			first = e.at
		}
		last = max(last, e.at+int64(len(e.bytes)))
	}
	if first < 0 {
		return data
	}
	page := (first + last) / 2 / PageBytes * PageBytes
	data = resized(data, int64(len(data)))
	for i := page; i < page+PageBytes && i < int64(len(data)); i++ {
		data[i] = 0
		if i < int64(len(n.durable)) {
			data[i] = n.durable[i]
		}
	}
	return data
}

// ReadFile returns a file's content as it is seen; nil if there is none.
func (f *FS) ReadFile(name string) []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n := f.find(name); n != nil && !n.dir {
		return append([]byte{}, n.data...)
	}
	return nil
}

// PutFile sets a file's content, durably and without counting an operation, as
// somebody else would who tampers with it. The directory must exist.
func (f *FS) PutFile(name string, data []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	dir, base, err := f.parent("put", name)
	if err != nil {
		panic(err)
	}
	n := dir.names[base]
	if n == nil {
		n = f.newNode(false)
		dir.names[base], dir.durableNames[base] = n, n
	}
	n.data = append([]byte{}, data...)
	n.durable, n.pending = n.data, nil
}
