package ledger

import (
	"bytes"
	"encoding/json"
	"strings"
)

// goEvent is one line of go test -json.
type goEvent struct {
	Action  string
	Package string
	Test    string
	Output  string

	ImportPath  string // of build-output
	FailedBuild string
}

// GoTest reads what go test -json wrote. Lines that are no events are left out.
func GoTest(raw []byte) Ledger {
	var l Ledger
	l.Saw("go")
	failed := map[string]bool{} // packages with a test that failed
	open := map[Name]bool{}
	for line := range bytes.Lines(raw) {
		var e goEvent
		if len(line) == 0 || line[0] != '{' || json.Unmarshal(line, &e) != nil || e.Package == "" {
			continue
		}
		n := Name{e.Package, e.Test}
		switch {
		case e.Test == "" && e.Action == "fail":
			l.goPackage(e, failed[e.Package], open)
		case e.Test == "" || strings.HasPrefix(e.Test, "Benchmark"):
		case e.Action == "run":
			open[n] = true
		case e.Action == "pass" || e.Action == "skip" || e.Action == "fail":
			delete(open, n)
			failed[e.Package] = failed[e.Package] || e.Action == "fail"
			l.Add(n, Result(e.Action))
		}
	}
	return l
}

// goPackage notes a package that failed: it did not compile, or ended before its
// tests did.
func (l *Ledger) goPackage(e goEvent, named bool, open map[Name]bool) {
	if e.FailedBuild != "" {
		l.Break(e.Package, NotCompiled)
		return
	}
	cut := false
	for n := range open {
		if n.Suite == e.Package {
			l.Add(n, Failed)
			delete(open, n)
			cut = true
		}
	}
	if !named && !cut {
		l.Break(e.Package, "it failed, and none of its tests did")
	}
}
