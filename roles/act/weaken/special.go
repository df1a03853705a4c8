package weaken

import (
	"path"
	"strings"

	"orch/blackboard/lazyregexp"
)

// selects finds, in files that say how tests are run, what leaves tests out or
// lets them fail.
var selects = lazyregexp.New(`--deselect\b|--ignore(?:-glob)?[= ]\S*test|testPathIgnorePatterns|collect_ignore|\bgo test\b.*\s-skip[ =]|-short\b.*\bgo test\b|\bgo test\b.*\s-short\b` +
	`|--exclude\s+\S*test|\bcargo test\b.*--skip\b|(?:\btest\b|pytest|jest|vitest|npm t\b).*\|\|\s*(?:true|:|exit 0)|continue-on-error:\s*true|--passWithNoTests\b|--no-verify\b`)

// runner tells whether a file says how tests are run.
func runner(name string) bool {
	base := strings.ToLower(path.Base(name))
	switch path.Ext(base) {
	case ".yml", ".yaml", ".toml", ".ini", ".cfg", ".mk", ".sh", ".bash", ".json":
		return true
	}
	return base == "makefile" || base == "justfile" || base == "noxfile.py" || strings.Contains(base, ".config.")
}

// selection finds tests that are left out by how they are run.
func (x *inspection) selection(f file) {
	if !runner(f.name()) {
		return
	}
	for _, l := range f.lines {
		if l.op == '+' && selects.MatchString(l.text) {
			x.say(SkippedTest, f, l, true, "tests are left out or may fail: %s", clip(normal(l.text)))
		}
	}
}

// asksForTest finds programs that ask whether they are tested.
var asksForTest = lazyregexp.New(`\btesting\.Testing\(\)|flag\.Lookup\("test\.|strings\.HasSuffix\(os\.Args\[0\],\s*"\.test"\)` +
	`|["']pytest["']\s+in\s+sys\.modules|["']unittest["']\s+in\s+sys\.modules|PYTEST_CURRENT_TEST|_called_from_test` +
	`|JEST_WORKER_ID|VITEST(?:_WORKER_ID)?\b|NODE_ENV\s*[!=]==?\s*["']test["']|["']test["']\s*[!=]==?\s*process\.env\.NODE_ENV` +
	`|\bcfg!\(\s*test\s*\)|(?i:getenv|environ(?:\.get)?|env::var|process\.env)\W{1,3}["']?(?:IS_TEST\w*|UNDER_TEST|TEST_MODE|TESTING|RUNNING_TESTS?|CI)\b`)

// compares finds a comparison with a value written out.
var compares = lazyregexp.New(`(?:==|===|\bcase\b|\.equals\(|\bis\b)\s*(?:"(?:[^"\\]|\\.){2,}"|'(?:[^'\\]|\\.){2,}'|\d{2,}[\d_.]*)`)

// gives finds a value written out as a result.
var gives = lazyregexp.New(`\breturn\b.*?(?:"(?:[^"\\]|\\.)+"|'(?:[^'\\]|\\.)+'|\d[\d_.]*)|^\s*(?:"(?:[^"\\]|\\.)+"|\d[\d_.]*)\s*$|=>\s*(?:"(?:[^"\\]|\\.)+"|\d[\d_.]*)`)

// special finds programs that know that, or by what, they are tested: a
// question for the test's surroundings, or an answer written out for just the
// input that a test of the same diff uses.
func (x *inspection) special(f file) {
	if !IsCodeFile(f.name()) || runner(f.name()) && strings.Contains(f.name(), ".config.") {
		return
	}
	lang := languageOf(f.name())
	for i, l := range f.lines {
		if l.op != '+' || lang.inCode && l.inside != "" || strings.HasPrefix(strings.TrimSpace(l.text), lang.comment) {
			continue
		}
		switch {
		case asksForTest.MatchString(l.text):
			x.say(SpecialCase, f, l, true, "the program asks whether it is tested: %s", clip(normal(l.text)))
		case compares.MatchString(l.text) && x.tested(compares.FindString(l.text)) && x.answers(f, i):
			x.say(SpecialCase, f, l, false, "an answer is written out for an input that a test uses: %s", clip(normal(l.text)))
		}
	}
}

// tested tells whether a value written out in a text stands in a test of the diff.
func (x *inspection) tested(text string) bool {
	for _, lit := range literals.FindAllString(text, -1) {
		if x.quoted[lit] {
			return true
		}
	}
	return false
}

// answers tells whether this line or one of the two after it gives a value
// that a test of the diff has written out.
func (x *inspection) answers(f file, i int) bool {
	for j := i; j < len(f.lines) && j <= i+2; j++ {
		text := f.lines[j].text
		if j == i {
			text = compares.ReplaceAllString(text, "")
		}
		if f.lines[j].op == '+' && gives.MatchString(text) && x.tested(gives.FindString(text)) {
			return true
		}
	}
	return false
}
