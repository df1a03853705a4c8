package emptied

import (
	"go/build/constraint"
	"path"
	"runtime"
	"slices"
	"strings"
)

// Systems and architectures that the name of a Go file can end in. go/build
// knows them too, and costs each start of the program 0.8 ms.
const (
	systems = " aix android darwin dragonfly freebsd hurd illumos ios js linux nacl netbsd openbsd plan9 solaris wasip1 windows zos "
	archs   = " 386 amd64 arm arm64 loong64 mips mips64 mips64le mipsle ppc64 ppc64le riscv64 s390x sparc64 wasm "
	unixes  = " aix android darwin dragonfly freebsd hurd illumos ios linux netbsd openbsd solaris "
)

// builtHere tells whether a file belongs to the program on this system, by its
// name and its build constraint.
func builtHere(name string, text []byte) bool {
	base := path.Base(name)
	if strings.HasPrefix(base, "_") || strings.HasPrefix(base, ".") {
		return false
	}
	if !namedForHere(strings.TrimSuffix(base, ".go")) {
		return false
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "package ") {
			break
		}
		if constraint.IsGoBuild(line) {
			expr, err := constraint.Parse(line)
			return err == nil && expr.Eval(tagged)
		}
	}
	return true
}

func namedForHere(name string) bool {
	parts := strings.Split(strings.TrimSuffix(name, "_test"), "_")[1:]
	n := len(parts)
	if n >= 2 && listed(systems, parts[n-2]) && listed(archs, parts[n-1]) {
		return tagged(parts[n-2]) && tagged(parts[n-1])
	}
	return n == 0 || !listed(systems, parts[n-1]) && !listed(archs, parts[n-1]) || tagged(parts[n-1])
}

func tagged(tag string) bool {
	return slices.Contains([]string{runtime.GOOS, runtime.GOARCH, "gc", "cgo"}, tag) || strings.HasPrefix(tag, "go1.") || tag == "unix" && listed(unixes, runtime.GOOS)
}

func listed(list, word string) bool { return strings.Contains(list, " "+word+" ") }
