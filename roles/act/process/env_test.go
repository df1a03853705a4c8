package process

import (
	"bytes"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestScrubEnv(t *testing.T) {
	base := []string{
		"PATH=/bin", "HOME=/h", "LANG=C", "GIT_DIR=/x", "GIT_AUTHOR_NAME=a", "ORCH_AGENT_ID=coder-1", "ORCH_SOCK=s",
		"OPENAI_API_KEY=k", "GITHUB_TOKEN=t", "AWS_SECRET_ACCESS_KEY=s", "MY_PASSWORD=p", "SSH_AUTH_SOCK=x", "BASH_ENV=e",
		"LD_PRELOAD=l", "DEPLOY_KEY=k", "MAKEFLAGS=-k", "MAKELEVEL=1", "=C:=x", "broken",
	}
	if got, want := ScrubEnv(base), []string{"PATH=/bin", "HOME=/h", "LANG=C"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	got := ScrubEnv(base, "OPENAI_*", "GIT_DIR", "ORCH_*")
	if want := []string{"PATH=/bin", "HOME=/h", "LANG=C", "GIT_DIR=/x", "OPENAI_API_KEY=k"}; !slices.Equal(got, want) {
		t.Errorf("with allow: got %q, want %q", got, want)
	}
}

// A key is what the configuration names as one, whatever it is called, and no
// glob that means something else takes it along.
func TestKeysAreInheritedByTheirWholeNameOnly(t *testing.T) {
	base := []string{"PATH=/bin", "MY_BOX=1", "OPENAI_TEAM=2", "OPENAI_HOST=3", "ORCH_KEYS=MY_BOX,OPENAI_TEAM"}
	for _, c := range []struct{ allow, want []string }{
		{nil, []string{"PATH=/bin", "OPENAI_HOST=3"}},
		{[]string{"OPENAI_*", "*"}, []string{"PATH=/bin", "OPENAI_HOST=3"}},
		{[]string{"OPENAI_TEAM"}, []string{"PATH=/bin", "OPENAI_TEAM=2", "OPENAI_HOST=3"}},
	} {
		if got := ScrubEnv(base, c.allow...); !slices.Equal(got, c.want) {
			t.Errorf("with %q: %q, want %q", c.allow, got, c.want)
		}
	}
	if got, want := WithoutKeys(base), []string{"PATH=/bin", "OPENAI_HOST=3", "ORCH_KEYS=MY_BOX,OPENAI_TEAM"}; !slices.Equal(got, want) {
		t.Errorf("without keys: %q, want %q", got, want)
	}
}

// Head and tail are always the true ends of what was written, however it came.
func TestCaptureKeepsTheEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keep := rapid.IntRange(2, 40).Draw(t, "keep")
		limit := rapid.Int64Range(1, 200).Draw(t, "limit")
		var all []byte
		alarm := make(chan struct{}, 1)
		c := newCapture(Spec{KeepBytes: keep, MaxOutputBytes: limit}, alarm)
		for _, chunk := range rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 0, 50), 0, 8).Draw(t, "chunks") {
			c.add(chunk)
			all = append(all, chunk...)
		}
		if over := int64(len(all)) > limit; over != (len(alarm) == 1) || over != c.flooded() {
			t.Fatalf("%d bytes of %d: alarm %d", len(all), limit, len(alarm))
		}
		all = all[:min(int64(len(all)), limit)]
		var res Result
		c.fill(&res)
		half := keep / 2
		head := all[:min(half, len(all))]
		rest := all[len(head):]
		tail := rest[max(len(rest)-half, 0):]
		if !bytes.Equal(res.Head, head) || !bytes.Equal(res.Tail, tail) || res.OutputBytes != int64(len(all)) {
			t.Fatalf("head %q tail %q of %q (keep %d)", res.Head, res.Tail, all, keep)
		}
		if res.Truncated != (len(head)+len(tail) < len(all)) {
			t.Fatalf("truncated %v", res.Truncated)
		}
	})
}
