package weaken

import "testing"

// A finding keeps its ID while work goes on around it, and no other has it.
func TestAFindingKeepsItsIDWhereverItsLineMoves(t *testing.T) {
	of := func(diff string) []Finding {
		t.Helper()
		all, err := Inspect([]byte(diff), false)
		if err != nil || len(all) == 0 {
			t.Fatalf("%v, %v", all, err)
		}
		return all
	}
	skip := "+\tt.Skip(\"later\")"
	first := of(patch("a_test.go", "func TestA(t *testing.T) {", skip))[0]
	if !IsID(first.ID()) || first.Subject != "TestA" {
		t.Fatalf("%q of %+v", first.ID(), first)
	}
	moved := of(patch("a_test.go", "func TestA(t *testing.T) {", " a()", " b()", "+\tt.Skip(\"not now\")"))[0]
	if moved.Line == first.Line || moved.ID() != first.ID() {
		t.Errorf("%s became %s when its line moved from %d to %d", first.ID(), moved.ID(), first.Line, moved.Line)
	}
	for name, other := range map[string]string{
		"another test": patch("a_test.go", "func TestB(t *testing.T) {", skip),
		"another file": patch("b_test.go", "func TestA(t *testing.T) {", skip),
		"another kind": patch("a_test.go", "func TestA(t *testing.T) {", "-\tif f() != 1 {", "-\t\tt.Fatal(1)", "-\t}"),
	} {
		if got := of(other)[0].ID(); got == first.ID() {
			t.Errorf("%s has the same ID %s", name, got)
		}
	}
	if IsID("f-xyz") || IsID("0123456789") || IsID("") {
		t.Error("what is no ID was taken for one")
	}
}
