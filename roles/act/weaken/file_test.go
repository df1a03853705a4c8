package weaken

import "testing"

func TestFilesByConvention(t *testing.T) {
	for _, name := range []string{"a_test.go", "pkg/x_test.go", "tests/a.py", "test_a.py", "src/__tests__/a.js", "a.test.ts", "a.spec.tsx", "conftest.py",
		"src/tests.rs", "tests/it.rs", "ATest.java", "testdata/a.txt", "x.txtar", "spec/a_spec.rb", "lib/a_spec.rb"} {
		if !IsTestFile(name) || IsCodeFile(name) {
			t.Errorf("%s is a test", name)
		}
	}
	for _, name := range []string{"a.go", "src/main.rs", "contest.py", "latest.js", "attest/sign.go", "inspect.ts", "testing.go"} {
		if IsTestFile(name) || !IsCodeFile(name) {
			t.Errorf("%s is code", name)
		}
	}
	for _, name := range []string{"specs/retry.md", "spec/api.yaml", "README.md", "config.json"} {
		if IsTestFile(name) || IsCodeFile(name) {
			t.Errorf("%s is neither", name)
		}
	}
}
