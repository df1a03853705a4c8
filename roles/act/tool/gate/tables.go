package gate

import (
	"maps"
	"slices"
	"strings"
	"sync"
)

// handlers is who judges each program. It is made for each analysis: as a
// variable it would depend on itself, for programs run programs.
func handlers() map[string]handler {
	table := map[string]handler{"git": git}
	for _, part := range []map[string]handler{shellHandlers(), fileHandlers(), projectHandlers()} {
		maps.Copy(table, part)
	}
	for name, w := range wrappers() {
		table[name] = w.wrapped
	}
	for name := range otherUser() {
		table[name] = asOtherUser
	}
	for name := range codeOptions() {
		table[name] = interpret
	}
	for name := range outside() {
		table[name] = outsider
	}
	for _, name := range runners {
		table[name] = runner
	}
	return table
}

// handlerOf finds who judges a program. Programs without a handler run unread.
func (a *analysis) handlerOf(name string) handler {
	if strings.HasPrefix(name, "mkfs") {
		return outsider
	}
	return a.handlers[name]
}

// readers are programs that change nothing by themselves; where there is a
// function, only the calls it accepts. What they write through a redirection
// or an option is judged apart.
var readers = sync.OnceValue(func() map[string]func(invocation) bool {
	return map[string]func(invocation) bool{
		"cat": nil, "head": nil, "tail": nil, "wc": nil, "ls": nil, "grep": nil, "egrep": nil, "fgrep": nil, "rg": nil, "echo": nil, "printf": nil, "test": nil, "[": nil, "true": nil, "false": nil, ":": nil,
		"pwd": nil, "stat": nil, "file": nil, "du": nil, "df": nil, "uniq": nil, "cut": nil, "tr": nil, "diff": nil, "cmp": nil, "comm": nil, "sha256sum": nil, "sha1sum": nil, "md5sum": nil, "cksum": nil, "shasum": nil,
		"basename": nil, "dirname": nil, "realpath": nil, "readlink": nil, "which": nil, "type": nil, "printenv": nil, "id": nil, "whoami": nil, "uname": nil, "seq": nil, "jq": nil, "sort": nil, "nl": nil, "tac": nil, "rev": nil,
		"column": nil, "paste": nil, "join": nil, "fold": nil, "fmt": nil, "expr": nil, "xxd": nil, "od": nil, "hexdump": nil, "strings": nil, "tree": nil, "find": nil, "fd": nil, "sed": nil, "awk": nil, "gawk": nil, "mawk": nil, "less": nil, "more": nil,
		"cd": nil, "exit": nil, "return": nil, "read": nil, "shift": nil, "set": nil, "ps": nil, "nproc": nil, "arch": nil, "sleep": nil, "xargs": nil, "env": nil, "command": nil, "time": nil, "timeout": nil, "nice": nil, "nohup": nil,
		"date": func(c invocation) bool {
			return !hasLit(c.args, "-s", "--set") && !hasPrefixLit(c.args, "--set=", "-s")
		},
		"git": func(c invocation) bool { return gitReads(c) },
		"go": func(c invocation) bool {
			v, _ := firstLit(c.args)
			return v == "version" || v == "env" || v == "list" || v == "doc"
		},
		"sh": nil, "bash": nil, "dash": nil,
		"python": versionOnly, "node": versionOnly, "npm": versionOnly, "ruby": versionOnly, "make": func(c invocation) bool { return hasLit(c.args, "--version") && len(c.args) == 1 }, "cargo": versionOnly, "pip": versionOnly,
	}
})

func versionOnly(c invocation) bool {
	return len(c.args) == 1 && hasLit(c.args, "--version", "-V", "-v", "version")
}

func hasPrefixLit(args []arg, prefixes ...string) bool {
	return slices.ContainsFunc(lits(args), func(s string) bool {
		return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(s, p) })
	})
}

// gitReads accepts the subcommands that change nothing; branch, tag, remote
// and their like are left to their rules.
func gitReads(c invocation) bool {
	verb, _ := firstLit(syntaxOf{shorts: "Cc", first: true}.parse(c.args).ops)
	return slices.Contains(gitReading(), verb) || slices.Contains([]string{"branch", "tag", "remote", "stash", "config"}, verb)
}
