package gate

import (
	"slices"
	"strings"
	"sync"
)

// gitFree are the subcommands that change nothing, or only add.
var gitFree = sync.OnceValue(func() []string {
	return strings.Fields(`status log show diff ls-files ls-tree ls-remote rev-parse rev-list describe cat-file shortlog name-rev merge-base
	show-ref for-each-ref count-objects fsck blame annotate whatchanged diff-tree diff-index diff-files cherry var version help check-ignore check-attr
	verify-commit verify-tag grep range-diff show-branch add fetch bundle archive format-patch init hash-object mktree write-tree`)
})

// gitReading are those of them that change nothing at all.
var gitReading = sync.OnceValue(func() []string {
	return strings.Fields(`status log show diff ls-files ls-tree rev-parse rev-list describe cat-file shortlog name-rev merge-base
	show-ref for-each-ref count-objects blame annotate whatchanged diff-tree diff-index diff-files cherry version help check-ignore check-attr range-diff`)
})

// gitRules judge the subcommands that can lose something.
func gitRules() map[string]func(a *analysis, o options, args []arg, st *state) {
	return map[string]func(a *analysis, o options, args []arg, st *state){
		"rm": gitRemove, "mv": gitMove, "clean": gitClean, "reset": gitReset, "checkout": gitCheckout, "switch": gitSwitch, "restore": gitRestore,
		"push": gitPush, "branch": gitBranch, "tag": gitTag, "remote": gitRemote, "stash": gitStash, "commit": gitCommit, "config": gitConfig, "clone": gitClone,
		"worktree": gitListOnly, "submodule": gitListOnly, "reflog": gitListOnly, "notes": gitListOnly, "bisect": gitListOnly, "sparse-checkout": gitListOnly, "lfs": gitListOnly,
	}
}

// git judges one call of git.
func git(a *analysis, c invocation, st *state) {
	o := syntaxOf{shorts: "Cc", longs: []string{"--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env", "--super-prefix"}, first: true}.parse(c.args)
	for _, kv := range append(o.values("-c", "--config-env"), o.values("--exec-path", "--git-dir", "--work-tree")...) {
		text, _ := kv.lit()
		if !harmlessGitSetting(text) {
			a.report(History, "git", kv.src, "git is given a setting that can make it run other programs or work elsewhere: %s", kv.src)
		}
	}
	in := st.clone()
	for _, d := range o.values("-C") {
		in.chdir(d, a)
	}
	if len(o.ops) == 0 {
		return
	}
	verb, ok := o.ops[0].lit()
	args := o.ops[1:]
	if !ok {
		a.report(Unknown, "git", o.ops[0].src, "which git command this is can not be known beforehand: %s", o.ops[0].src)
		return
	}
	a.gitOutside(in)
	sub := syntaxOf{shorts: "mCFobuS", longs: []string{"--message", "--output", "--format"}}.parse(args)
	for _, f := range sub.values("--output", "--output-directory") {
		a.write("git", f, in, true)
	}
	if slices.Contains([]string{"archive", "format-patch", "bundle"}, verb) {
		for _, f := range sub.values("-o") {
			a.write("git", f, in, true)
		}
	}
	if verb == "bundle" && len(sub.ops) > 1 {
		a.write("git", sub.ops[1], in, true)
	}
	if sub.has("--ext-diff", "--open-files-in-pager", "--upload-pack", "--receive-pack", "--exec") || verb == "grep" && sub.has("-O") {
		a.report(Unknown, "git", verb, "git %s is given an option that runs another program", verb)
	}
	if rule := gitRules()[verb]; rule != nil {
		rule(a, sub, args, in)
		return
	}
	if !slices.Contains(gitFree(), verb) {
		a.report(History, "git", "git "+verb, "git %s may change files or history", verb)
	}
}

// gitOutside: a repository outside the workspace is somebody else's.
func (a *analysis) gitOutside(st *state) {
	for _, d := range st.dirs {
		if e := a.inspect(d, st, true); !e.Inside && !e.Scratch {
			a.readOnly = false
		}
	}
}

func harmlessGitSetting(kv string) bool {
	key, _, _ := strings.Cut(strings.ToLower(kv), "=")
	for _, p := range []string{"user.", "color.", "advice.", "log.", "diff.noprefix", "diff.renames", "core.quotepath", "core.pager", "init.defaultbranch", "commit.gpgsign", "gc.auto", "safe.directory"} {
		if strings.HasPrefix(key, p) {
			return key != "core.pager" || strings.HasSuffix(kv, "=cat") || strings.HasSuffix(kv, "=")
		}
	}
	return false
}

func gitRemove(a *analysis, o options, _ []arg, st *state) {
	if o.has("--cached", "-n", "--dry-run") {
		return
	}
	for _, f := range o.ops {
		a.remove("git rm", f, st)
	}
}

func gitMove(a *analysis, o options, _ []arg, st *state) {
	copier(true)(a, invocation{name: "git mv", args: o.ops}, st)
}

