package chore

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// repoHealth looks at one side of a project's health. Findings do not make it fail.
func repoHealth(c call) (*Part, error) {
	switch c.kind {
	case "hygiene":
		return hygiene(c)
	case "secrets":
		return secrets(c)
	case "licence":
		return licence(c)
	case "blobs":
		return blobs(c)
	}
	return nil, &usageError{fmt.Sprintf("repo-health --kind %q", c.kind), "hygiene, secrets, licence or blobs"}
}

// junk are names that have no place in a repository.
var junk = []string{".DS_Store", "Thumbs.db", "*.swp", "*.orig", "*.rej", "*~", "npm-debug.log", "*.pyc"}

// hygiene looks at the state of the repository and at leftovers in its files.
func hygiene(c call) (*Part, error) {
	p := newPart(c, "repo-health", "Hygiene")
	scan, err := walk(c, true, func(f file) {
		text, err := readText(f)
		if err != nil {
			return
		}
		if line := conflictLine(text); line > 0 {
			p.add(Item{Path: Name(f.path), Line: line, What: "conflict-marker", Text: "an unresolved merge conflict"})
		}
	})
	if err != nil {
		return nil, err
	}
	p.Scanned = scan
	for _, name := range []string{"README", "README.md", "README.rst", "README.txt", "readme.md"} {
		if _, err := os.Stat(filepath.Join(c.dir, name)); err == nil {
			p.add(Item{Path: Name(name), What: "readme", OK: true})
			break
		}
	}
	if !slices.ContainsFunc(p.Items, func(it Item) bool { return it.What == "readme" }) {
		p.add(Item{What: "no-readme", Text: "there is no README"})
	}
	g := git{dir: c.dir}
	if err := g.open(); err != nil {
		p.Notes = append(p.Notes, "git was not asked: "+err.Error())
		return p, nil
	}
	gitHygiene(g, p)
	return p, nil
}

// conflictLine returns the line of a conflict, which has all of its marks.
func conflictLine(text []byte) int {
	at, middle := 0, false
	for i, line := range strings.Split(string(text), "\n") {
		switch {
		case strings.HasPrefix(line, "<<<<<<< "):
			at, middle = i+1, false
		case strings.TrimRight(line, "\r") == "=======" && at > 0:
			middle = true
		case strings.HasPrefix(line, ">>>>>>> ") && middle:
			return at
		}
	}
	return 0
}

func gitHygiene(g git, p *Part) {
	status, err := g.lines("status", "--porcelain=v1", "-z", "--untracked-files=normal")
	if err != nil {
		p.Notes = append(p.Notes, "git status failed: "+err.Error())
		return
	}
	changed, untracked := countStatus(status)
	if changed > 0 {
		p.add(Item{What: "uncommitted", Text: plural(changed, "file") + " changed and not committed"})
	}
	if untracked > 0 {
		p.add(Item{What: "untracked", Text: plural(untracked, "entry") + " neither tracked nor ignored"})
	}
	if _, err := os.Stat(filepath.Join(g.dir, ".gitignore")); err != nil {
		p.add(Item{What: "no-gitignore", Text: "there is no .gitignore"})
	}
	if _, err := g.lines("rev-parse", "--verify", "-q", "HEAD"); err != nil {
		p.add(Item{What: "no-commit", Text: "nothing was ever committed"})
	} else if _, err := g.lines("symbolic-ref", "-q", "HEAD"); err != nil {
		p.add(Item{What: "detached", Text: "HEAD is on no branch"})
	}
	if ignored, err := g.lines("ls-files", "-z", "-ci", "--exclude-standard"); err == nil {
		for _, name := range ignored {
			p.add(Item{Path: Name(name), What: "tracked-ignored", Text: "tracked although .gitignore names it"})
		}
	}
	if tracked, err := g.lines("ls-files", "-z"); err == nil {
		for _, name := range tracked {
			if isJunk(path.Base(name)) {
				p.add(Item{Path: Name(name), What: "junk", Text: "a leftover that is tracked"})
			}
		}
	}
}

func countStatus(entries []string) (changed, untracked int) {
	for i := 0; i < len(entries); i++ {
		e := entries[i]
		if len(e) < 4 {
			continue
		}
		if e[0] == 'R' || e[0] == 'C' {
			i++ // the old name follows
		}
		name := e[3:]
		switch {
		case name == ".orch" || strings.HasPrefix(name, ".orch/"):
		case strings.HasPrefix(e, "??"):
			untracked++
		default:
			changed++
		}
	}
	return changed, untracked
}

func isJunk(base string) bool {
	return slices.ContainsFunc(junk, func(pattern string) bool {
		ok, err := path.Match(pattern, base)
		return err == nil && ok
	})
}

// blobs lists oversized files, in the tree and in the history.
func blobs(c call) (*Part, error) {
	p := newPart(c, "repo-health", "Oversized files")
	p.Limit = c.limit
	scan, err := walk(c, true, func(f file) {
		if f.size >= c.limit {
			p.add(Item{Path: Name(f.path), Size: f.size, What: "file"})
		}
	})
	if err != nil {
		return nil, err
	}
	p.Scanned = scan
	g := git{dir: c.dir}
	if err := g.open(); err != nil {
		p.Notes = append(p.Notes, "the history was not searched: "+err.Error())
		return p, nil
	}
	history, err := g.bigBlobs(c.limit)
	if err != nil {
		p.Notes = append(p.Notes, "the history was not searched: "+err.Error())
	}
	for _, it := range history {
		p.add(it)
	}
	return p, nil
}
