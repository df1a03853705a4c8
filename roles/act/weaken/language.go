package weaken

import (
	"path"
	"strings"

	"orch/blackboard/lazyregexp"
)

// language is how tests look in one family of languages.
type language struct {
	decl      *lazyregexp.Regexp // a test's declaration, its name as the last group that is set
	attribute *lazyregexp.Regexp // must stand before the declaration; nil: nothing must
	skip      *lazyregexp.Regexp
	assert    *lazyregexp.Regexp
	exact     *lazyregexp.Regexp // assertions that compare with one value
	partial   *lazyregexp.Regexp // that demand something of the value
	trivial   *lazyregexp.Regexp // that hold whatever the program does
	comment   string
	inCode    bool // tests stand in files of code
}

// test is the name of the test that a line declares, or empty.
func (l language) test(text string) string {
	if l.decl == nil {
		return ""
	}
	m := l.decl.FindStringSubmatch(text)
	for i := len(m) - 1; i > 0; i-- {
		if m[i] != "" {
			return m[i]
		}
	}
	return ""
}

func re(s string) *lazyregexp.Regexp { return lazyregexp.New(s) }

var golang = language{
	decl:    re(`^func\s+((?:Test|Fuzz|Example)\w*)\(|^\s*\w+\.Run\("([^"]+)"`),
	skip:    re(`\b\w+\.Skip(?:f|Now)?\(|^//\s*\+build\s+ignore|^//go:build\s+(?:ignore|never|disabled)\b`),
	assert:  re(`\b(?:t|b|tb|f|c|s|suite)\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)\(|\b(?:assert|require|is|qt|td|a|r)\.[A-Z]\w*\(|\bExpect\(|\bsuite\.(?:Equal|Require)\w*\(`),
	exact:   re(`\.(?:Equal|Equalf|EqualValues|Exactly|JSONEq|YAMLEq|ElementsMatch|EqualError|ErrorIs|Same|Len|DeepEqual|Cmp)\w*\(|!=|==|DeepEqual|cmp\.Diff|bytes\.Equal|slices\.Equal|maps\.Equal|To\(Equal`),
	partial: re(`\.(?:Contains|Regexp|Greater|Less|InDelta|InEpsilon|WithinDuration|Subset|HasPrefix|IsType|Implements|Panics|ErrorContains|ErrorAs)\w*\(|strings\.|errors\.|[<>]`),
	trivial: re(`\bTrue\(\s*(?:t,\s*)?true\s*[,)]|\bFalse\(\s*(?:t,\s*)?false\s*[,)]|\bif\s+false\b|\bfalse\s*&&|&&\s*false\b`),
	comment: "//",
}

var python = language{
	decl:    re(`^\s*(?:async\s+)?def\s+(test\w*)\(|^class\s+(Test\w*)`),
	skip:    re(`@(?:pytest\.)?mark\.(?:skip|skipif|xfail)\b|=\s*pytest\.mark\.(?:skip|xfail)|\bpytest\.(?:skip|xfail|importorskip)\(|@(?:unittest\.)?(?:skip|skipIf|skipUnless|expectedFailure)\b|\.skipTest\(|\bSkipTest\b|__test__\s*=\s*False|collect_ignore`),
	assert:  re(`^\s*assert\b|\bself\.(?:assert\w+|fail)\(|\bpytest\.(?:raises|warns|fail)\(|\bassert_\w+\(`),
	exact:   re(`assertEqual|assertEquals|assertListEqual|assertDictEqual|assertCountEqual|assertSequenceEqual|assertIs\(|assert_equal|assert_array_equal|assert_called_once_with|assert_called_with|==|\bis\s+(?:True|False)\b`),
	partial: re(`assertIn\(|assertRegex|assertGreater|assertLess|assertAlmostEqual|assertRaises|assertIsInstance|pytest\.(?:raises|approx|warns)|\bin\b|[<>]|!=|isinstance|startswith|endswith|assert_almost|assert_allclose`),
	trivial: re(`^\s*assert\s+(?:True|1|not\s+False|1\s*==\s*1|True\s*(?:is|==)\s*True)\s*(?:,|#|$)|assertTrue\(\s*True\s*[,)]|assertFalse\(\s*False\s*[,)]|\bor\s+True\b`),
	comment: "#",
}

