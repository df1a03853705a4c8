package checkpoint

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"orch/blackboard/journal"
)

// content is what a test puts into a file and expects back.
type content struct {
	records map[[2]string]string
	entries map[string][]Entry // by index
}

func (c content) write(path string, blockBytes int) (ID, error) {
	header := Header{Board: "b", Seq: 7, Head: strings.Repeat("a", 64)}
	w, err := Create(journal.OSFS{}, path+".tmp", header)
	if err != nil {
		return "", err
	}
	w.block = blockBytes
	keys := slices.SortedFunc(maps.Keys(c.records), func(a, b [2]string) int {
		return bytes.Compare(treeKey(0, a[0], a[1]), treeKey(0, b[0], b[1]))
	})
	for _, k := range keys {
		if err := w.Record(k[0], k[1], []byte(c.records[k])); err != nil {
			return "", err
		}
	}
	for index, entries := range c.entries {
		for _, e := range entries {
			if err := w.Index(index, e.Key, e.Record); err != nil {
				return "", err
			}
		}
	}
	return w.Commit(func(ID) string { return path })
}

// check reads everything in every way. It returns the first error of the file,
// and fails the test if the file gives anything that was not put in.
func (c content) check(t interface{ Fatalf(string, ...any) }, f *File) error {
	for k, want := range c.records {
		got, ok, err := f.Get(k[0], k[1])
		if err != nil {
			return err
		}
		if !ok || string(got) != want {
			t.Fatalf("record %q is %q, %v; want %q", k, got, ok, want)
		}
		if _, ok, err := f.Get(k[0], k[1]+"\x00"); err != nil {
			return err
		} else if _, there := c.records[[2]string{k[0], k[1] + "\x00"}]; ok != there {
			t.Fatalf("found %q: %v", k[1]+"\x00", ok)
		}
	}
	seen := 0
	for r, err := range f.All("") {
		if err != nil {
			return err
		}
		if want, ok := c.records[[2]string{r.Kind, r.Key}]; !ok || want != string(r.Value) {
			t.Fatalf("All has %q %q = %q, want %q, %v", r.Kind, r.Key, r.Value, want, ok)
		}
		seen++
	}
	if seen != len(c.records) {
		t.Fatalf("All has %d records, want %d", seen, len(c.records))
	}
	return c.checkIndexes(t, f)
}

func (c content) checkIndexes(t interface{ Fatalf(string, ...any) }, f *File) error {
	for index, entries := range c.entries {
		for _, prefix := range []string{"", "a", "ab", "b", "zz"} {
			want := slices.Clone(entries)
			want = slices.DeleteFunc(want, func(e Entry) bool { return !strings.HasPrefix(e.Key, prefix) })
			slices.SortFunc(want, func(a, b Entry) int {
				return bytes.Compare([]byte(a.Key+"\x00"+a.Record), []byte(b.Key+"\x00"+b.Record))
			})
			var got []Entry
			for e, err := range f.Scan(index, prefix) {
				if err != nil {
					return err
				}
				got = append(got, e)
			}
			if !slices.Equal(got, want) {
				t.Fatalf("index %q prefix %q gives %v, want %v", index, prefix, got, want)
			}
		}
	}
	return nil
}

func small() content {
	c := content{records: map[[2]string]string{}, entries: map[string][]Entry{}}
	for i := range 24 {
		key := fmt.Sprintf("%c%02d", 'a'+i%3, i)
		c.records[[2]string{"task", key}] = strings.Repeat(key, i%5)
		c.entries["status"] = append(c.entries["status"], Entry{string(rune('a' + i%2)), key})
	}
	c.records[[2]string{"board", ""}] = "one"
	return c
}

func TestRoundTrip(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		c := content{records: map[[2]string]string{}, entries: map[string][]Entry{}}
		word := rapid.StringOfN(rapid.RuneFrom([]rune("ab\x00\u00ff")), 0, 4, -1)
		for range rapid.IntRange(0, 60).Draw(t, "records") {
			kind := rapid.SampledFrom([]string{"task", "ta", "goal", ""}).Draw(t, "kind")
			c.records[[2]string{kind, word.Draw(t, "key")}] = strings.Repeat("x", rapid.IntRange(0, 200).Draw(t, "size"))
		}
		for range rapid.IntRange(0, 60).Draw(t, "entries") {
			index := rapid.SampledFrom([]string{"status", "st"}).Draw(t, "index")
			// No zero bytes: the test sorts key and record joined by one.
			key := strings.ReplaceAll(word.Draw(t, "key"), "\x00", "c")
			c.entries[index] = append(c.entries[index], Entry{key, rapid.StringMatching(`[a-c]{0,3}`).Draw(t, "record")})
		}
		path := filepath.Join(dir, "file")
		id, err := c.write(path, rapid.IntRange(1, 300).Draw(t, "block"))
		if err != nil {
			t.Fatalf("write: %v", err)
		}
		f, err := OpenID(journal.OSFS{}, path, id)
		if err != nil {
			t.Fatalf("open: %v", err)
		}
		defer f.Close()
		if err := errors.Join(c.check(t, f), f.Verify()); err != nil {
			t.Fatalf("read: %v", err)
		}
		if f.Records() != len(c.records) || f.Header().Seq != 7 || f.Header().Board != "b" {
			t.Fatalf("header is %+v with %d records", f.Header(), f.Records())
		}
	})
}

