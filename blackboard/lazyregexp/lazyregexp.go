// Package lazyregexp owns regular expressions that are compiled when they are
// first used.
//
// Every step is a process of its own, and compiling the expressions of all
// packages took a fifth of what such a process costs, of which it uses a few.
// So an expression in a package's variables is one of these. It promises what
// a [regexp.Regexp] does and is safe for concurrent use; it panics at its
// first use if it is malformed, and this package's test looks at all there
// are. Expressions that come from outside are never of this kind.
package lazyregexp

import (
	"regexp"
	"sync"
)

// Regexp is a regular expression that need not be compiled yet. It must not be
// copied.
type Regexp struct {
	text     string
	once     sync.Once
	compiled *regexp.Regexp
}

// New takes an expression that is known to be well formed.
func New(text string) *Regexp { return &Regexp{text: text} }

func (r *Regexp) get() *regexp.Regexp {
	r.once.Do(func() { r.compiled = regexp.MustCompile(r.text) })
	return r.compiled
}

// The methods are those of [regexp.Regexp].

func (r *Regexp) MatchString(s string) bool { return r.get().MatchString(s) }

func (r *Regexp) Match(b []byte) bool { return r.get().Match(b) }

func (r *Regexp) Find(b []byte) []byte { return r.get().Find(b) }

func (r *Regexp) FindString(s string) string { return r.get().FindString(s) }

func (r *Regexp) FindStringIndex(s string) []int { return r.get().FindStringIndex(s) }

func (r *Regexp) FindStringSubmatch(s string) []string { return r.get().FindStringSubmatch(s) }

func (r *Regexp) FindStringSubmatchIndex(s string) []int { return r.get().FindStringSubmatchIndex(s) }

func (r *Regexp) FindAllString(s string, n int) []string { return r.get().FindAllString(s, n) }

func (r *Regexp) FindAllStringIndex(s string, n int) [][]int { return r.get().FindAllStringIndex(s, n) }

func (r *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return r.get().FindAllStringSubmatch(s, n)
}

func (r *Regexp) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return r.get().FindAllStringSubmatchIndex(s, n)
}

func (r *Regexp) FindAllSubmatch(b []byte, n int) [][][]byte { return r.get().FindAllSubmatch(b, n) }

func (r *Regexp) ReplaceAll(src, by []byte) []byte { return r.get().ReplaceAll(src, by) }

func (r *Regexp) ReplaceAllString(src, by string) string { return r.get().ReplaceAllString(src, by) }

func (r *Regexp) ReplaceAllStringFunc(src string, by func(string) string) string {
	return r.get().ReplaceAllStringFunc(src, by)
}
