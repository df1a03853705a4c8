// Package contents looks at what a change consists of, apart from its lines:
// links, submodules, modes, sizes, names, and whose commits it is made of. A
// diff shows such things badly or not at all.
//
// It promises that what can reach out of the project, or break a checkout of
// it, is sure and rejects unless the reviewer accepts it by name; and that the
// rest is shown to the reviewer and kept in the record.
//
// It never reads a repository, and judges no content.
package contents

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"orch/roles/act/weaken"
)

// Modes of entries, as git writes them.
const (
	plain      = "100644"
	executable = "100755"
	symlink    = "120000"
	gitlink    = "160000"
	none       = "000000"
)

// Entry is one path that differs between two commits.
type Entry struct {
	Path     string
	Old, New string // modes; 000000 when it is not there
	Was, Is  string // names of the objects
	Bytes    int64  // size of what is new
	Binary   bool   // a diff shows nothing of it
	Target   string // of a new or changed symbolic link
}

// IsLink tells whether it is a symbolic link now.
func (e Entry) IsLink() bool { return e.New == symlink }

// Commit is one commit of a change.
type Commit struct {
	Hash              string
	Author, Committer string // name <email>
}

// Change is what a coder made, as a whole.
type Change struct {
	Entries []Entry
	Passing []Entry // path and size of every new file of any of the commits
	Commits []Commit
	Names   []string // every path of the last commit
}

// The kinds of what is found, beside those about tests.
const (
	OutsideLink  weaken.Kind = "outside_link"
	Submodule    weaken.Kind = "submodule"
	GitFile      weaken.Kind = "git_file"
	LargeFile    weaken.Kind = "large_file"
	BinaryFile   weaken.Kind = "binary_file"
	ModeChange   weaken.Kind = "mode_change"
	NameCollides weaken.Kind = "name_collides"
	OddName      weaken.Kind = "odd_name"
	ForeignName  weaken.Kind = "foreign_author"
)

// fixes says what to do about a kind.
var fixes = sync.OnceValue(func() map[weaken.Kind]string {
	return map[weaken.Kind]string{
		OutsideLink:  "link only to what is in the project, or copy what is needed",
		Submodule:    "add the files themselves, without a .git of their own",
		GitFile:      "leave it as it is, unless the task demands the change",
		LargeFile:    "leave it out of every commit of the change: make it anew from the base without it, or generate it",
		BinaryFile:   "leave out what can be made from sources",
		ModeChange:   "keep the mode, unless the task demands the change",
		NameCollides: "choose a name that differs in more than upper and lower case",
		OddName:      "choose a name of letters, digits, dots, dashes and underscores",
		ForeignName:  "commit with the name that is set in the worktree",
	}
})

// Inspect lists what is found in a change. Who is a coder may be the author of
// its commits; files above largeBytes are large.
func Inspect(c Change, isCoder func(who string) bool, largeBytes int64) []weaken.Finding {
	var found []weaken.Finding
	say := func(k weaken.Kind, file string, sure bool, format string, args ...any) {
		found = append(found, weaken.Finding{Kind: k, File: file, Line: 1, What: fmt.Sprintf(format, args...), Sure: sure, Fix: fixes()[k]})
	}
	for _, e := range c.Entries {
		e.inspect(say, largeBytes)
	}
	passing(c, largeBytes, say)
	collisions(c, say)
	foreign(c.Commits, isCoder, say)
	return found
}

type sayer func(k weaken.Kind, file string, sure bool, format string, args ...any)

func (e Entry) inspect(say sayer, largeBytes int64) {
	if e.New == gitlink || e.Old == gitlink {
		// Nobody reviewed what a new one brings, and nobody can see it in a checkout.
		say(Submodule, e.Path, e.Old != gitlink, "%s", linked(e))
		return
	}
	if what := gitFile(e.Path); what != "" {
		say(GitFile, e.Path, false, "%s", what)
	}
	if e.New == none {
		return
	}
	if e.New == symlink && leadsOut(e.Path, e.Target) {
		say(OutsideLink, e.Path, true, "the link leads to %q, which is not in the project", e.Target)
	}
	if e.Old == none && hides(e.Path) {
		say(OddName, e.Path, true, "the name %q can not be read as it is shown", e.Path)
	} else if e.Old == none && unportable(e.Path) {
		say(OddName, e.Path, false, "the name %q can not be used on every system", e.Path)
	}
	if what := mode(e); what != "" {
		say(ModeChange, e.Path, false, "%s", what)
	}
	switch {
	case e.New == symlink:
	case e.Bytes > largeBytes:
		say(LargeFile, e.Path, true, "it has %d bytes, and stays in the history for ever", e.Bytes)
	case e.Binary:
		say(BinaryFile, e.Path, false, "it is binary (%d bytes): the diff shows nothing of it", e.Bytes)
	}
}

