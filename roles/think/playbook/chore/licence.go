package chore

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"orch/blackboard/lazyregexp"
)

// licences are recognised by words that only they have; the first that fits counts.
var licences = []struct{ id, words string }{
	{"AGPL-3.0", "GNU AFFERO GENERAL PUBLIC LICENSE"},
	{"LGPL", "GNU LESSER GENERAL PUBLIC LICENSE"},
	{"GPL-3.0", "GNU GENERAL PUBLIC LICENSE Version 3"},
	{"GPL-2.0", "GNU GENERAL PUBLIC LICENSE Version 2"},
	{"Apache-2.0", "Apache License Version 2.0"},
	{"MPL-2.0", "Mozilla Public License Version 2.0"},
	{"MPL-2.0", "Mozilla Public License, version 2.0"},
	{"EPL-2.0", "Eclipse Public License - v 2.0"},
	{"BSL-1.0", "Boost Software License - Version 1.0"},
	{"CC0-1.0", "CC0 1.0 Universal"},
	{"Unlicense", "This is free and unencumbered software released into the public domain"},
	{"BSD-3-Clause", "Neither the name of"},
	{"BSD-2-Clause", "Redistributions in binary form must reproduce the above copyright notice"},
	{"ISC", "Permission to use, copy, modify, and/or distribute this software for any purpose"},
	{"MIT", "Permission is hereby granted, free of charge, to any person obtaining a copy of this software"},
}

var licenceFile = lazyregexp.New(`(?i)^(un)?licen[cs]e([._-].*)?$|^copying([._-].*)?$`)

// licence says under which licence the project is, and whether its files agree.
func licence(c call) (*Part, error) {
	p := newPart(c, "repo-health", "Licence")
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return nil, fmt.Errorf("look at %s: %w", c.dir, err)
	}
	found := map[string]bool{}
	for _, e := range entries {
		if !e.Type().IsRegular() || !licenceFile.MatchString(e.Name()) {
			continue
		}
		info, err := e.Info()
		if err != nil {
			p.Scanned.Unreadable++
			continue
		}
		p.Scanned.Files++
		text, err := readText(file{full: filepath.Join(c.dir, e.Name()), size: info.Size()})
		id := recognise(string(text))
		if err != nil || id == "" {
			p.add(Item{Path: Name(e.Name()), What: "unrecognised", Text: "its text is no licence known here"})
			found["?"] = true
			continue
		}
		found[id] = true
		p.add(Item{Path: Name(e.Name()), What: id, OK: true})
	}
	if len(found) == 0 {
		p.add(Item{What: "missing", Text: "there is no LICENSE: nobody else may use the code"})
	}
	if declared := packageLicence(c.dir); declared != "" && len(found) > 0 && !found["?"] && !agrees(found, declared) {
		p.add(Item{Path: "package.json", What: "mismatch", Text: fmt.Sprintf("says %s, the file says %s", oneLine(declared), strings.Join(keys(found), ", "))})
	}
	return p, nil
}

// recognise ignores line breaks, case and spacing.
func recognise(text string) string {
	flat := strings.ToLower(strings.Join(strings.Fields(text), " "))
	for _, l := range licences {
		if strings.Contains(flat, strings.ToLower(l.words)) {
			return l.id
		}
	}
	return ""
}

func packageLicence(dir string) string {
	data, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if err != nil {
		return ""
	}
	var pkg struct {
		License any `json:"license"`
	}
	if json.Unmarshal(data, &pkg) != nil {
		return ""
	}
	s, _ := pkg.License.(string) // the old object form says nothing we compare
	return s
}

// agrees compares loosely: LGPL stands for all of its versions.
func agrees(found map[string]bool, declared string) bool {
	for id := range found {
		if strings.Contains(strings.ToLower(declared), strings.ToLower(id)) {
			return true
		}
	}
	return false
}

func keys(m map[string]bool) []string {
	list := make([]string, 0, len(m))
	for k := range m {
		list = append(list, k)
	}
	sort.Strings(list)
	return list
}
