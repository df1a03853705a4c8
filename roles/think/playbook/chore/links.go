package chore

import (
	"bytes"
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"

	"orch/blackboard/lazyregexp"
)

// document is one Markdown file: what it links to and what can be linked in it.
type document struct {
	links   []link
	anchors map[string]bool
}

type link struct {
	to   string
	line int
}

var htmlAnchor = lazyregexp.New(`(?i)<[a-z][^>]*\s(?:id|name)\s*=\s*["']?([^"'\s>]+)`)

// linkCheck looks up every link of the Markdown files below a directory.
func linkCheck(c call) (*Part, error) {
	p := newPart(c, "link-check", "Broken links")
	docs := map[string]*document{}
	var order []string
	scan, err := walk(c, true, func(f file) {
		if !isMarkdown(f.path) {
			return
		}
		src, err := readText(f)
		if err != nil {
			p.Notes = append(p.Notes, "not read: "+Name(f.path).show())
			return
		}
		docs[f.path] = parseMarkdown(src)
		order = append(order, f.path)
	})
	if err != nil {
		return nil, err
	}
	scan.Files = len(order)
	p.Scanned = scan
	checker := linkChecker{root: c.dir, docs: docs, web: map[string][]Item{}}
	for _, name := range order {
		for _, l := range docs[name].links {
			if it, bad := checker.look(name, l); bad {
				p.add(it)
			}
		}
	}
	if c.http {
		for _, it := range checker.askWeb() {
			p.add(it)
		}
	}
	p.Notes = append(p.Notes, fmt.Sprintf("%d local links looked up, %d web links %s, %d others counted", checker.local, checker.http, webWord(c.http), checker.other))
	return p, nil
}

func webWord(asked bool) string {
	if asked {
		return "asked for"
	}
	return "counted"
}

func isMarkdown(name string) bool {
	ext := strings.ToLower(path.Ext(name))
	return ext == ".md" || ext == ".markdown"
}

func parseMarkdown(src []byte) *document {
	d := &document{anchors: map[string]bool{}}
	root := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(src))
	used := map[string]int{}
	// The walker's only error would be one of ours, and it returns none.
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			slug := slugOf(plainText(n, src))
			if k := used[slug]; k > 0 {
				d.anchors[fmt.Sprintf("%s-%d", slug, k)] = true
			} else {
				d.anchors[slug] = true
			}
			used[slug]++
		case *ast.Link:
			d.links = append(d.links, link{string(n.Destination), lineOf(n, src)})
		case *ast.Image:
			d.links = append(d.links, link{string(n.Destination), lineOf(n, src)})
		case *ast.AutoLink:
			if n.AutoLinkType == ast.AutoLinkURL {
				d.links = append(d.links, link{string(n.URL(src)), lineOf(n, src)})
			}
		}
		return ast.WalkContinue, nil
	})
	for _, m := range htmlAnchor.FindAllSubmatch(src, -1) {
		d.anchors[string(m[1])] = true
	}
	return d
}

func plainText(n ast.Node, src []byte) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			b.Write(c.Value(src))
			if c.SoftLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(c.Value)
		case *ast.RawHTML:
		default:
			b.WriteString(plainText(c, src))
		}
	}
	return b.String()
}

// slugOf makes an anchor of a heading as the common forges do.
func slugOf(heading string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(strings.TrimSpace(heading)) {
		switch {
		case r == ' ':
			b.WriteByte('-')
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			b.WriteRune(r)
		}
	}
	return b.String()
}

// lineOf is the line of the block a link stands in, or of the link itself when
// its first text is known.
func lineOf(n ast.Node, src []byte) int {
	if t, ok := n.FirstChild().(*ast.Text); ok {
		return bytes.Count(src[:t.Segment.Start], []byte("\n")) + 1
	}
	for p := n; p != nil; p = p.Parent() {
		if p.Type() == ast.TypeBlock && p.Lines() != nil && p.Lines().Len() > 0 {
			return bytes.Count(src[:p.Lines().At(0).Start], []byte("\n")) + 1
		}
	}
	return 0
}

type linkChecker struct {
	root  string
	docs  map[string]*document
	local int
	http  int
	other int
	web   map[string][]Item // by address: where it is linked
}

// look resolves one link; bad says that it leads nowhere.
func (c *linkChecker) look(from string, l link) (it Item, bad bool) {
	it = Item{Path: Name(from), Line: l.line, Text: l.to}
	u, err := url.Parse(l.to)
	switch {
	case err != nil:
		c.local++
		it.What = "malformed"
		return it, true
	case u.Scheme == "http" || u.Scheme == "https" || u.Scheme == "" && u.Host != "":
		c.http++
		c.web[l.to] = append(c.web[l.to], it)
		return it, false
	case u.Scheme != "":
		c.other++
		return it, false
	}
	c.local++
	target := from
	if u.Path != "" {
		target = path.Join(path.Dir(from), u.Path)
		if strings.HasPrefix(u.Path, "/") {
			target = path.Clean(strings.TrimPrefix(u.Path, "/"))
		}
	}
	if target == ".." || strings.HasPrefix(target, "../") {
		c.local--
		c.other++ // leads out of the tree: not ours to judge
		return it, false
	}
	if _, err := os.Stat(filepath.Join(c.root, filepath.FromSlash(target))); err != nil {
		it.What = "no-file"
		return it, true
	}
	if doc := c.docs[target]; doc != nil && u.Fragment != "" && !doc.has(u.Fragment) {
		it.What = "no-anchor"
		return it, true
	}
	return it, false
}

func (d *document) has(anchor string) bool {
	return anchor == "top" || d.anchors[anchor] || d.anchors[strings.ToLower(anchor)]
}