func gitClean(a *analysis, o options, _ []arg, _ *state) {
	if !o.has("-n", "--dry-run") {
		a.report(Delete, "git", "git clean", "git clean deletes every file that git does not track")
	}
}

func gitReset(a *analysis, o options, args []arg, _ *state) {
	switch {
	case o.has("--hard", "--merge", "--keep"):
		a.report(Overwrite, "git", "git reset --hard", "git reset --hard throws uncommitted changes away")
	case len(o.ops) == 0 || hasLit(args, "--") || allLit(o.ops, "HEAD"):
	default:
		a.report(History, "git", "git reset", "git reset may move the branch to another commit")
	}
}

func allLit(args []arg, want string) bool {
	return !slices.ContainsFunc(lits(args), func(s string) bool { return s != want })
}

func gitCheckout(a *analysis, o options, args []arg, _ *state) {
	if o.short['b'] && !o.has("-f", "--force") && !hasLit(args, "--") {
		return
	}
	a.report(Overwrite, "git", "git checkout", "git checkout may overwrite uncommitted changes")
}

func gitSwitch(a *analysis, o options, _ []arg, _ *state) {
	if o.short['f'] || o.has("--force", "--discard-changes") || o.has("--force-create") || o.short['C'] {
		a.report(Overwrite, "git", "git switch -f", "git switch with force throws changes away")
	}
}

func gitRestore(a *analysis, o options, _ []arg, _ *state) {
	if o.has("--staged", "-S") && !o.has("--worktree") && !o.short['W'] {
		return
	}
	a.report(Overwrite, "git", "git restore", "git restore throws uncommitted changes away")
}

func gitPush(a *analysis, o options, _ []arg, _ *state) {
	if !o.has("-n", "--dry-run") {
		a.report(Outside, "git", "git push", "git push changes the remote repository")
	}
}

func gitBranch(a *analysis, o options, _ []arg, _ *state) {
	for _, l := range []byte("dDmMcCfu") {
		if o.short[l] {
			a.report(History, "git", "git branch", "git branch -%c changes branches", l)
			return
		}
	}
	if o.has("--delete", "--move", "--copy", "--force", "--set-upstream-to", "--unset-upstream", "--edit-description") {
		a.report(History, "git", "git branch", "git branch with this option changes branches")
	}
	a.readOnly = a.readOnly && len(o.ops) == 0
}

func gitTag(a *analysis, o options, _ []arg, _ *state) {
	if o.short['d'] || o.short['f'] || o.has("--delete", "--force") {
		a.report(History, "git", "git tag", "git tag with this option changes tags")
	}
	a.readOnly = a.readOnly && (len(o.ops) == 0 || o.has("-l", "--list"))
}

func gitRemote(a *analysis, o options, _ []arg, _ *state) {
	verb, _ := firstLit(o.ops)
	if verb != "" && verb != "show" && verb != "get-url" {
		a.report(History, "git", "git remote", "git remote %s changes the repository's settings", verb)
	}
}

func gitStash(a *analysis, o options, _ []arg, _ *state) {
	if verb, _ := firstLit(o.ops); verb != "list" && verb != "show" {
		a.report(History, "git", "git stash", "git stash moves uncommitted changes away or back")
	}
}

func gitCommit(a *analysis, o options, _ []arg, _ *state) {
	if o.has("--amend") {
		a.report(History, "git", "git commit --amend", "git commit --amend replaces the last commit")
	}
	a.readOnly = false
}

func gitConfig(a *analysis, o options, _ []arg, _ *state) {
	verb, _ := firstLit(o.ops)
	reads := o.has("--get", "--get-all", "--get-regexp", "--list", "-l", "--get-urlmatch") || verb == "get" || verb == "list"
	if !reads && len(o.ops) != 1 || o.has("--unset", "--unset-all", "--add", "--replace-all", "--edit", "-e", "--remove-section", "--rename-section") {
		a.report(History, "git", "git config", "git config changes settings, hooks among them")
	}
}

func gitClone(a *analysis, o options, args []arg, st *state) {
	ops := syntaxOf{shorts: "bocuj", longs: []string{"--branch", "--origin", "--config", "--depth", "--reference", "--template", "--filter"}}.parse(args)
	if len(ops.values("-c", "--config", "-u", "--upload-pack", "--template")) > 0 {
		a.report(Unknown, "git", "git clone", "git clone is given an option that can run other programs")
	}
	switch len(ops.ops) {
	case 0:
	case 1:
		name, _ := ops.ops[0].lit()
		a.fill("git", known(strings.TrimSuffix(base(name), ".git")), st)
	default:
		a.fill("git", ops.ops[1], st)
	}
}

// gitListOnly judges subcommands of which only looking is free.
func gitListOnly(a *analysis, o options, _ []arg, _ *state) {
	verb, _ := firstLit(o.ops)
	if !slices.Contains([]string{"list", "show", "status", "summary", "log", "ls-files", "env"}, verb) {
		a.report(History, "git", "git", "this git command may change files or history")
	}
}
