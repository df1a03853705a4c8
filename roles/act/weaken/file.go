package weaken

import (
	"path"
	"slices"
	"strings"

	"orch/blackboard/lazyregexp"
)

// codeExts are the extensions of files that are programs.
var codeExts = strings.Fields(`.go .py .pyi .js .jsx .mjs .cjs .ts .tsx .mts .cts .rs .java .kt .kts .scala .c .h .cc .cpp .cxx .hpp .cs .swift .m .mm
	.rb .php .pl .pm .lua .ex .exs .erl .hs .ml .mli .clj .dart .zig .nim .sh .bash .vue .svelte .sql`)

// IsSource tells whether a path names a program, be it a test.
func IsSource(name string) bool { return slices.Contains(codeExts, strings.ToLower(path.Ext(name))) }

// IsCodeFile tells whether a path names a program and not a test.
func IsCodeFile(name string) bool { return IsSource(name) && !IsTestFile(name) }

// testFile finds test files by the conventions of their languages.
var testFile = lazyregexp.New(`(?i)(^|/)(tests?|spec|specs|__tests__|testdata|e2e)/` +
	`|_test\.(go|py|rb|exs?|dart|cc|cpp|c|rs|lua|php)$` +
	`|(^|/)tests?_[^/]*\.(py|rb|c|cc|cpp|php)$` +
	`|(^|/)(conftest\.py|tests?\.(rs|py|js|ts|jsx|tsx|go))$` +
	`|[._-](test|tests|spec|cy|e2e)\.[mc]?[jt]sx?$` +
	`|_spec\.(rb|lua|js|ts)$` +
	`|(^|/)[^/]*(Tests?|Spec|IT)\.(java|kt|scala|cs|swift|php|groovy)$` +
	`|\.(txtar|snap|golden)$`)

// specDoc finds documents in folders named spec or specs, which are no tests.
var specDoc = lazyregexp.New(`(?i)(^|/)specs?/[^/]*\.(md|txt|rst|adoc|yaml|yml|json)$`)

// IsTestFile tells whether a path names a test, or data only tests read.
func IsTestFile(name string) bool {
	name = strings.ReplaceAll(name, `\`, "/")
	return testFile.MatchString(name) && !specDoc.MatchString(name)
}
