package protected

import (
	"slices"
	"strings"
	"testing"
)

// tree is a project by the paths of its files.
type tree map[string]string

func (t tree) read(name string) ([]byte, bool) { text, ok := t[name]; return []byte(text), ok }

// changed names the entries that differ, as FILE or FILE ENTRY.
func changed(before, now tree, commands ...string) string {
	var files []string
	for name := range before {
		if now[name] != before[name] {
			files = append(files, name)
		}
	}
	for name := range now {
		if _, there := before[name]; !there {
			files = append(files, name)
		}
	}
	slices.Sort(files)
	all := Inspect(files, Project{Commands: commands, Tested: true, Before: before.read, Now: now.read})
	var said []string
	for _, f := range all {
		if !f.Sure || f.Line < 1 || f.Blocker("").Validate() != nil {
			return "not a finding that rejects: " + f.What
		}
		said = append(said, strings.TrimSpace(f.File+" "+f.Subject))
	}
	return strings.Join(said, "; ")
}

const pkg = `{"name": "a", "scripts": {"build": "tsc", "test": "npm run unit && sh ci/test.sh", "unit": "jest"}, "jest": {"bail": true}, "dependencies": {"left": "1"}}`

const mk = "GO = go\nFLAGS := -race\nX = 1\n\nbuild:\n\t$(GO) build ./...\n\ntest: gen\n\t@$(GO) test $(FLAGS) ./...\n\tsh tools/extra.sh\n\ngen:\n\techo gen\n\nrelease:\n\techo $(X)\n"

const py = "[project]\nname = \"a\"\ndependencies = [\n  \"x\",\n]\n\n[tool.pytest.ini_options]\naddopts = \"-q\"\n\n[tool.black]\nline-length = 100\n"

const pomXML = "<project><version>1</version><properties><java>21</java></properties><build><plugins><plugin><artifactId>maven-surefire-plugin</artifactId></plugin><plugin><artifactId>other</artifactId></plugin></plugins></build></project>"

