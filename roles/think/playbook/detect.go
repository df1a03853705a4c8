package playbook

import (
	"fmt"
	"slices"
	"strings"
)

// testsBook is the playbook that knows how projects are tested.
const testsBook = "tests-green"

// maxFound bounds the directories of which something is put together.
const maxFound = 50

// TestCommand is the command that runs the tests of what a directory holds, or
// empty when nothing there says how it is tested. It is what the tests-green
// playbook would run.
func (b *Backend) TestCommand(dir string) (string, error) {
	book, err := b.opt.Library.For(testsBook, "")
	if err != nil {
		return "", err
	}
	v, _, err := book.detect(b.opt.Facts(dir), book.fromIntent(""))
	return v.text("test"), err
}

// detect adds what the workspace shows, and says in which directories it was
// found: those the words name, else the workspace itself, else what lies below.
func (p *Playbook) detect(f Facts, v Values) (Values, []string, error) {
	here := []string{"."}
	if p.DetectIn == nil {
		return p.detectHere(f, v), here, nil
	}
	if in := v.text(p.DetectIn.Param); in != "" && in != "." {
		if !f.Exists(in) {
			return nil, nil, fmt.Errorf("there is no %s in the workspace", in)
		}
		elsewhere := v.with(map[string]string{p.DetectIn.Param: ""}) // the directory is a project of its own, or not
		found, own := p.detectBelow(f.Sub(in), elsewhere)
		if own && !p.complete(v) {
			return p.together(v, map[string]Values{in: found}, []string{in}), []string{in}, nil
		}
		return p.detectHere(f, v), here, nil
	}
	found := p.detectHere(f, v)
	if p.complete(found) {
		return found, here, nil
	}
	all := map[string]Values{}
	var dirs []string
	for _, dir := range f.Dirs(p.DetectIn.Depth) {
		if len(dirs) == maxFound {
			return nil, nil, fmt.Errorf("more than %d directories could be meant: name one of them", maxFound)
		}
		if below(dir, dirs) {
			continue
		}
		if one, own := p.detectBelow(f.Sub(dir), v); own {
			all[dir], dirs = one, append(dirs, dir)
		}
	}
	if len(dirs) == 0 {
		return found, here, nil
	}
	return p.together(v, all, dirs), dirs, nil
}

func below(dir string, dirs []string) bool {
	for _, d := range dirs {
		if strings.HasPrefix(dir, d+"/") {
			return true
		}
	}
	return false
}

// detectBelow is detectHere of another directory, if that is a project of its own.
func (p *Playbook) detectBelow(f Facts, v Values) (Values, bool) {
	if len(p.DetectIn.Files) > 0 && !slices.ContainsFunc(p.DetectIn.Files, f.Exists) {
		return nil, false
	}
	found := p.detectHere(f, v)
	return found, p.complete(found)
}

// detectHere adds what one directory shows: of the entries whose condition holds
// the first counts, parameter by parameter.
func (p *Playbook) detectHere(f Facts, v Values) Values {
	v = v.with(nil)
	for _, d := range p.Detect {
		if ok, _ := d.When.Holds(f, v); !ok {
			continue
		}
		for name, text := range d.Set {
			if v[name].Text == "" {
				v[name] = v.with(map[string]string{name: text})[name]
			}
		}
	}
	return v
}

// complete tells whether every required parameter has a value.
func (p *Playbook) complete(v Values) bool {
	for _, param := range p.Params {
		if param.Required && param.Default == "" && v.text(param.Name) == "" {
			return false
		}
	}
	return true
}

// together joins what several directories show: commands run in each, one after
// the other; of anything else the first value counts.
func (p *Playbook) together(v Values, found map[string]Values, dirs []string) Values {
	out := v.with(nil)
	for _, param := range p.Params {
		if out.text(param.Name) != "" {
			continue
		}
		var parts []string
		for _, dir := range dirs {
			text := found[dir].text(param.Name)
			switch {
			case text == "":
			case param.Type == CommandParam:
				parts = append(parts, "(cd "+quote(dir)+" && "+text+")")
			case len(parts) == 0:
				parts = append(parts, text)
			}
		}
		if len(parts) > 0 {
			out[param.Name] = Value{Text: strings.Join(parts, " && "), Type: param.Type, Own: true}
		}
	}
	return out
}
