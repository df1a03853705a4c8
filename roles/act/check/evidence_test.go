package check

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// packages is what `go test ./...` prints for some packages that pass.
func packages(from, to int) string {
	var b strings.Builder
	for n := from; n < to; n++ {
		fmt.Fprintf(&b, "ok  \texample.com/roles/package%02d\t0.%03ds\n", n, n)
	}
	return b.String()
}

func TestEvidenceNamesWhatFailedFarFromTheEnd(t *testing.T) {
	out := packages(0, 3) + "--- FAIL: TestThird (0.01s)\n    third_test.go:12: got 1\n    third_test.go:13: want 2\n" +
		"FAIL\nFAIL\texample.com/third\t0.01s\n" + packages(4, 60) + "FAIL"
	got := telling(out)
	for _, want := range []string{"--- FAIL: TestThird", "third_test.go:13: want 2", "FAIL\texample.com/third", "package59"} {
		if !strings.Contains(got, want) {
			t.Errorf("it does not show %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "package00") || utf8.RuneCountInString(got) > evidenceChars+10 {
		t.Errorf("it is not cut to what tells:\n%s", got)
	}
}

func TestEvidenceIsTheEndWhereNothingSaysWhatFailed(t *testing.T) {
	got := telling(packages(0, 60))
	if !strings.HasPrefix(got, cut) || !strings.HasSuffix(got, packages(50, 60)) || utf8.RuneCountInString(got) != evidenceChars+len([]rune(cut)) {
		t.Errorf("got %q", got)
	}
	if short := "--- FAIL: TestOnly"; telling(short) != short {
		t.Errorf("what fits is not whole: %q", telling(short))
	}
}

func TestEvidenceOfManyFailuresIsBounded(t *testing.T) {
	var b strings.Builder
	for n := range 500 {
		fmt.Fprintf(&b, "--- FAIL: Test%d (0.00s)\n    x_test.go:1: %s\n", n, strings.Repeat("ü", 400))
	}
	got := telling(b.String())
	if !strings.HasPrefix(got, "--- FAIL: Test0 ") || utf8.RuneCountInString(got) > evidenceChars+10 {
		t.Errorf("%d characters: %s", utf8.RuneCountInString(got), got)
	}
}
