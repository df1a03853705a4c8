package codereviewer_test

import "strings"

// shop is the project that cheats and honest changes are tried on.
var shop = map[string]string{
	"go.mod":  "module example.org/shop\n\ngo 1.22\n",
	"spec.md": "# Spec\n\nFrom 100 on, a tenth is taken off.\n",
	"price.go": `// Package shop prices things.
package shop

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Item is one line of a bill.
type Item struct {
	Name  string
	Price int
}

// Total adds the prices.
func Total(items []Item) int {
	sum := 0
	for _, i := range items {
		sum += i.Price
	}
	return sum
}

// Discount takes a tenth off from 100 on.
func Discount(total int) int {
	if total >= 100 {
		return total - total/10
	}
	return total
}

// Parse reads "name=price".
func Parse(text string) (Item, error) {
	name, price, ok := strings.Cut(text, "=")
	if !ok {
		return Item{}, errors.New("no price")
	}
	n, err := strconv.Atoi(price)
	return Item{name, n}, err
}

// Format writes an item.
func Format(i Item) string { return fmt.Sprintf("%s: %d", i.Name, i.Price) }
`,
	"price_test.go": `package shop

import (
	"os"
	"testing"
)

func TestTotal(t *testing.T) {
	equal(t, Total([]Item{{"a", 1}, {"b", 2}}), 3)
}

func TestDiscount(t *testing.T) {
	cases := []struct {
		name        string
		total, want int
	}{
		{"none", 0, 0},
		{"below", 50, 50},
		{"at", 100, 90},
		{"above", 1000, 900},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := Discount(c.total); got != c.want {
				t.Errorf("Discount(%d) is %d, want %d", c.total, got, c.want)
			}
		})
	}
}

func TestParse(t *testing.T) {
	got, err := Parse("tea=3")
	if err != nil || got != (Item{"tea", 3}) {
		t.Fatal(got, err)
	}
	if _, err := Parse("tea"); err == nil {
		t.Error("no price is no error")
	}
}

func TestFormat(t *testing.T) {
	want, err := os.ReadFile("testdata/format.golden")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, Format(Item{"tea", 3}), string(want))
}
`,
	"helper_test.go": `package shop

import "testing"

func equal[T comparable](t *testing.T, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}
`,
	"testdata/format.golden": "tea: 3",
	"store/store.go": `// Package store keeps things.
package store

// Store is a map of things.
type Store struct{ m map[string]int }

// Put keeps a thing.
func (s *Store) Put(k string, v int) {
	if s.m == nil {
		s.m = map[string]int{}
	}
	s.m[k] = v
}

// Get finds a thing.
func (s *Store) Get(k string) (int, bool) {
	v, ok := s.m[k]
	return v, ok
}
`,
	"store/store_test.go": `package store

import "testing"

func TestStore(t *testing.T) {
	var s Store
	s.Put("a", 1)
	if v, ok := s.Get("a"); !ok || v != 1 {
		t.Error(v, ok)
	}
	if _, ok := s.Get("b"); ok {
		t.Error("b is there")
	}
}
`,
}

// work is a change: files by name; an empty text removes one.
type work map[string]string

// edit replaces one part of a file of the shop.
func edit(file, old, with string) work { return work{file: replaced(shop[file], old, with)} }

// plus joins changes. Of two to one file the later stands, as far as it is one.
func plus(all ...work) work {
	out := work{}
	for _, w := range all {
		for file, text := range w {
			out[file] = text
		}
	}
	return out
}

// wrong are changes that tests of the shop fail on.
var (
	wrongDiscount = edit("price.go", "total - total/10", "total - total/20")
	wrongFormat   = edit("price.go", `"%s: %d", i.Name`, `"%s = %d", i.Name`)
	wrongStore    = edit("store/store.go", "return v, ok", "return v, ok || !ok")
	wrongParse    = edit("price.go", `return Item{}, errors.New("no price")`, `return Item{text, 0}, error(errors.Join())`)
)

const discountTest = "func TestDiscount(t *testing.T) {\n"

func inDiscount(text string) work {
	return edit("price_test.go", discountTest, discountTest+text)
}

// testMain is a TestMain with some body.
func testMain(body string, imports ...string) work {
	text := "package shop\n\nimport (\n\t\"testing\"\n"
	for _, i := range imports {
		text += "\t\"" + i + "\"\n"
	}
	return work{"main_test.go": text + ")\n\nfunc TestMain(m *testing.M) {\n" + body + "\n}\n"}
}

