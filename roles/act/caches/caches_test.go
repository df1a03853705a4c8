package caches

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"orch/roles/act/confine"
)

func TestEnvironKeepsBuildsApartAndOffline(t *testing.T) {
	get := func(env []string, name string) string { return lookup(env, name) }
	s := Set{Dir: "/c"}
	env := s.Environ([]string{"HOME=/home/u", "GOCACHE=/old", "GOPROXY=off"}, "/home/u", nil)
	for name, want := range map[string]string{"GOCACHE": "/c/go-build", "GOMODCACHE": "/c/go-mod", "npm_config_cache": "/c/npm", "PIP_CACHE_DIR": "/c/pip", "UV_CACHE_DIR": "/c/uv", "CARGO_HOME": "/c/cargo"} {
		if get(env, name) != want {
			t.Errorf("%s=%s, want %s", name, get(env, name), want)
		}
	}
	if p := get(env, "GOPROXY"); p != "file:///home/u/go/pkg/mod/cache/download,off" {
		t.Errorf("GOPROXY=%s", p)
	}
	env = s.Environ([]string{"GOMODCACHE=/m"}, "/home/u", GoSettings{"GOPROXY": "https://mirror", "GOMODCACHE": "/not"})
	if p := get(env, "GOPROXY"); p != "file:///m/cache/download,https://mirror" {
		t.Errorf("GOPROXY=%s: the environment wins over go env -w, and that over the default", p)
	}
	env = s.Environ([]string{"GOPATH=/p:/q", "GOPRIVATE=corp.example"}, "/home/u", nil)
	if p := get(env, "GOPROXY"); p != "file:///p/pkg/mod/cache/download,direct" || get(env, "GONOPROXY") != "none" {
		t.Errorf("GOPROXY=%s: nobody may be told the names of private modules", p)
	}
	if env = (Set{}).Environ([]string{"GOCACHE=/old"}, "/home/u", nil); get(env, "GOCACHE") != "/old" {
		t.Errorf("who has no caches keeps the person's: %v", env)
	}
}

func TestWhichProjectsFillCaches(t *testing.T) {
	for file, uses := range map[string]bool{"go.mod": true, "sub/dir/go.mod": true, "package.json": true, "Cargo.toml": true, "a/pyproject.toml": true, "go.mod.md": false, "Makefile": false} {
		if Uses([]string{"README.md", file}) != uses {
			t.Errorf("%s fills caches: %v", file, !uses)
		}
	}
	if n := len(Warm([]string{"package.json"})); n != 0 {
		t.Errorf("%d commands warm what is only downloaded", n)
	}
	if w := Warm([]string{"x/go.mod"}); len(w) != 1 || w[0].Fill[0] != "go" {
		t.Errorf("%v", w)
	}
}

// lowerWith is a lower layer with one file, and a directory nobody may write.
func lowerWith(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "go-mod", "m"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "go-mod", "m", "file"), []byte("lower"), 0o444); err != nil {
		t.Fatal(err)
	}
	if err := Freeze(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestALowerLayerIsCopiedWhereItCanNotBeLaidBelow(t *testing.T) {
	lower, root := lowerWith(t), t.TempDir()
	file := filepath.Join("go-mod", "m", "file")
	for _, c := range []struct {
		layers  confine.Layers
		how     How
		mounted bool
	}{
		{confine.Layers{}, Copied, false},
		{confine.Layers{Landlock: 7}, Copied, false},
		{confine.Layers{Namespace: true}, Copied, true},
		{confine.Layers{Namespace: true, Overlay: true, Landlock: 7}, Layered, true},
	} {
		own := filepath.Join(t.TempDir(), "own")
		s, err := Open(root, own, lower, c.layers)
		if err != nil || s.How != c.how || (s.Over != nil) != c.mounted {
			t.Fatalf("%s: %+v, %v", c.layers, s, err)
		}
		if want := filepath.Join(root, atName); c.mounted && (s.Dir != want || s.Over.At != want) {
			t.Errorf("%s: it is at %s", c.layers, s.Dir)
		}
		raw, err := os.ReadFile(filepath.Join(own, upperName, file))
		if copied := err == nil && string(raw) == "lower"; copied != (c.how == Copied) {
			t.Errorf("%s: copied %v", c.layers, copied)
		}
		if (c.how == Layered) != (c.mounted && s.Over.Lower == lower && s.Over.Work != "") {
			t.Errorf("%s: %+v", c.layers, s.Over)
		}
		upper := filepath.Join(own, upperName, "own")
		if err := os.WriteFile(upper, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if again, err := Open(root, own, lower, c.layers); err != nil || again.How != c.how {
			t.Errorf("%s: opened again: %+v, %v", c.layers, again, err)
		}
		if _, err := os.Stat(upper); err != nil {
			t.Errorf("%s: what its owner cached is gone: %v", c.layers, err)
		}
		if s, err := Open(root, filepath.Join(t.TempDir(), "own"), "", c.layers); err != nil || s.How != Empty {
			t.Errorf("%s without a lower layer: %+v, %v", c.layers, s, err)
		}
	}
	if raw, err := os.ReadFile(filepath.Join(lower, file)); err != nil || string(raw) != "lower" {
		t.Errorf("the lower layer changed: %q, %v", raw, err)
	}
}

// A tool that notes the use of a file by its time finds it newer than now.
func TestTheFilesOfALowerLayerAreNewerThanNow(t *testing.T) {
	info, err := os.Stat(filepath.Join(lowerWith(t), "go-mod", "m", "file"))
	if err != nil || time.Until(info.ModTime()) < 365*24*time.Hour {
		t.Errorf("%v, %v", info.ModTime(), err)
	}
}

func TestWhatIsTooLargeIsNotCopied(t *testing.T) {
	lower := lowerWith(t)
	f, err := os.Create(filepath.Join(lower, "large"))
	if err == nil {
		err = errors.Join(f.Truncate(mostCopied+1), f.Close()) // a hole takes no room
	}
	if err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(t.TempDir(), "own")
	s, err := Open(t.TempDir(), own, lower, confine.Layers{})
	if err != nil || s.How != Empty {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := os.Stat(filepath.Join(own, upperName, "go-mod")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a part of it was copied: %v", err)
	}
}

func TestCachesThatGrewTooLargeAreBegunAnew(t *testing.T) {
	own := filepath.Join(t.TempDir(), "own")
	if _, err := Open(t.TempDir(), own, "", confine.Layers{}); err != nil {
		t.Fatal(err)
	}
	large := filepath.Join(own, upperName, "large")
	f, err := os.Create(large)
	if err == nil {
		err = errors.Join(f.Truncate(mostUpper+1), f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.TempDir(), own, "", confine.Layers{}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(large); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is there still: %v", err)
	}
}