// Every way to change what runs has a twin that changes the rest of the file.
func TestWhatDecidesWhatRunsAndItsTwin(t *testing.T) {
	replace := func(text, old, with string) string {
		if !strings.Contains(text, old) {
			t.Fatalf("%q is not there", old)
		}
		return strings.Replace(text, old, with, 1)
	}
	type change struct{ name, before, now string }
	for name, c := range map[string]struct {
		cheat change
		want  string
		twin  change
	}{
		"the script of the command":   {change{"check.sh", "go test ./...\n", "true\n"}, "check.sh", change{"other.sh", "a\n", "true\n"}},
		"a script that a script runs": {change{"sub/deep.sh", "go test ./...\n", "true\n"}, "sub/deep.sh", change{"sub/other.sh", "a", "b"}},
		"the script is gone":          {change{"check.sh", "go test ./...\n", ""}, "check.sh", change{"other.sh", "a", ""}},
		"the test script":             {change{"package.json", pkg, replace(pkg, "npm run unit && ", "true || ")}, "package.json scripts.test", change{"package.json", pkg, replace(pkg, `"left": "1"`, `"left": "2", "right": "1"`)}},
		"a script that it runs":       {change{"package.json", pkg, replace(pkg, `"unit": "jest"`, `"unit": "true"`)}, "package.json scripts.unit", change{"package.json", pkg, replace(pkg, `"tsc"`, `"tsc -b"`)}},
		"before the test script":      {change{"package.json", pkg, replace(pkg, `"build"`, `"pretest": "rm -r test", "build"`)}, "package.json scripts.pretest", change{"package.json", pkg, replace(pkg, `"build"`, `"prebuild": "x", "build"`)}},
		"jest in package.json":        {change{"package.json", pkg, replace(pkg, `"bail": true`, `"testMatch": []`)}, "package.json jest", change{"package.json", pkg, "\n " + pkg}},
		"no JSON any more":            {change{"package.json", pkg, pkg + "}"}, "package.json", change{"data.json", "{", "}"}},
		"a shell script of npm":       {change{"ci/test.sh", "exec go test\n", "exit 0\n"}, "ci/test.sh", change{"ci/build.sh", "a", "b"}},
		"a target of make":            {change{"Makefile", mk, replace(mk, "@$(GO) test $(FLAGS) ./...", "@true")}, "Makefile $FLAGS; Makefile $GO; Makefile test", change{"Makefile", mk, replace(mk, "build ./...", "build -v ./...")}},
		"what the target needs":       {change{"Makefile", mk, replace(mk, "echo gen", "rm *_test.go")}, "Makefile gen", change{"Makefile", mk, replace(mk, "release:", "tag:\n\tgit tag x\n\nrelease:")}},
		"a variable of the recipe":    {change{"Makefile", mk, replace(mk, "GO = go", "GO = true")}, "Makefile $GO", change{"Makefile", mk, replace(mk, "X = 1", "X = 2")}},
		"the shell of make":           {change{"Makefile", mk, "SHELL = /bin/true\n" + mk}, "Makefile $SHELL", change{"Makefile", mk, "# told\n" + mk}},
		"another file includes":       {change{"Makefile", mk, mk + "include x.mk\n"}, "Makefile include, define and conditions", change{"Makefile", mk, mk + "\nclean:\n\trm -r out\n"}},
		"make's other name":           {change{"GNUmakefile", "", "test:\n\ttrue\n"}, "GNUmakefile test", change{"docs/Makefile", "", "test:\n\ttrue\n"}},
		"a script of a recipe":        {change{"tools/extra.sh", "go vet\n", "true\n"}, "tools/extra.sh", change{"tools/other.sh", "a", "b"}},
		"options of pytest":           {change{"pyproject.toml", py, replace(py, "-q", "--deselect x")}, "pyproject.toml tool.pytest.ini_options.addopts", change{"pyproject.toml", py, replace(py, "\"x\",", "\"x\",\n  \"y\",")}},
		"in a string of many lines":   {change{"pyproject.toml", py, replace(py, "\"-q\"", "\"-q\"\nx = \"\"\"\n[foo]\n\"\"\"\ntestpaths = [\"none\"]")}, "pyproject.toml tool.pytest.ini_options.testpaths; pyproject.toml tool.pytest.ini_options.x", change{"pyproject.toml", py, replace(py, "100", "120")}},
		"in a table of its own":       {change{"pyproject.toml", py, py + "[ tool . \"pytest\" . ini_options2 ]\nx = 1\n"}, "pyproject.toml tool.pytest.ini_options2; pyproject.toml tool.pytest.ini_options2.x", change{"pyproject.toml", py, py + "[tool.ruff]\nx = 1\n"}},
		"in one line":                 {change{"pyproject.toml", "[project]\nname = 1\n", "tool = {pytest = {x = 1}}\n[project]\nname = 1\n"}, "pyproject.toml tool", change{"pyproject.toml", "[project]\nname = 1\n", "[project]\nname = 2\n"}},
		"with an escaped key":         {change{"pyproject.toml", py, py + "[\"\\u0074ool\".pytest]\nx = 1\n"}, "pyproject.toml", change{"pyproject.toml", py, py + "# [tool.pytest]\n"}},
		"a file of pytest":            {change{"pytest.ini", "", "[pytest]\naddopts = -k none\n"}, "pytest.ini", change{"docs.ini", "", "[pytest]\n"}},
		"a section of tox":            {change{"tox.ini", "[testenv]\ncommands = pytest\n", "[testenv]\ncommands = true\n"}, "tox.ini [testenv]", change{"tox.ini", "[flake8]\nx = 1\n", "[flake8]\nx = 2\n"}},
		"a section of setup.cfg":      {change{"setup.cfg", "[metadata]\nname = a\n", "[metadata]\nname = a\n[tool:pytest]\naddopts = -k none\n"}, "setup.cfg [tool:pytest]", change{"setup.cfg", "[metadata]\nname = a\n", "[metadata]\nname = b\n"}},
		"a hook of conftest":          {change{"tests/conftest.py", "import x\n", "import x\ndef pytest_runtest_makereport(item):\n    return None\n"}, "tests/conftest.py pytest_runtest_makereport", change{"tests/conftest.py", "import x\n", "import x\n@fixture\ndef db():\n    return 1\n"}},
		"a fixture of every test":     {change{"conftest.py", "import x\n", "import x\n@fixture(autouse=True)\ndef all_of():\n    skip()\n"}, "conftest.py all_of", change{"conftest.py", "import x\n", "import y\n"}},
		"what conftest leaves out":    {change{"conftest.py", "", "collect_ignore = [\"a\"]\n"}, "conftest.py collect_ignore", change{"conftest.py", "", "def helper():\n    pass\n"}},
		"cargo's harness":             {change{"Cargo.toml", "[package]\nname = \"a\"\n[lib]\npath = \"a.rs\"\n", "[package]\nname = \"a\"\n[lib]\npath = \"a.rs\"\ntest = false\n"}, "Cargo.toml lib.test", change{"Cargo.toml", "[dependencies]\na = \"1\"\n", "[dependencies]\na = \"2\"\n"}},
		"a test of cargo":             {change{"Cargo.toml", "[package]\nname = \"a\"\n", "[package]\nname = \"a\"\n[[test]]\nname = \"it\"\nharness = false\n"}, "Cargo.toml test; Cargo.toml test.harness; Cargo.toml test.name", change{"Cargo.toml", "[package]\nversion = \"1\"\n", "[package]\nversion = \"2\"\n"}},
		"cargo's runner":              {change{".cargo/config.toml", "", "[target.x]\nrunner = \"true\"\n"}, ".cargo/config.toml", change{"cargo/config.toml", "", "x"}},
		"surefire":                    {change{"pom.xml", pomXML, replace(pomXML, "surefire-plugin</artifactId>", "surefire-plugin</artifactId><configuration><skip>true</skip></configuration>")}, "pom.xml project.build.plugins.plugin", change{"pom.xml", pomXML, replace(pomXML, "<version>1<", "<version>2<")}},
		"a property that skips":       {change{"pom.xml", pomXML, replace(pomXML, "<java>", "<skipTests>true</skipTests><java>")}, "pom.xml project.properties.skipTests", change{"pom.xml", pomXML, replace(pomXML, ">21<", ">25<")}},
		"gradle's test":               {change{"build.gradle", "test {\n  useJUnitPlatform()\n}\n", "test {\n  enabled = false\n}\n"}, "build.gradle test", change{"build.gradle", "dependencies {\n  testImplementation 'a'\n}\n", "dependencies {\n  testImplementation 'b'\n}\n"}},
		"jest's own file":             {change{"jest.config.js", "a", "b"}, "jest.config.js", change{"babel.config.js", "a", "b"}},
		"vite that says how to test":  {change{"vite.config.ts", "plugins: []", "plugins: [], test: {include: []}"}, "vite.config.ts", change{"vite.config.ts", "plugins: []", "plugins: [vue]"}},
		"npm's shell":                 {change{".npmrc", "", "script-shell=/bin/true\n"}, ".npmrc", change{".nvmrc", "", "20"}},
		"what a host runs":            {change{".github/workflows/ci.yml", "run: make test", "run: true"}, ".github/workflows/ci.yml", change{".github/CODEOWNERS", "a", "b"}},
		"a host's file that is new":   {change{".gitlab-ci.yml", "a", ""}, ".gitlab-ci.yml", change{".gitlab-ci.yml", "", "a"}},
	} {
		for what, side := range map[string]change{"": c.cheat, "its twin": c.twin} {
			want := c.want
			if what != "" {
				want = ""
			}
			before := tree{"check.sh": "go test ./...\n. sub/deep.sh\n", "sub/deep.sh": "x\n", "ci/test.sh": "x\n", "tools/extra.sh": "x\n", "package.json": pkg, "Makefile": mk}
			if side.before != "" {
				before[side.name] = side.before
			}
			if side.name == "check.sh" {
				before["sub/deep.sh"] = ""
			}
			now := tree{}
			for k, v := range before {
				now[k] = v
			}
			if now[side.name] = side.now; side.now == "" {
				delete(now, side.name)
			}
			if got := changed(before, now, "sh check.sh"); got != want {
				t.Errorf("%s %s: %q, want %q", name, what, got, want)
			}
		}
	}
}

// Where nothing was tested there is nothing to protect from what comes first.
func TestTheFirstTestsOfAProjectAreNoChange(t *testing.T) {
	now := tree{"package.json": pkg, "Makefile": mk, "pytest.ini": "[pytest]\n"}
	p := Project{Before: tree{}.read, Now: now.read}
	if got := Inspect([]string{"Makefile", "package.json", "pytest.ini"}, p); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

// Whatever the text, reading it ends and says the same twice.
func FuzzInspect(f *testing.F) {
	for _, s := range []string{pkg, mk, py, pomXML, "a = [\n[b]\n]", "\"", "<a><b>", "def pytest_x():"} {
		f.Add(s, s+"\nx")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		for _, name := range []string{"package.json", "Makefile", "pyproject.toml", "Cargo.toml", "pom.xml", "setup.cfg", "conftest.py", "build.gradle", "check.sh"} {
			before, now := tree{name: a}, tree{name: b}
			one, two := changed(before, now, "sh check.sh"), changed(before, now, "sh check.sh")
			if one != two || a == b && one != "" || strings.HasPrefix(one, "not a") {
				t.Fatalf("%s: %q and %q", name, one, two)
			}
		}
	})
}
