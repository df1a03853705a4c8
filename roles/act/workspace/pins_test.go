package workspace

import (
	"slices"
	"testing"
)

func TestOnlyRefsOfCommitsOnABranchAreSpare(t *testing.T) {
	p := newProject(t)
	first := p.head()
	p.write("a.txt", "two\n")
	merged := p.save("merged")
	p.git("branch", "integration")
	p.git("checkout", "-q", "--detach")
	p.write("a.txt", "aside\n")
	aside := p.save("aside")
	p.git("checkout", "-q", "main")
	for ref, c := range map[string]Commit{"refs/orch/g/start": first, "refs/orch/g/t/1": merged, "refs/orch/g/left/t": aside, "refs/orch/g2/start": first} {
		must(t, p.repo.Pin(t.Context(), ref, c))
	}
	pins, err := p.repo.Pins(t.Context(), "g", "refs/heads/integration", "refs/heads/none")
	if err != nil || pins.Kept != 1 || !slices.Equal(pins.Spare, []Pin{{"refs/orch/g/start", first}, {"refs/orch/g/t/1", merged}}) {
		t.Fatalf("%+v, %v", pins, err)
	}
	if pins, err := p.repo.Pins(t.Context(), "g", "refs/heads/none"); err != nil || len(pins.Spare) > 0 || pins.Kept != 3 {
		t.Errorf("without the branch: %+v, %v", pins, err)
	}
	// A ref that went on meanwhile keeps all of them.
	must(t, p.repo.Pin(t.Context(), "refs/orch/g/t/1", aside))
	if err := p.repo.Unpin(t.Context(), pins.Spare); err == nil {
		t.Error("a ref that went on is removed")
	}
	must(t, p.repo.Pin(t.Context(), "refs/orch/g/t/1", merged))
	must(t, p.repo.Unpin(t.Context(), pins.Spare))
	if got := p.git("for-each-ref", "--format=%(refname)", "refs/orch/"); got != "refs/orch/g/left/t\nrefs/orch/g2/start" {
		t.Errorf("left are %s", got)
	}
	if err := p.repo.Unpin(t.Context(), []Pin{{"refs/heads/main", merged}}); err == nil {
		t.Error("a branch of the person is removed")
	}
}
