package chore

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"
)

// verifyTodo counts the tags again without the pattern that found them.
func (p *Part) verifyTodo() error {
	count := 0
	_, err := p.again(true, func(name, full string, info fs.FileInfo) error {
		text, err := readText(file{full: full, size: info.Size()})
		if err != nil {
			return nil
		}
		for _, line := range strings.Split(string(text), "\n") {
			for _, tag := range tags {
				if hasWord(line, tag) {
					count++
					break
				}
			}
		}
		return nil
	})
	if err == nil && count != p.Count {
		err = fmt.Errorf("%d lines are there, %d were counted", count, p.Count)
	}
	return err
}

// hasWord tells whether a word stands alone in a line.
func hasWord(line, word string) bool {
	for from := 0; ; {
		i := strings.Index(line[from:], word)
		if i < 0 {
			return false
		}
		i += from
		before, _ := utf8.DecodeLastRuneInString(line[:i])
		after, _ := utf8.DecodeRuneInString(line[i+len(word):])
		if (i == 0 || !inWord(before)) && (i+len(word) == len(line) || !inWord(after)) {
			return true
		}
		from = i + len(word)
	}
}

func inWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r) }

// verifyLinks makes sure that what a finding calls broken is broken.
func (p *Part) verifyLinks() error {
	documents := 0
	if _, err := p.again(true, func(name, _ string, _ fs.FileInfo) error {
		if isMarkdown(name) {
			documents++
		}
		return nil
	}); err != nil {
		return err
	}
	if unread := countPrefix(p.Notes, "not read: "); documents != p.Scanned.Files+unread {
		return fmt.Errorf("%d documents are there, %d were read", documents, p.Scanned.Files)
	}
	for _, it := range p.Items {
		text, err := os.ReadFile(p.full(it.Path))
		if err != nil {
			return fmt.Errorf("read a document with a finding: %w", err)
		}
		if it.What != "no-file" {
			continue
		}
		to, _, _ := strings.Cut(it.Text, "#")
		to, _, _ = strings.Cut(to, "?")
		base := filepath.Dir(p.full(it.Path))
		if strings.HasPrefix(to, "/") {
			base = filepath.FromSlash(p.Dir)
		}
		if _, err := os.Stat(filepath.Join(base, filepath.FromSlash(to))); err == nil {
			return fmt.Errorf("%s:%d links to %s, which is there", it.Path.show(), it.Line, to)
		}
		if len(text) == 0 {
			return fmt.Errorf("%s is empty", it.Path.show())
		}
	}
	return nil
}

func countPrefix(list []string, prefix string) int {
	n := 0
	for _, s := range list {
		if strings.HasPrefix(s, prefix) {
			n++
		}
	}
	return n
}

// verifySecrets finds every listed secret again, and makes sure that none of
// them stands in the part itself.
func (p *Part) verifySecrets() error {
	for _, it := range p.Items {
		if it.What == "secret-file" {
			continue
		}
		text, err := os.ReadFile(p.full(it.Path))
		if err != nil {
			return fmt.Errorf("read a file with a finding: %w", err)
		}
		lines := strings.Split(string(text), "\n")
		if it.Line < 1 || it.Line > len(lines) {
			return fmt.Errorf("%s has no line %d", it.Path.show(), it.Line)
		}
		rule, value, ok := findSecret(lines[it.Line-1])
		if !ok || rule != it.What {
			return fmt.Errorf("%s:%d holds no %s", it.Path.show(), it.Line, it.What)
		}
		if rule != "private-key" && strings.Contains(it.Text, value) {
			return fmt.Errorf("%s:%d is not masked", it.Path.show(), it.Line)
		}
	}
	return nil
}

func (p *Part) verifyBlobs() error {
	inTree := 0
	if _, err := p.again(true, func(_, _ string, info fs.FileInfo) error {
		if info.Size() >= p.Limit {
			inTree++
		}
		return nil
	}); err != nil {
		return err
	}
	listed := 0
	for _, it := range p.Items {
		if it.What == "file" {
			listed++
		}
	}
	if inTree != listed && len(p.Items) < maxItems {
		return fmt.Errorf("%d oversized files are there, %d are listed", inTree, listed)
	}
	return nil
}
