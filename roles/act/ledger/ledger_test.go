package ledger

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func read(t *testing.T, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func written(l Ledger) string {
	var out []string
	for _, r := range []Result{Failed, Passed, Skipped} {
		for _, n := range l.All(r) {
			out = append(out, string(r)+" "+n.String())
		}
	}
	for _, s := range l.Broken() {
		out = append(out, "broken "+s+": "+l.Why(s))
	}
	return strings.Join(out, "\n")
}

// The texts are what the runners printed; that of nextest is after its manual.
func TestWhatRunnersSayIsRead(t *testing.T) {
	tap, ok := TAP(read(t, "node.tap"))
	junit, err := JUnit("pytest", read(t, "pytest.xml"))
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	for _, c := range []struct {
		name string
		got  Ledger
		want string
	}{
		{"go", GoTest(read(t, "go.json")), `fail example.org/m/a: TestSub
fail example.org/m/a: TestSub/two_words
fail example.org/m/d: TestExit
fail example.org/m/f: TestBoom
pass example.org/m/a: TestAdd
pass example.org/m/a: TestPar
pass example.org/m/a: TestSub/one
pass example.org/m/d: TestA
pass example.org/m/e: TestOK
skip example.org/m/a: TestSkip
broken example.org/m/c: it does not compile`},
		{"cargo", Cargo(read(t, "cargo.txt"), read(t, "cargo.err")), `fail m src/lib.rs: tests::bad
pass doc-tests m: src/lib.rs - add (line 1)
pass it tests/it.rs: outer
pass m src/lib.rs: tests::adds
pass m src/lib.rs: tests::panics
skip m src/lib.rs: tests::later`},
		{"nextest", Cargo(nil, read(t, "nextest.err")), "fail m: tests::bad\npass m: tests::adds\npass m::it: outer"},
		{"tap", tap, `fail /m/test/b.test.js
fail bad one
fail group
fail group/inner # bad
pass adds
pass group/inner
skip skipped
skip to do`},
		{"junit", junit, `fail tests.test_calc: test_bad
fail tests.test_calc: test_error
pass tests.test_calc: test_add
pass tests.test_calc: test_many[1]
pass tests.test_calc: test_many[two words]
pass tests.test_calc.TestC: test_in
pass tests.test_calc.U: test_u
skip tests.test_calc: test_skip
skip tests.test_calc: test_xfail`},
		{"lines", Lines("jest", []byte("{\"suite\":\"a.js\",\"test\":\"g/in\",\"result\":\"pass\"}\nnonsense\n{\"suite\":\"b.js\",\"broken\":\"no\"}\n{\"suite\":\"a.js\",\"test\":\"x\",\"result\":\"great\"}\n")),
			"pass a.js: g/in\nbroken b.js: no"},
	} {
		if got := written(c.got); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
		raw, err := json.Marshal(c.got)
		var again Ledger
		if err == nil {
			err = json.Unmarshal(raw, &again)
		}
		if err != nil || written(again) != c.want || !again.Known() {
			t.Errorf("%s is not what was kept: %v\n%s", c.name, err, written(again))
		}
	}
	for _, text := range []string{"", "ok then\n", "all is ok\nnot ok at all", "hello"} {
		if _, ok := TAP([]byte(text)); ok {
			t.Errorf("%q was taken for TAP", text)
		}
	}
}

func TestWhenNoTestRan(t *testing.T) {
	none := GoTest([]byte(`{"Action":"start","Package":"m"}` + "\n" + `{"Action":"output","Package":"m","Output":"?   m [no test files]\n"}` + "\n" + `{"Action":"skip","Package":"m"}` + "\n"))
	skipped := Lines("pytest", []byte(`{"suite":"a","test":"x","result":"skip"}`))
	broken := Lines("pytest", []byte(`{"suite":"a","broken":"no"}`))
	plan, ok := TAP([]byte("TAP version 13\n1..0\n"))
	for name, c := range map[string]struct {
		l    Ledger
		want bool
	}{"no test files": {none, true}, "all skipped": {skipped, true}, "broken": {broken, false}, "no runner": {Ledger{}, false}, "an empty plan": {plan, ok},
		"one test": {Lines("pytest", []byte(`{"suite":"a","test":"x","result":"pass"}`)), false}} {
		if c.l.Empty() != c.want {
			t.Errorf("%s: empty is %v", name, !c.want)
		}
	}
}

// of makes a ledger of words such as "a:TestX=pass" and "a!" for a broken suite.
func of(words string) (l Ledger) {
	l.Saw("go")
	for w := range strings.FieldsSeq(words) {
		if suite, ok := strings.CutSuffix(w, "!"); ok {
			l.Break(suite, "it does not compile")
			continue
		}
		name, result, _ := strings.Cut(w, "=")
		suite, test, _ := strings.Cut(name, ":")
		shaky := strings.HasSuffix(result, "?")
		l.Add(Name{suite, test}, Result(strings.TrimSuffix(result, "?")))
		if shaky {
			l.Shake(Name{suite, test})
		}
	}
	return l
}

func TestWhatBecameOfTheTestsOfTheBase(t *testing.T) {
	const over = "over: "
	for _, c := range []struct{ name, base, own, want string }{
		{"all there", "a:T=pass a:U=skip a:V=fail", "a:T=pass", ""},
		{"gone", "a:T=pass a:U=pass", "a:T=pass", "deleted_test a U"},
		{"skipped", "a:T=pass", "a:T=skip", "skipped_test a T"},
		{"failing in a run that passes", "a:T=pass a:V=fail a:W=pass?", "a:T=fail a:U=fail a:V=fail a:W=fail", "fails_unheeded a T; fails_unheeded a U"},
		{"broken is red by itself", "a:T=pass", "a!", ""},
		{"a case of a table is gone", "a:T=pass a:T/x=pass a:T/y=pass", "a:T=pass a:T/x=pass", "deleted_test a T/y"},
		{"gone with its cases", "a:T=pass a:T/x=pass", "a:U=pass", "deleted_test a T"},
		{"skipped with its cases", "a:T=pass a:T/x=pass", "a:T=skip", "skipped_test a T"},
		{"flaky at the base", "a:T=pass? a:U=pass a:U/x=pass?", "a:U=pass", ""},
		{"cases of what is flaky", "a:T=pass? a:T/x=pass", "", ""},
		{"the base's version holds", "a:T=pass", "a:T=pass " + over + "a:T=pass", ""},
		{"the base's version fails", "a:T=pass a:T/x=pass", "a:T=pass a:T/x=pass " + over + "a:T=fail a:T/x=fail", "fails_as_it_was a T/x"},
		{"the base's version does not run", "a:T=pass", "a:T=pass " + over + "b:T=pass", "fails_as_it_was a T"},
		{"the interface changed", "a:T=pass a:U=pass b:T=pass", "a:T=pass a:U=pass b:T=pass " + over + "a! b:T=pass", "interface_changed a "},
		{"the interface changed, and one is gone", "a:T=pass a:U=pass", "a:T=pass " + over + "a!", "deleted_test a U; interface_changed a "},
	} {
		own, overs, with := strings.Cut(c.own, over)
		r := Runs{Base: of(c.base), Own: of(own), At: func(n Name) Place { return Place{File: n.Suite} }}
		if with {
			l := of(overs)
			r.Over = &l
		}
		var got []string
		for _, f := range Compare(r) {
			if !f.Sure || f.Fix == "" || f.What == "" || f.Line < 1 {
				t.Errorf("%s: %+v", c.name, f)
			}
			got = append(got, string(f.Kind)+" "+f.File+" "+f.Subject)
		}
		if strings.Join(got, "; ") != c.want {
			t.Errorf("%s: found %q, want %q", c.name, got, c.want)
		}
	}
}

// A deleted folder of tests is told in a bounded number of findings.
func TestManyTestsOfOneSuiteAreNotAllNamed(t *testing.T) {
	var base Ledger
	for _, a := range "abcdefgh" {
		for _, b := range "abcdefgh" {
			base.Add(Name{"m", "Test" + string(a) + string(b)}, Passed)
		}
	}
	got := Compare(Runs{Base: base, At: func(n Name) Place { return Place{File: n.Suite} }})
	if len(got) != mostNamed+1 || got[mostNamed].Subject != "" {
		t.Errorf("%d findings, the last is %+v", len(got), got[len(got)-1])
	}
}