func TestScanFrom(t *testing.T) {
	c := content{entries: map[string][]Entry{"i": {{"a1", "x"}, {"a2", "y"}, {"a3", "z"}, {"b", "w"}}}}
	path := filepath.Join(t.TempDir(), "file")
	if _, err := c.write(path, 20); err != nil {
		t.Fatal(err)
	}
	f, err := Open(journal.OSFS{}, path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var got []string
	for e, err := range f.ScanFrom("i", "a", "a2") {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, e.Record)
	}
	if !slices.Equal(got, []string{"y", "z"}) {
		t.Errorf("scan from a2 gives %v", got)
	}
}

func TestWriterRefusesDisorder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file.tmp")
	w, err := Create(journal.OSFS{}, path, Header{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Record("task", "b", nil); err != nil {
		t.Fatal(err)
	}
	if err := w.Record("task", "b", nil); err == nil {
		t.Error("a record twice is accepted")
	}
	if _, err := w.Commit(func(ID) string { return path + ".named" }); err == nil {
		t.Error("a file with a refused record is committed")
	}
	if names, _ := os.ReadDir(filepath.Dir(path)); len(names) != 0 {
		t.Errorf("a dropped file leaves %v behind", names)
	}
}

// memFS serves one file from memory, read only.
type memFS struct {
	journal.OSFS
	data []byte
}

type memFile struct {
	*bytes.Reader
	journal.File
}

func (m memFS) OpenFile(string, int, fs.FileMode) (journal.File, error) {
	return memFile{Reader: bytes.NewReader(m.data)}, nil
}
func (f memFile) Read(p []byte) (int, error)              { return f.Reader.Read(p) }
func (f memFile) ReadAt(p []byte, off int64) (int, error) { return f.Reader.ReadAt(p, off) }
func (f memFile) Close() error                            { return nil }
func (f memFile) Stat() (fs.FileInfo, error)              { return memInfo{size: f.Size()}, nil }

type memInfo struct {
	fs.FileInfo
	size int64
}

func (i memInfo) Size() int64 { return i.size }

var _ io.ReaderAt = memFile{}

func smallFile(t *testing.T) (content, []byte, ID) {
	c := small()
	path := filepath.Join(t.TempDir(), "file")
	id, err := c.write(path, 100)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := OpenID(memFS{data: data}, "file", id)
	if err != nil {
		t.Fatal(err)
	}
	if f.foot.Height < 2 {
		t.Fatalf("the file has height %d, the test wants inner blocks below the root", f.foot.Height)
	}
	if err := c.check(t, f); err != nil {
		t.Fatal(err)
	}
	return c, data, id
}

// intact opens damaged data in every way. It reports whether nothing noticed.
func intact(t *testing.T, c content, data []byte) bool {
	f, err := Open(memFS{data: data}, "file")
	if err != nil {
		return false
	}
	readErr := c.check(t, f)
	return f.Verify() == nil && readErr == nil
}

func TestTruncatedAtEveryByte(t *testing.T) {
	c, data, _ := smallFile(t)
	for n := range data {
		if intact(t, c, data[:n]) {
			t.Fatalf("the file cut after %d of %d bytes counts as whole", n, len(data))
		}
		// What a crash may leave: the right length, zeros at the end.
		if zeroed := append(bytes.Clone(data[:n]), make([]byte, len(data)-n)...); intact(t, c, zeroed) {
			t.Fatalf("the file zeroed after %d of %d bytes counts as whole", n, len(data))
		}
	}
}

func TestEveryBitFlipped(t *testing.T) {
	c, data, id := smallFile(t)
	for n := range data {
		for bit := range 8 {
			data[n] ^= 1 << bit
			if intact(t, c, data) {
				t.Fatalf("nothing notices bit %d of byte %d", bit, n)
			}
			data[n] ^= 1 << bit
		}
	}
	if _, err := OpenID(memFS{data: data}, "file", id[1:]+"0"); err == nil {
		t.Error("a file is opened under the id of another")
	}
}

func FuzzOpen(f *testing.F) {
	path := filepath.Join(f.TempDir(), "file")
	if _, err := small().write(path, 100); err != nil {
		f.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(trailerMagic))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Open(memFS{data: data}, "file")
		if err != nil {
			return
		}
		_ = file.Verify() // must end, without a panic
		_, _, _ = file.Get("task", "a00")
	})
}
