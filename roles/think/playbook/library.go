package playbook

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"sort"
	"strings"
)

// Library is every playbook that can be used, a person's own hiding shipped
// ones of the same name.
type Library struct {
	list []*Playbook
}

// Load reads the shipped playbooks and then the person's own. Either may be
// nil or absent. The first file that does not decode ends it: a plan must not
// silently come from another playbook than the person wrote.
func Load(shipped, own fs.FS) (*Library, error) {
	byName := map[string]*Playbook{}
	for _, source := range []struct {
		fsys fs.FS
		own  bool
	}{{shipped, false}, {own, true}} {
		if source.fsys == nil {
			continue
		}
		list, err := readAll(source.fsys, source.own)
		if err != nil {
			return nil, err
		}
		for _, p := range list {
			byName[p.Name] = p
		}
	}
	lib := &Library{}
	for _, p := range byName {
		lib.list = append(lib.list, p)
	}
	sort.Slice(lib.list, func(i, j int) bool { return lib.list[i].Name < lib.list[j].Name })
	return lib, nil
}

func readAll(fsys fs.FS, own bool) ([]*Playbook, error) {
	entries, err := fs.ReadDir(fsys, ".")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the folder of playbooks: %w", err)
	}
	var list []*Playbook
	files := map[string]string{}
	for _, e := range entries {
		ext := path.Ext(e.Name())
		if e.IsDir() || ext != ".yaml" && ext != ".yml" || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		name := e.Name()
		if own {
			name = ".orch/playbooks/" + name
		}
		data, err := fs.ReadFile(fsys, e.Name())
		if err != nil {
			return nil, fmt.Errorf("read the playbook %s: %w", name, err)
		}
		p, err := Decode(name, data)
		if err != nil {
			return nil, err
		}
		if first, twice := files[p.Name]; twice {
			return nil, &DecodeError{File: name, What: fmt.Sprintf("the playbook %s exists already in %s", p.Name, first), Allowed: "each name once"}
		}
		files[p.Name] = name
		p.own = own
		list = append(list, p)
	}
	return list, nil
}

// List returns the playbooks by name.
func (l *Library) List() []*Playbook { return append([]*Playbook(nil), l.list...) }

// Names returns the names in order.
func (l *Library) Names() []string {
	names := make([]string, len(l.list))
	for i, p := range l.list {
		names[i] = p.Name
	}
	return names
}

// Find returns the playbook of a name, or *UnknownError.
func (l *Library) Find(name string) (*Playbook, error) {
	for _, p := range l.list {
		if p.Name == name {
			return p, nil
		}
	}
	return nil, &UnknownError{Name: name, Available: l.Names()}
}

// For returns the playbook asked for by name or, without a name, the one that
// fits the intent; *UnknownError or *NoMatchError otherwise.
func (l *Library) For(name, intent string) (*Playbook, error) {
	if name != "" {
		return l.Find(name)
	}
	near := MatchIntent(intent, l.list)
	if len(near) > 0 && near[0].Fits() {
		return near[0].Book, nil
	}
	return nil, &NoMatchError{Intent: intent, Available: l.Names(), Near: near}
}
