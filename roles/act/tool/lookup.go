package tool

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"orch/roles/act/tool/gate"
)

const (
	maxMatches   = 1_000
	maxGrepBytes = 8 << 20 // of one file
	maxLineChars = 400
)

func (i *GlobInput) check() error {
	if !doublestar.ValidatePattern(i.Pattern) || path.IsAbs(i.Pattern) {
		return fmt.Errorf("pattern %q is not a valid relative glob", i.Pattern)
	}
	return need("pattern", i.Pattern)
}
func (i *GlobInput) reads() bool { return true }
func (i *GlobInput) gate(b *Box) []gate.Decision {
	return []gate.Decision{b.gate.Read(string(Glob), b.dirOf(i.Dir))}
}
func (i *GlobInput) target(b *Box) string { return path.Join(b.rel(b.dirOf(i.Dir)), i.Pattern) }

func (i *GlobInput) run(ctx context.Context, b *Box) Result {
	var out bytes.Buffer
	n := 0
	err := b.files(ctx, b.dirOf(i.Dir), func(rel string, _ fs.FS) error {
		if ok, err := doublestar.Match(i.Pattern, rel); err != nil || !ok {
			return err
		}
		if n++; n > maxMatches {
			return errTooMany
		}
		fmt.Fprintln(&out, rel)
		return nil
	})
	return found(&out, n, err)
}

// found is the result of a search: finding nothing is no failure.
func found(out *bytes.Buffer, n int, err error) Result {
	if err != nil && !errors.Is(err, errTooMany) {
		return failed(err)
	}
	r := Result{Output: out.Bytes(), Truncated: err != nil}
	if err != nil {
		r.Output = append(r.Output, "[more than can be listed: narrow the search]\n"...)
	}
	if n == 0 && err == nil {
		r.Output = []byte("nothing found\n")
	}
	return r
}

// files visits every file below a directory, in order, without following
// links and without .git and .orch.
func (b *Box) files(ctx context.Context, dir string, visit func(rel string, in fs.FS) error) error {
	real, _ := resolve(dir, true)
	root, err := os.OpenRoot(real)
	if err != nil {
		return err
	}
	defer root.Close()
	fsys := root.FS()
	seen := 0
	return fs.WalkDir(fsys, ".", func(rel string, d fs.DirEntry, err error) error {
		if err != nil && rel == "." {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if seen++; seen > maxEntries {
			return errTooMany
		}
		switch {
		case err != nil:
			return fs.SkipDir
		case d.IsDir() && (d.Name() == ".git" || d.Name() == ".orch"):
			return fs.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		return visit(rel, fsys)
	})
}

func (i *GrepInput) check() error {
	if _, err := i.regexp(); err != nil {
		return err
	}
	if i.Glob != "" && !doublestar.ValidatePattern(i.Glob) {
		return fmt.Errorf("glob %q is not valid", i.Glob)
	}
	return need("pattern", i.Pattern)
}

func (i *GrepInput) regexp() (*regexp.Regexp, error) {
	if i.IgnoreCase {
		return regexp.Compile("(?i)" + i.Pattern)
	}
	return regexp.Compile(i.Pattern)
}
func (i *GrepInput) reads() bool { return true }
func (i *GrepInput) gate(b *Box) []gate.Decision {
	return []gate.Decision{b.gate.Read(string(Grep), b.dirOf(i.Path))}
}

func (i *GrepInput) target(b *Box) string {
	return strings.TrimSpace(strings.Join([]string{i.Pattern, b.rel(b.dirOf(i.Path)), i.Glob}, " "))
}

func (i *GrepInput) run(ctx context.Context, b *Box) Result {
	re, err := i.regexp()
	if err != nil {
		return failed(err)
	}
	at := b.dirOf(i.Path)
	only := ""
	if info, err := os.Stat(at); err == nil && !info.IsDir() {
		at, only = filepath.Dir(at), filepath.Base(at)
	}
	var out bytes.Buffer
	n := 0
	err = b.files(ctx, at, func(rel string, in fs.FS) error {
		if (only != "" && rel != only) || !i.wants(rel) {
			return nil
		}
		return grepFile(in, rel, re, &out, &n)
	})
	return found(&out, n, err)
}

// wants tells whether a file's path or name matches the glob.
func (i *GrepInput) wants(rel string) bool {
	if i.Glob == "" {
		return true
	}
	whole, _ := doublestar.Match(i.Glob, rel)
	name, _ := doublestar.Match(i.Glob, path.Base(rel))
	return whole || name
}

func grepFile(in fs.FS, rel string, re *regexp.Regexp, out *bytes.Buffer, n *int) error {
	f, err := in.Open(rel)
	if err != nil {
		return nil // not readable, or gone in the meantime
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.Size() > maxGrepBytes {
		return nil
	}
	sc := bufio.NewScanner(f)
	sc.Buffer(make([]byte, 64<<10), maxGrepBytes)
	for line := 1; sc.Scan(); line++ {
		text := sc.Bytes()
		if line == 1 && bytes.IndexByte(text, 0) >= 0 {
			return nil
		}
		if !re.Match(text) {
			continue
		}
		if *n++; *n > maxMatches {
			return errTooMany
		}
		if len(text) > maxLineChars {
			text = append(bytes.ToValidUTF8(text[:maxLineChars], nil), "…"...)
		}
		fmt.Fprintf(out, "%s:%d:%s\n", rel, line, text)
	}
	return nil
}
