package chore

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// verify looks again at what parts claim, with a walk of its own. With --out it
// also compares the report made of them.
func verify(c call) error {
	if len(c.args) == 0 {
		return &usageError{"verify needs parts", "orch chore verify [--out REPORT] PART…"}
	}
	parts, err := readParts(c.args)
	if err != nil {
		return err
	}
	for _, p := range parts {
		if err := p.verify(); err != nil {
			return fmt.Errorf("%s does not hold: %w", strings.ToLower(p.Title), err)
		}
	}
	if c.out != "" {
		if err := verifyReport(c.out, parts); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(c.stdout, "looked again: %s holds\n\n%s", plural(len(parts), "part"), summary(parts))
	return err
}

func verifyReport(path string, parts []*Part) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read the report: %w", err)
	}
	text := string(data)
	if !strings.HasPrefix(text, reportMark) {
		return fmt.Errorf("%s is not a report", path)
	}
	for _, p := range parts {
		if !strings.Contains(text, fmt.Sprintf("- %s: %d\n", p.Title, p.Count)) {
			return fmt.Errorf("%s does not give the count of %s", path, strings.ToLower(p.Title))
		}
		for _, it := range p.Items {
			if !strings.Contains(text, it.line()) {
				return fmt.Errorf("%s leaves out %s", path, it.line())
			}
		}
	}
	return nil
}

func (p *Part) verify() error {
	switch p.Chore + " " + p.Kind {
	case "find-files largest", "find-files oldest":
		return p.verifyExtremes()
	case "find-files duplicates":
		return p.verifyDuplicates()
	case "todo-report ":
		return p.verifyTodo()
	case "link-check ":
		return p.verifyLinks()
	case "repo-health secrets":
		return p.verifySecrets()
	case "repo-health blobs":
		return p.verifyBlobs()
	case "repo-health hygiene", "repo-health licence":
		return p.verifyPaths()
	}
	return fmt.Errorf("there is no chore %s %s", p.Chore, p.Kind)
}

// again walks the tree with the standard walker, so that a mistake of ours
// doesn't confirm itself.
func (p *Part) again(own bool, visit func(name, full string, info fs.FileInfo) error) (int, error) {
	files := 0
	root := filepath.FromSlash(p.Dir)
	skip, err := absolute(p.Skip)
	if err != nil {
		return 0, err
	}
	err = filepath.Walk(root, func(full string, info fs.FileInfo, err error) error {
		if err != nil {
			return nil
		}
		if info.IsDir() {
			if full != root && skipDir(info.Name(), own) {
				return filepath.SkipDir
			}
			return nil
		}
		if !info.Mode().IsRegular() || is(full, skip) {
			return nil
		}
		files++
		name, err := filepath.Rel(root, full)
		if err != nil {
			return err
		}
		return visit(filepath.ToSlash(name), full, info)
	})
	if err == nil && !p.Scanned.Truncated && p.Chore != "link-check" && files != p.Scanned.Files {
		err = fmt.Errorf("%d files are there, %d were looked at", files, p.Scanned.Files)
	}
	return files, err
}

func (p *Part) full(name Name) string {
	return filepath.Join(filepath.FromSlash(p.Dir), filepath.FromSlash(string(name)))
}

func (p *Part) verifyExtremes() error {
	listed := map[string]bool{}
	for _, it := range p.Items {
		listed[string(it.Path)] = true
	}
	better := func(info fs.FileInfo, than Item) bool {
		if p.Kind == "largest" {
			return info.Size() > than.Size
		}
		t, err := time.Parse(time.RFC3339Nano, than.Time)
		return err != nil || info.ModTime().Before(t)
	}
	found := 0
	files, err := p.again(false, func(name, _ string, info fs.FileInfo) error {
		if listed[name] {
			found++
			return nil
		}
		if len(p.Items) > 0 && better(info, p.Items[len(p.Items)-1]) {
			return fmt.Errorf("%s belongs on the list", Name(name).show())
		}
		return nil
	})
	if err != nil {
		return err
	}
	if found != len(p.Items) || !p.Scanned.Truncated && found != min(files, p.Top) {
		return fmt.Errorf("%d of %d listed files exist, %d were asked for", found, len(p.Items), p.Top)
	}
	for i := 1; i < len(p.Items); i++ {
		a, b := p.Items[i-1], p.Items[i]
		if p.Kind == "largest" && a.Size < b.Size {
			return fmt.Errorf("%s is smaller than the next", a.Path.show())
		}
	}
	return nil
}

// verifyDuplicates compares listed sets byte by byte, and counts sets with
// another hash than the one that found them.
func (p *Part) verifyDuplicates() error {
	groups := map[int][]Name{}
	for _, it := range p.Items {
		groups[it.Group] = append(groups[it.Group], it.Path)
	}
	for _, names := range groups {
		if len(names) < 2 {
			return fmt.Errorf("%s stands alone", names[0].show())
		}
		for _, n := range names[1:] {
			same, err := equal(p.full(names[0]), p.full(n))
			if err != nil {
				return err
			}
			if !same {
				return fmt.Errorf("%s and %s differ", names[0].show(), n.show())
			}
		}
	}
	bySize := map[int64][]file{}
	if _, err := p.again(false, func(name, full string, info fs.FileInfo) error {
		if info.Size() > 0 {
			bySize[info.Size()] = append(bySize[info.Size()], file{path: name, full: full})
		}
		return nil
	}); err != nil {
		return err
	}
	if sets := countSets(bySize); sets != p.Count {
		return fmt.Errorf("%d sets of equal files are there, %d were counted", sets, p.Count)
	}
	return nil
}

func countSets(bySize map[int64][]file) int {
	sets := 0
	for _, files := range bySize {
		if len(files) < 2 {
			continue
		}
		byHash := map[string][]file{}
		for _, f := range files {
			data, err := os.Open(f.full)
			if err != nil {
				continue
			}
			h := fnv.New128a()
			_, err = io.Copy(h, data)
			data.Close()
			if err == nil {
				byHash[string(h.Sum(nil))] = append(byHash[string(h.Sum(nil))], f)
			}
		}
		for _, same := range byHash {
			if len(withoutHardLinks(same)) > 1 {
				sets++
			}
		}
	}
	return sets
}

func equal(a, b string) (bool, error) {
	fa, err := os.Open(a)
	if err != nil {
		return false, err
	}
	defer fa.Close()
	fb, err := os.Open(b)
	if err != nil {
		return false, err
	}
	defer fb.Close()
	ba, bb := make([]byte, 64<<10), make([]byte, 64<<10)
	for {
		na, ea := io.ReadFull(fa, ba)
		nb, eb := io.ReadFull(fb, bb)
		if !bytes.Equal(ba[:na], bb[:nb]) {
			return false, nil
		}
		if ea != nil || eb != nil {
			return na == nb, nil
		}
	}
}

// verifyPaths makes sure that every file a finding names is there.
func (p *Part) verifyPaths() error {
	for _, it := range p.Items {
		if it.Path == "" || it.What == "tracked-ignored" || it.What == "junk" {
			continue // nothing to look at, or known to git only
		}
		if _, err := os.Lstat(p.full(it.Path)); err != nil {
			return fmt.Errorf("%s is not there", it.Path.show())
		}
	}
	if bad := slices.IndexFunc(p.Items, func(it Item) bool { return it.What == "" }); bad >= 0 {
		return fmt.Errorf("finding %d says nothing", bad+1)
	}
	return nil
}