// passing finds large files that the end of the change does not have, but its
// history.
func passing(c Change, largeBytes int64, say sayer) {
	told := map[string]bool{}
	for _, e := range c.Entries {
		told[e.Path] = e.Bytes > largeBytes
	}
	for _, e := range c.Passing {
		if e.Bytes > largeBytes && !told[e.Path] {
			told[e.Path] = true
			say(LargeFile, e.Path, true, "a commit of the change holds %d bytes of it, which stay in the history for ever", e.Bytes)
		}
	}
}

func linked(e Entry) string {
	switch {
	case e.Old == gitlink && e.New == gitlink:
		return "the submodule is at another commit"
	case e.Old == gitlink:
		return "a submodule was here"
	}
	return "a submodule, whose files are in another repository"
}

// gitFile says what a file does to git or to what runs beside it; empty for
// others. A .gitignore is as harmless as it looks.
func gitFile(name string) string {
	switch base := path.Base(name); {
	case base == ".gitattributes":
		return "it decides how git shows, merges and checks out files"
	case base == ".gitmodules":
		return "it decides where submodules come from"
	case strings.HasPrefix(name, ".github/") || name == ".gitlab-ci.yml" || strings.HasPrefix(name, ".gitlab/"):
		return "it is run by the host of the repository, with that one's rights"
	}
	return ""
}

// leadsOut tells whether a link leaves the project, or leads to git's or
// orch's own files.
func leadsOut(at, target string) bool {
	target = strings.ReplaceAll(target, `\`, "/")
	if path.IsAbs(target) || len(target) > 1 && target[1] == ':' {
		return true
	}
	to := path.Join(path.Dir(at), target)
	first, _, _ := strings.Cut(to, "/")
	return first == ".." || strings.EqualFold(first, ".git") || first == ".orch"
}

// mode says how the kind of a file changed; empty when it did not, or is new.
func mode(e Entry) string {
	switch {
	case e.Old == none || e.Old == e.New:
		return ""
	case e.Old == plain && e.New == executable:
		return "it can be executed now"
	case e.Old == executable && e.New == plain:
		return "it can not be executed any more"
	}
	return fmt.Sprintf("it was of mode %s and is of mode %s", e.Old, e.New)
}

// reserved are names that no file can have on Windows, whatever follows a dot.
var reserved = []string{"con", "prn", "aux", "nul", "com1", "com2", "com3", "com4", "lpt1", "lpt2", "lpt3"}

// hides tells whether a name is not what it looks like.
func hides(name string) bool {
	return !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) })
}

// unportable tells whether no file can have that name somewhere.
func unportable(name string) bool {
	if strings.ContainsAny(name, `<>:"|?*\`) {
		return true
	}
	for part := range strings.SplitSeq(name, "/") {
		stem, _, _ := strings.Cut(strings.ToLower(part), ".")
		if slices.Contains(reserved, stem) || strings.HasSuffix(part, " ") || strings.HasSuffix(part, ".") {
			return true
		}
	}
	return false
}

// collisions finds new names that are the same as others where upper and lower
// case are: there, a checkout has only one of them.
func collisions(c Change, say sayer) {
	fresh := map[string]bool{}
	for _, e := range c.Entries {
		if e.Old == none {
			fresh[e.Path] = true
		}
	}
	if len(fresh) == 0 {
		return
	}
	seen := map[string]string{} // of each folded path or directory, how it is first spelt
	told := map[string]bool{}
	names := slices.Clone(c.Names)
	// What was there before is what a new name collides with, and not the other way.
	slices.SortStableFunc(names, func(a, b string) int {
		switch {
		case fresh[a] == fresh[b]:
			return 0
		case fresh[b]:
			return -1
		}
		return 1
	})
	for _, name := range names {
		for at := name; at != "."; at = path.Dir(at) {
			key := fold(at)
			first, there := seen[key]
			if !there {
				seen[key] = at
			}
			if there && first != at && fresh[name] && !told[name] {
				told[name] = true
				say(NameCollides, name, true, "%q and %q are one name where case does not count", at, first)
			}
		}
	}
}

// fold is one spelling for all that differ in case only, as file systems that
// do not tell case apart see it.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
			least = min(least, other)
		}
		return least
	}, name)
}

// foreign finds commits that are not by a coder, by whom they say they are.
func foreign(all []Commit, isCoder func(string) bool, say sayer) {
	var by []string
	for _, c := range all {
		for _, who := range []string{c.Author, c.Committer} {
			if !isCoder(who) && !slices.Contains(by, who) {
				by = append(by, who)
			}
		}
	}
	if len(by) > 0 {
		say(ForeignName, ".", false, "commits of the change say they are by %s, which is no coder", strings.Join(by, ", "))
	}
}
