package gate

import (
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// world is a workspace made of strings. Names in made were made by the goal;
// a name that ends in a slash is a directory.
type world struct {
	files   map[string]string // path → content
	made    []string
	links   map[string]string
	scratch string
}

func testWorld() world {
	return world{
		files: map[string]string{
			"/ws/": "", "/ws/main.go": "package main", "/ws/go.mod": "module x", "/ws/README.md": "hi", "/ws/a.log": "", "/ws/b.log": "", "/ws/Makefile": "all:",
			"/ws/src/": "", "/ws/src/app.py": "x", "/ws/docs/": "", "/ws/docs/a.md": "", "/ws/.git/": "", "/ws/.git/config": "", "/ws/.git/hooks/": "", "/ws/.orch/": "", "/ws/.orch/log.jsonl": "",
			"/ws/node_modules/": "", "/ws/node_modules/.bin/": "", "/ws/node_modules/.bin/jest": "#!node",
			"/ws/run.sh": "#!/bin/sh\nrm -rf /\n", "/ws/out/": "", "/ws/out/new.txt": "n", "/ws/out/x.tmp": "", "/ws/out/y.tmp": "",
			"/ws/good.sh": "#!/bin/sh\necho hi\ngo test ./...\n", "/ws/bad.sh": "#!/bin/sh\ncd src && rm -f app.py\n", "/ws/made.py": "import shutil; shutil.rmtree('src')", "/ws/made.txt": "t",
			"/ws/bin": "\x7fELF\x00", "/ws/.venv/": "", "/ws/.venv/pyvenv.cfg": "", "/ws/.venv/bin/": "", "/ws/.venv/bin/pip": "#!/ws/.venv/bin/python\nimport x", "/ws/.venv/bin/python": "\x7fELF\x00", "/etc/": "", "/etc/passwd": "", "/tmp/": "", "/tmp/other": "", "/home/me/": "", "/home/me/notes": "", "/tmp/step/": "", "/tmp/step/f": "x",
		},
		made:    []string{"/ws/out", "/ws/good.sh", "/ws/bad.sh", "/ws/made.py", "/ws/made.txt", "/ws/bin", "/ws/.venv", "/ws/node_modules"},
		links:   map[string]string{"/ws/etc": "/etc", "/ws/link.txt": "/ws/README.md"},
		scratch: "/tmp/step",
	}
}

func (w world) Root() string { return "/ws" }

func (w world) real(p string, follow bool) string {
	real := ""
	parts := strings.Split(strings.Trim(p, "/"), "/")
	for i, part := range parts {
		if part == ".." {
			real = path.Dir(real)
			continue
		}
		real = path.Join("/", real, part)
		if to, ok := w.links[real]; ok && (follow || i < len(parts)-1) {
			real = to
		}
	}
	return path.Clean("/" + real)
}

func (w world) Inspect(p string, follow bool) Entry {
	real := w.real(p, follow)
	_, file := w.files[real]
	_, dir := w.files[real+"/"]
	_, link := w.links[real]
	e := Entry{Real: real, Exists: file || dir || link, Dir: dir, Inside: real == "/ws" || strings.HasPrefix(real, "/ws/"), Scratch: real == w.scratch || strings.HasPrefix(real, w.scratch+"/")}
	e.Created = slices.ContainsFunc(w.made, func(m string) bool { return real == m || strings.HasPrefix(real, m+"/") })
	return e
}

func (w world) Glob(pattern string) ([]string, bool) {
	var out []string
	for f := range w.files {
		f = strings.TrimSuffix(f, "/")
		if ok, _ := doublestar.Match(pattern, f); ok {
			out = append(out, f)
		}
	}
	slices.Sort(out)
	return out, true
}

func (w world) Source(p string) (string, bool) {
	s, ok := w.files[w.real(p, true)]
	return s, ok
}

func testGate(rules ...Rule) Gate {
	return Gate{Facts: testWorld(), Rules: rules, Dialect: Bash, Vars: map[string]string{"HOME": "/home/me", "TMPDIR": "/tmp/step"}}
}
