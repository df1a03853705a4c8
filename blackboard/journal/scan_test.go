package journal

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// scanned is what a scan of a directory sees: seqs, and a minus before a flaw
// with the seqs around it.
func scanned(t *testing.T, s *Scan) (seen string) {
	t.Helper()
	for idle := 0; idle < 2; {
		r, flaw, ok, err := s.Next()
		switch {
		case err != nil:
			t.Fatal(err)
		case flaw != nil:
			seen += fmt.Sprintf(" -%d:%d", flaw.After, flaw.Next)
		case ok:
			seen += fmt.Sprintf(" %d", r.Seq)
		default:
			idle++
		}
	}
	return seen
}

// written makes a log of n messages on the real file system.
func written(t *testing.T, n int, opts Options) (dir string, j *Journal) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "b")
	j, err := Create(t.Context(), dir, opts, Draft{Type: "Genesis"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	more(t, j, n-1)
	return dir, j
}

func more(t *testing.T, j *Journal, n int) {
	t.Helper()
	for range n {
		if _, err := j.Append(t.Context(), Draft{Type: "T", Payload: []byte(`{"a":1}`)}, nil); err != nil {
			t.Fatal(err)
		}
	}
}

func TestScanGoesOnBehindDamage(t *testing.T) {
	for name, c := range map[string]struct {
		harm func(lines [][]byte) [][]byte
		want string
	}{
		"none":          {func(l [][]byte) [][]byte { return l }, " 1 2 3 4 5 6"},
		"a bit":         {func(l [][]byte) [][]byte { l[2][30] ^= 1; return l }, " 1 2 -2:4 4 5 6"},
		"two lines":     {func(l [][]byte) [][]byte { l[2], l[3] = []byte("x"), []byte("{}"); return l }, " 1 2 -2:5 5 6"},
		"a line gone":   {func(l [][]byte) [][]byte { return append(l[:2], l[3:]...) }, " 1 2 -2:4 4 5 6"},
		"lines swapped": {func(l [][]byte) [][]byte { l[2], l[3] = l[3], l[2]; return l }, " 1 2 -2:4 4 -4:3 3 -3:5 5 6"},
		"the first":     {func(l [][]byte) [][]byte { l[0] = []byte("nothing"); return l }, " -0:2 2 3 4 5 6"},
		"the last":      {func(l [][]byte) [][]byte { l[5] = l[5][:20]; return l }, " 1 2 3 4 5 -5:0"},
		"cut short":     {func(l [][]byte) [][]byte { return l[:4] }, " 1 2 3 4 -4:0"},
		"too long": {func(l [][]byte) [][]byte { l[2] = bytes.Repeat([]byte("a"), 2*MaxLineBytes); return l },
			" 1 2 -2:4 4 5 6"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, j := written(t, 6, Options{})
			_ = j.Close()
			path := filepath.Join(dir, logName)
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			lines := c.harm(bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n")))
			if err := os.WriteFile(path, append(bytes.Join(lines, []byte("\n")), '\n'), 0o600); err != nil {
				t.Fatal(err)
			}
			s := OpenScan(dir, Options{}, Head{})
			defer s.Close()
			if got := scanned(t, s); got != c.want {
				t.Errorf("saw%s, want%s", got, c.want)
			}
		})
	}
}

func TestScanFollowsRotationsAndBeginsBehindAHead(t *testing.T) {
	dir, j := written(t, 3, Options{RotateBytes: 1, Name: "other.jsonl"})
	s := OpenScan(dir, Options{Name: "other.jsonl"}, Head{})
	defer s.Close()
	if got := scanned(t, s); got != " 1 2 3" {
		t.Fatal(got)
	}
	middle := s.Head()
	rotate := func() {
		if _, _, err := j.Rotate(t.Context(), 0, func(Tail) (Draft, error) { return Draft{Type: "LogRotated"}, nil }); err != nil {
			t.Fatal(err)
		}
	}
	more(t, j, 2)
	rotate()
	more(t, j, 1)
	rotate()
	if got := scanned(t, s); got != " 4 5 6 7 8" {
		t.Fatal(got)
	}
	again := OpenScan(dir, Options{Name: "other.jsonl"}, middle)
	defer again.Close()
	if got := scanned(t, again); got != " 4 5 6 7 8" {
		t.Fatal(got)
	}
	middle.Hash = genesisPrev
	other := OpenScan(dir, Options{Name: "other.jsonl"}, middle)
	defer other.Close()
	if _, _, _, err := other.Next(); err == nil {
		t.Error("a head that the log does not have was found")
	}
}