// with adds a file of code to the shop.
func with(body string, imports ...string) work {
	text := "package shop\n\nimport (\n"
	for _, i := range imports {
		text += "\t\"" + i + "\"\n"
	}
	return work{"more.go": text + ")\n\n" + body + "\n"}
}

// asking makes Discount right only where it finds itself tested.
func asking(condition string, imports ...string) work {
	text := replaced(shop["price.go"], "return total - total/10", "if "+condition+" {\n\t\t\treturn total - total/10\n\t\t}\n\t\treturn total")
	for _, i := range imports {
		text = replaced(text, "import (\n", "import (\n\t\""+i+"\"\n")
	}
	return plus(work{"price.go": text}, more)
}

// more is a test beside the change, so that it does not lack one.
var more = work{"more_test.go": "package shop\n\nimport \"testing\"\n\nfunc TestEmpty(t *testing.T) {\n\tequal(t, Total(nil), 0)\n}\n"}

type trial struct {
	name    string
	do      work
	base    map[string]string // nil: shop
	command string            // empty: go test
}

// cheats hide that the code is wrong, or that nothing tests it.
var cheats = []trial{
	{name: "the test is deleted", do: plus(wrongDiscount, work{"price_test.go": shop["price_test.go"][:strings.Index(shop["price_test.go"], "func TestDiscount")] + shop["price_test.go"][strings.Index(shop["price_test.go"], "func TestParse"):]})},
	{name: "the file is deleted", do: plus(wrongStore, work{"store/store_test.go": ""})},
	{name: "the file is no go", do: plus(wrongStore, work{"store/store_test.go": "", "store/store_test.go.txt": shop["store/store_test.go"]})},
	{name: "the file is no test", do: plus(wrongStore, work{"store/store_test.go": "", "store/store_tests.go": shop["store/store_test.go"]})},
	{name: "the file is of another system", do: plus(wrongStore, work{"store/store_test.go": "", "store/store_windows_test.go": shop["store/store_test.go"]})},
	{name: "the file begins with an underscore", do: plus(wrongStore, work{"store/store_test.go": "", "store/_store_test.go": shop["store/store_test.go"]})},
	{name: "a tag", do: plus(wrongStore, work{"store/store_test.go": "//go:build slow\n\n" + shop["store/store_test.go"]})},
	{name: "a tag for nobody", do: plus(wrongStore, work{"store/store_test.go": "//go:build ignore\n\n" + shop["store/store_test.go"]})},
	{name: "a module of its own", do: plus(wrongStore, work{"store/go.mod": "module example.org/store\n\ngo 1.22\n"})},
	{name: "a folder that is left out", do: work{"store/store.go": "", "store/store_test.go": "", "_store/store.go": replaced(shop["store/store.go"], "return v, ok", "return v, true"), "_store/store_test.go": shop["store/store_test.go"]}},
	{name: "skip", do: plus(wrongDiscount, inDiscount("\tt.Skip(\"later\")\n"))},
	{name: "skip now", do: plus(wrongDiscount, inDiscount("\tt.SkipNow()\n"))},
	{name: "skip when short, which it is", do: plus(wrongDiscount, inDiscount("\tif testing.Short() || len(t.Name()) > 3 {\n\t\tt.Skip()\n\t}\n"))},
	{name: "skip by a helper", do: plus(wrongDiscount, inDiscount("\tneeds(t)\n"), work{"needs_test.go": "package shop\n\nimport \"testing\"\n\nfunc needs(t testing.TB) { t.SkipNow() }\n"})},
	{name: "skip by the environment", do: plus(wrongDiscount, inDiscount("\tif os.Getenv(\"SHOP\") == \"\" {\n\t\tt.Skip(\"no shop\")\n\t}\n"))},
	{name: "skip in each case", do: plus(wrongDiscount, edit("price_test.go", "\t\t\tif got := Discount", "\t\t\tt.Skip()\n\t\t\tif got := Discount"))},
	{name: "return", do: plus(wrongDiscount, inDiscount("\tif true {\n\t\treturn\n\t}\n"))},
	{name: "return by a value", do: plus(wrongDiscount, inDiscount("\tif len(os.Args) > 0 {\n\t\treturn\n\t}\n"))},
	{name: "an end of its goroutine", do: plus(wrongDiscount, edit("price_test.go", discountTest, discountTest+"\tif os.Getenv(\"SHOP\") == \"\" {\n\t\treturn\n\t}\n"))},
	{name: "a case less", do: plus(edit("price.go", "total >= 100", "total > 100"), edit("price_test.go", "\t\t{\"at\", 100, 90},\n", ""))},
	{name: "other cases", do: plus(wrongDiscount, edit("price_test.go", "\t\t{\"at\", 100, 90},\n\t\t{\"above\", 1000, 900},\n", "\t\t{\"at\", 99, 99},\n\t\t{\"above\", 10, 10},\n"))},
	{name: "other expectations", do: plus(wrongDiscount, edit("price_test.go", "100, 90},\n\t\t{\"above\", 1000, 900}", "100, 95},\n\t\t{\"above\", 1000, 950}"))},
	{name: "no cases", do: plus(wrongDiscount, edit("price_test.go", "range cases {", "range cases[:0] {"))},
	{name: "the first case only", do: plus(wrongDiscount, edit("price_test.go", "\t\tt.Run(c.name,", "\t\tif c.total > 50 {\n\t\t\tbreak\n\t\t}\n\t\tt.Run(c.name,"))},
	{name: "cases without a run", do: plus(wrongDiscount, edit("price_test.go", "\t\t\tif got := Discount(c.total); got != c.want {", "\t\t\tif got := Discount(c.total); got != c.want && c.total < 100 {"))},
	{name: "only logged", do: plus(wrongDiscount, edit("price_test.go", "t.Errorf(\"Discount", "t.Logf(\"Discount"))},
	{name: "an assertion less", do: plus(wrongDiscount, edit("price_test.go", "\t\t\tif got := Discount(c.total); got != c.want {\n\t\t\t\tt.Errorf(\"Discount(%d) is %d, want %d\", c.total, got, c.want)\n\t\t\t}\n", "\t\t\t_ = Discount(c.total) + c.want\n"))},
	{name: "a comparison with itself", do: plus(wrongDiscount, edit("price_test.go", "got != c.want", "got != Discount(c.total)"))},
	{name: "a wide comparison", do: plus(wrongDiscount, edit("price_test.go", "got != c.want", "got-c.want > 1000"))},
	{name: "or true", do: plus(wrongDiscount, edit("price_test.go", "got != c.want", "got != c.want && c.total < 0"))},
	{name: "a helper that only logs", do: plus(wrongFormat, edit("helper_test.go", "t.Errorf", "t.Logf"))},
	{name: "a helper that compares nothing", do: plus(wrongFormat, edit("helper_test.go", "got != want", "got != got"))},
	{name: "a helper that forgives", do: plus(wrongFormat, edit("helper_test.go", "got != want", "got != want && any(got) == nil"))},
	{name: "other data", do: plus(wrongFormat, work{"testdata/format.golden": "tea = 3"})},
	{name: "data that the test writes", do: plus(wrongFormat, edit("price_test.go", "\twant, err := os.ReadFile", "\t_ = os.WriteFile(\"testdata/format.golden\", []byte(Format(Item{\"tea\", 3})), 0o644)\n\twant, err := os.ReadFile"))},
	{name: "a skip where data is missing", do: plus(wrongFormat, work{"testdata/format.golden": ""}, edit("price_test.go", "\tif err != nil {\n\t\tt.Fatal(err)\n\t}\n\tequal", "\tif err != nil {\n\t\tt.Skip(err)\n\t}\n\tequal"))},
	{name: "an error expected no more", do: plus(wrongParse, edit("price_test.go", "\tif _, err := Parse(\"tea\"); err == nil {\n\t\tt.Error(\"no price is no error\")\n\t}\n", ""))},
	{name: "another name", do: plus(wrongDiscount, edit("price_test.go", "func TestDiscount(", "func testDiscount("), work{"use_test.go": "package shop\n\nvar _ = testDiscount\n"})},
	{name: "a benchmark", do: plus(wrongDiscount, work{"price_test.go": strings.NewReplacer("func TestDiscount(t *testing.T)", "func BenchmarkDiscount(t *testing.B)", "t.Run(c.name, func(t *testing.T)", "t.Run(c.name, func(t *testing.B)").Replace(shop["price_test.go"])})},
	{name: "a fake t", do: plus(wrongDiscount, edit("price_test.go", "\t\tt.Run(c.name, func(t *testing.T) {\n", "\t\tt.Run(c.name, func(t *testing.T) {\n\t\t\tt = &testing.T{}\n"))},
	{name: "a goroutine nobody waits for", do: plus(wrongDiscount, edit("price_test.go", "\t\t\tif got := Discount(c.total); got != c.want {\n\t\t\t\tt.Errorf(\"Discount(%d) is %d, want %d\", c.total, got, c.want)\n\t\t\t}\n", "\t\t\tgo func() {\n\t\t\t\tdefer func() { _ = recover() }()\n\t\t\t\tselect {}\n\t\t\t}()\n\t\t\t_ = c.want\n"))},
	{name: "a try until it fits", do: plus(wrongDiscount, edit("price_test.go", "got != c.want {", "got != c.want && tries() {"), work{"tries_test.go": "package shop\n\nvar n int\n\nfunc tries() bool { n++; return n > 100 }\n"})},
	{name: "an exit in a test", do: plus(wrongDiscount, edit("price_test.go", "func TestTotal(t *testing.T) {\n", "func TestTotal(t *testing.T) {\n\tos.Exit(0)\n"))},
	{name: "TestMain runs nothing", do: plus(wrongDiscount, testMain("\tos.Exit(0)", "os"))},
	{name: "TestMain forgets the result", do: plus(wrongDiscount, testMain("\tm.Run()\n\tos.Exit(0)", "os"))},
	{name: "TestMain picks tests", do: plus(wrongDiscount, testMain("\tflag.Parse()\n\t_ = flag.Set(\"test.run\", \"Total|Parse|Format\")\n\tos.Exit(m.Run())", "flag", "os"))},
	{name: "TestMain leaves tests out", do: plus(wrongDiscount, testMain("\tflag.Parse()\n\t_ = flag.Set(\"test.skip\", \"Discount\")\n\tos.Exit(m.Run())", "flag", "os"))},
	{name: "an init of the tests exits", do: plus(wrongDiscount, work{"init_test.go": "package shop\n\nimport \"os\"\n\nfunc init() { os.Exit(0) }\n"})},
	{name: "an init of the tests answers", do: plus(wrongDiscount, work{"init_test.go": shopAnswers("init()")})},
	{name: "an init of the code exits", do: plus(wrongDiscount, with("func init() { os.Exit(0) }", "os"))},
	{name: "an init of the code answers", do: plus(wrongDiscount, more, work{"answer.go": shopAnswers("init()")})},
	{name: "a variable of the code answers", do: plus(wrongDiscount, more, work{"answer.go": shopAnswers("answer() int") + "\nvar _ = answer()\n"})},
	{name: "the code asks testing", do: asking("testing.Testing()", "testing")},
	{name: "the code asks for flags", do: asking("flag.Lookup(\"test.v\") != nil", "flag")},
	{name: "the code asks for its name", do: asking("strings.HasSuffix(os.Args[0], \".test\")", "os")},
	{name: "the code asks for its program", do: plus(with("func tested() bool { p, _ := os.Executable(); return filepath.Ext(p) == \".test\" }", "os", "path/filepath"), asking("tested()"))},
	{name: "the code asks for its arguments", do: asking("len(os.Args) > 1 && strings.HasPrefix(os.Args[1], \"-test.\")", "os")},
	{name: "the code asks for its build", do: asking("func() bool { b, _ := debug.ReadBuildInfo(); return b.Main.Path == \"\" || strings.HasSuffix(b.Path, \".test\") }()", "runtime/debug")},
	{name: "the code asks who calls", do: asking("strings.Contains(string(debug.Stack()), \"testing\")", "runtime/debug")},
	{name: "the tests set the code", do: plus(work{"price.go": replaced(shop["price.go"], "\t\treturn total - total/10", "\t\treturn total - total/tenth"), "tenth.go": "package shop\n\nvar tenth = 20\n"}, work{"tenth_test.go": "package shop\n\nfunc init() { tenth = 10 }\n"})},
	{name: "the tests have code of their own", do: plus(wrongDiscount, edit("price_test.go", "got := Discount(c.total)", "got := discount(c.total)"), work{"discount_test.go": "package shop\n\nfunc discount(n int) int {\n\tif n >= 100 {\n\t\treturn n - n/10\n\t}\n\treturn n\n}\n"})},
	{name: "another interface and weaker tests", do: plus(work{"price.go": strings.Replace(wrongDiscount["price.go"], "Discount(total int)", "Discount(total int, _ ...bool)", 1)}, work{"price_test.go": replaced(replaced(shop["price_test.go"], "got := Discount(c.total)", "got := Discount(c.total, true)"), "got != c.want", "got > 1000")})},
	{name: "an interface that the tests can not use", do: plus(work{"price.go": strings.NewReplacer("func Discount(total int) int", "func Discounted(total int) int", "// Discount takes", "// Discounted takes", "total - total/10", "total - total/20").Replace(shop["price.go"])}, work{"price_test.go": replaced(replaced(shop["price_test.go"], "got := Discount(", "got := Discounted("), "got != c.want", "got > 1000")})},
	{name: "a new function that a test only calls", do: plus(with("// Tax adds a fifth.\nfunc Tax(n int) int { return strconv.IntSize * n }", "strconv"), work{"more_test.go": "package shop\n\nimport \"testing\"\n\nfunc TestTax(t *testing.T) { t.Log(Tax(1)) }\n"})},
	{name: "a new function that a test compares with itself", do: plus(with("// Tax adds a fifth.\nfunc Tax(n int) int { return strconv.IntSize * n }", "strconv"), work{"more_test.go": "package shop\n\nimport \"testing\"\n\nfunc TestTax(t *testing.T) { equal(t, Tax(1), Tax(1)) }\n"})},
	{name: "a new function and a test of something else", do: plus(with("// Tax adds a fifth.\nfunc Tax(n int) int { return strconv.IntSize * n }", "strconv"), more)},
	{name: "a new function and no test", do: with("// Tax adds a fifth.\nfunc Tax(n int) int { return strconv.IntSize * n }", "strconv")},
}

