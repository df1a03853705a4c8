package chore

import (
	"cmp"
	"container/heap"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"slices"
	"time"
)

// findFiles lists the largest, the oldest or the equal files of a tree.
func findFiles(c call) (*Part, error) {
	switch c.kind {
	case "largest":
		return extremes(c, "Largest files", func(a, b file) int {
			return cmp.Or(cmp.Compare(b.size, a.size), cmp.Compare(a.path, b.path))
		})
	case "oldest":
		return extremes(c, "Oldest files", func(a, b file) int {
			return cmp.Or(a.time.Compare(b.time), cmp.Compare(a.path, b.path))
		})
	case "duplicates":
		return duplicates(c)
	}
	return nil, &usageError{fmt.Sprintf("find-files --kind %q", c.kind), "largest, oldest or duplicates"}
}

// topN keeps the first n files of an order while a tree of any size goes by:
// the root of the heap is the one that has to go next.
type topN struct {
	files []file
	order func(a, b file) int
}

func (t *topN) Len() int           { return len(t.files) }
func (t *topN) Less(i, j int) bool { return t.order(t.files[i], t.files[j]) > 0 }
func (t *topN) Swap(i, j int)      { t.files[i], t.files[j] = t.files[j], t.files[i] }
func (t *topN) Push(x any)         { t.files = append(t.files, x.(file)) }
func (t *topN) Pop() any {
	last := t.files[len(t.files)-1]
	t.files = t.files[:len(t.files)-1]
	return last
}

func extremes(c call, title string, order func(a, b file) int) (*Part, error) {
	p := newPart(c, "find-files", title)
	p.Top = c.top
	top := &topN{order: order}
	scan, err := walk(c, false, func(f file) {
		if top.Len() < c.top {
			heap.Push(top, f)
		} else if order(f, top.files[0]) < 0 {
			top.files[0] = f
			heap.Fix(top, 0)
		}
	})
	if err != nil {
		return nil, err
	}
	p.Scanned = scan
	slices.SortFunc(top.files, order)
	for _, f := range top.files {
		p.add(Item{Path: Name(f.path), Size: f.size, Time: f.time.UTC().Format(time.RFC3339Nano)})
	}
	return p, nil
}

// duplicates finds files of equal content: first by size, then by hash. Hard
// links of one file are not duplicates, and empty files are left out.
func duplicates(c call) (*Part, error) {
	p := newPart(c, "find-files", "Duplicate files")
	p.Top = c.top
	bySize := map[int64][]file{}
	scan, err := walk(c, false, func(f file) {
		if f.size > 0 {
			bySize[f.size] = append(bySize[f.size], f)
		}
	})
	if err != nil {
		return nil, err
	}
	p.Scanned = scan
	var sets [][]file
	for _, files := range bySize {
		if len(files) < 2 {
			continue
		}
		byHash := map[[sha256.Size]byte][]file{}
		for _, f := range files {
			sum, err := hashFile(f.full)
			if err != nil {
				p.Scanned.Unreadable++
				continue
			}
			byHash[sum] = append(byHash[sum], f)
		}
		for _, same := range byHash {
			if same = withoutHardLinks(same); len(same) > 1 {
				sets = append(sets, same)
			}
		}
	}
	slices.SortFunc(sets, func(a, b []file) int {
		return cmp.Or(cmp.Compare(wasted(b), wasted(a)), cmp.Compare(a[0].path, b[0].path))
	})
	var total int64
	for i, set := range sets {
		total += wasted(set)
		for _, f := range set {
			if i < c.top && len(p.Items) < maxItems {
				p.Items = append(p.Items, Item{Path: Name(f.path), Size: f.size, Group: i + 1})
			}
		}
	}
	p.Count = len(sets)
	p.Notes = append(p.Notes, fmt.Sprintf("%d sets of equal files, %s could be saved", len(sets), orZero(sizeText(total))))
	return p, nil
}

func wasted(set []file) int64 { return set[0].size * int64(len(set)-1) }

func hashFile(path string) (sum [sha256.Size]byte, err error) {
	h, err := os.Open(path)
	if err != nil {
		return sum, err
	}
	defer h.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, h); err != nil {
		return sum, err
	}
	return [sha256.Size]byte(hash.Sum(nil)), nil
}

func withoutHardLinks(files []file) []file {
	var out []file
	var infos []os.FileInfo
	for _, f := range files {
		info, err := os.Lstat(f.full)
		if err != nil || slices.ContainsFunc(infos, func(i os.FileInfo) bool { return os.SameFile(i, info) }) {
			continue
		}
		out, infos = append(out, f), append(infos, info)
	}
	return out
}