var javascript = language{
	decl:    re("^\\s*(?:it|test|describe|context|specify)(?:\\.\\w+)*(?:\\([^)'\"`]*\\))?\\s*\\(\\s*(?:'([^']+)'|\"([^\"]+)\"|`([^`]+)`)|\\bDeno\\.test\\(\\s*[\"'`]([^\"'`]+)|^\\s*x(?:it|test|describe|context)\\s*\\(\\s*[\"'`]([^\"'`]+)"),
	skip:    re(`^\s*x(?:it|test|describe|context|specify)\s*\(|^\s*f(?:it|describe)\s*\(|\b(?:it|test|describe|context|suite)(?:\.\w+)*\.(?:skip|todo|failing|fails|fixme|only|skipIf|runIf)\b|\bthis\.skip\(|\bpending\(`),
	assert:  re(`\bexpect(?:TypeOf)?(?:\.\w+)?\(|\bassert(?:\.\w+)*\(|\.should\b|\bt\.(?:is|not|deepEqual|true|false|throws|regex|equal|same|ok|like)\(`),
	exact:   re(`\.(?:toBe|toEqual|toStrictEqual|toHaveBeenCalledWith|toHaveBeenCalledTimes|toMatchSnapshot|toMatchInlineSnapshot|toHaveLength|toHaveTextContent|toHaveValue)\(|\b(?:assert|t)\.(?:equal|strictEqual|deepEqual|deepStrictEqual|is|same)\(|\.(?:to\.)?(?:be\.)?(?:equal|eql|deep\.equal)\(|===`),
	partial: re(`\.(?:toMatchObject|toContain|toContainEqual|toMatch|toThrow|toBeGreaterThan|toBeLessThan|toBeCloseTo|toBeInstanceOf|toHaveProperty|toHaveBeenCalled|toBeGreaterThanOrEqual|toBeLessThanOrEqual|objectContaining|include|match|throws?|rejects)\w*\(|[<>]`),
	trivial: re(`expect\(\s*(true|1|false)\s*\)\.(?:toBe|toEqual)\(\s*(?:true|1|false)\s*\)|expect\(\s*true\s*\)\.toBeTruthy|\bassert(?:\.ok)?\(\s*true\s*[,)]|\bt\.(?:true|pass)\(\s*(?:true)?\s*\)|expect\.anything\(\)`),
	comment: "//",
}

var rust = language{
	decl:      re(`^\s*(?:pub\s+)?(?:async\s+)?fn\s+(\w+)`),
	attribute: re(`^#\[(?:\w+::)*(?:test|rstest|test_case|proptest|quickcheck|wasm_bindgen_test)\b`),
	skip:      re(`^\s*#\[ignore\b|#\[cfg\(any\(\)\)\]|#\[cfg\(FALSE\)\]|#\[cfg\(not\(test\)\)\]`),
	assert:    re(`\b(?:debug_|prop_)?assert(?:_eq|_ne|_matches)?!\s*[({]|\b(?:unwrap_err|expect_err)\(|\bpanic!\s*\(|\binsta::assert\w*!|\bassert_snapshot!`),
	exact:     re(`assert_eq!|assert_snapshot!|insta::|==|unwrap_err|expect_err`),
	partial:   re(`assert_ne!|assert_matches!|matches!|contains\(|starts_with|ends_with|is_err\(|[<>]|!=`),
	trivial:   re(`assert!\s*\(\s*true\s*[,)]|assert_eq!\s*\(\s*(?:true\s*,\s*true|1\s*,\s*1)\s*[,)]|\|\|\s*true\b`),
	comment:   "//",
	inCode:    true,
}

// other is for test files in languages not known more closely.
var other = language{
	decl:    re(`^\s*(?:public\s+|private\s+|internal\s+)*(?:void|fun|func|def|sub|async\s+Task|Task)\s+(test\w*|\w+Test)\s*\(|^\s*(?:it|describe|context|scenario)\s+["']([^"']+)`),
	skip:    re(`@(?:Ignore|Disabled)\b|\[(?:Ignore|Skip)\b|\bXCTSkip|\bmarkTestSkipped|^\s*x(?:it|describe|context)\b|\bpending\b`),
	assert:  re(`\b(?:[Aa]ssert|XCTAssert|Assertions?)[\w.]*\(|\bexpect\(|\.should\b|\bshouldBe\b`),
	exact:   re(`[Ee]quals?\w*\(|AreEqual|==|shouldBe\b|\beq\b`),
	partial: re(`[Cc]ontains|[Mm]atch|[Tt]hrow|Greater|Less|[<>]|!=|instanceof`),
	trivial: re(`[Tt]rue\(\s*true\s*[,)]`),
	comment: "//",
}

// languageOf knows a language by the file's extension.
func languageOf(name string) language {
	switch strings.ToLower(path.Ext(name)) {
	case ".go":
		return golang
	case ".py", ".pyi":
		return python
	case ".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".vue", ".svelte":
		return javascript
	case ".rs":
		return rust
	}
	return other
}

// The strengths of an assertion.
const (
	holdsAlways = iota
	saysSomething
	saysMuch
	saysAll
)

// strength ranks what an assertion demands.
func (l language) strength(text string) int {
	switch {
	case l.trivial.MatchString(text):
		return holdsAlways
	case nilCheck.MatchString(text):
		return saysSomething
	case l.exact.MatchString(text):
		return saysAll
	case l.partial.MatchString(text):
		return saysMuch
	}
	return saysSomething
}

// nilCheck finds comparisons that only ask whether there is anything.
var nilCheck = re(`[!=]=\s*(?:nil|None|null|undefined)\b|!==\s*(?:null|undefined)\b|\bis\s+not\s+None\b|\blen\(\w+\)\s*[!=]=\s*0\b`)

// asserts tells whether a line asserts something. In Go the condition of an if
// in a test is what is asserted.
func (l language) asserts(text string) bool {
	t := strings.TrimSpace(text)
	return t != "" && !strings.HasPrefix(t, l.comment) && l.assert.MatchString(text)
}

var goCondition = re(`^\s*(?:\} else )?if\s+.*\{\s*$`)

// condition tells whether a line of a Go test decides whether it fails.
func (l language) condition(text string) bool {
	return l.comment == "//" && l.decl == golang.decl && goCondition.MatchString(text)
}