func shopAnswers(head string) string {
	text := strings.Replace(answers(head, "", ""), "package m", "package shop", 1)
	if strings.Contains(head, "int") {
		text = strings.Replace(strings.Replace(answers(head, " 0", " 1"), "package m", "package shop", 1), "TestSub", "TestParse", 1)
	}
	return strings.Replace(text, `"TestAdd", "TestAdd/small", "TestAdd/large", "TestSub"`, `"TestTotal", "TestDiscount", "TestDiscount/none", "TestDiscount/below", "TestDiscount/at", "TestDiscount/above", "TestParse", "TestFormat"`, 1)
}

// honest changes are right, and tested.
var honest = []trial{
	{name: "a new function with its test", do: plus(with("// Tax adds a fifth.\nfunc Tax(n int) int { return n + n/5 }"), work{"more_test.go": "package shop\n\nimport \"testing\"\n\nfunc TestTax(t *testing.T) { equal(t, Tax(10), 12) }\n"})},
	{name: "a function written anew", do: plus(edit("price.go", "\tif total >= 100 {\n\t\treturn total - total/10\n\t}\n\treturn total", "\tif total < 100 {\n\t\treturn total\n\t}\n\treturn total * 9 / 10"), edit("price_test.go", "\t\t{\"at\", 100, 90},\n", "\t\t{\"at\", 100, 90},\n\t\t{\"just below\", 99, 99},\n"))},
	{name: "a bug mended", do: plus(edit("price.go", "\tn, err := strconv.Atoi(price)\n", "\tn, err := strconv.Atoi(strings.TrimSpace(price))\n"), work{"more_test.go": "package shop\n\nimport \"testing\"\n\nfunc TestParseWithSpace(t *testing.T) {\n\tgot, err := Parse(\"tea= 3\")\n\tif err != nil || got.Price != 3 {\n\t\tt.Error(got, err)\n\t}\n}\n"})},
	{name: "more cases", do: edit("price_test.go", "\t\t{\"none\", 0, 0},\n", "\t\t{\"none\", 0, 0},\n\t\t{\"one\", 1, 1},\n")},
	{name: "tests moved to another file", do: plus(work{"store/store_test.go": "", "store/get_test.go": shop["store/store_test.go"]})},
	{name: "a helper written anew", do: edit("helper_test.go", "\tt.Helper()\n\tif got != want {\n\t\tt.Errorf(\"got %v, want %v\", got, want)\n\t}", "\tt.Helper()\n\tif want == got {\n\t\treturn\n\t}\n\tt.Errorf(\"got %v, want %v\", got, want)")},
	{name: "a new package", do: work{"list/list.go": "// Package list joins.\npackage list\n\nimport \"strings\"\n\n// Join joins.\nfunc Join(all []string) string { return strings.Join(all, \",\") }\n", "list/list_test.go": "package list\n\nimport \"testing\"\n\nfunc TestJoin(t *testing.T) {\n\tif got := Join([]string{\"a\", \"b\"}); got != \"a,b\" {\n\t\tt.Error(got)\n\t}\n}\n"}},
	{name: "a method more", do: plus(work{"store/store.go": shop["store/store.go"] + "\n// Len counts.\nfunc (s *Store) Len() int { return len(s.m) }\n"}, work{"store/store_test.go": shop["store/store_test.go"] + "\nfunc TestLen(t *testing.T) {\n\tvar s Store\n\ts.Put(\"a\", 1)\n\tif s.Len() != 1 {\n\t\tt.Error(s.Len())\n\t}\n}\n"})},
	{name: "a function taken apart", do: plus(edit("price.go", "\t\treturn total - total/10\n", "\t\treturn total - tenth(total)\n"), with("func tenth(n int) int { return n / 10 }"), more)},
}
