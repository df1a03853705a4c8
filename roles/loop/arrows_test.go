package loop

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// shared are the rooms below roles/ that hold no role.
var shared = []string{"loop", "run", "think", "act", "look", "internal"}

// may says what the packages below a folder may import of ours; the first
// folder that fits counts. A role may import what "roles" lists, and itself.
var may = []struct {
	folder  string
	imports []string
}{
	{"blackboard/lazyregexp", nil},
	{"blackboard/plainfile", nil},
	{"blackboard/journal", []string{"blackboard/journal", "blackboard/crash", "blackboard/lazyregexp", "blackboard/plainfile"}},
	{"blackboard/message", []string{"blackboard/lazyregexp"}},
	{"blackboard", []string{"blackboard"}},
	{"prompts", nil},
	{"roles/run/config", []string{"blackboard/message", "blackboard/plainfile"}}, // every number a person can change: read in all rooms
	{"roles/act", []string{"blackboard", "roles/act"}},
	{"roles/think", []string{"blackboard/message", "blackboard/lazyregexp", "blackboard/crash", "roles/think", "roles/act", "roles/run/config", "prompts"}},
	{"roles/loop", []string{"blackboard", "roles/loop", "roles/think", "roles/act", "roles/run/config"}},
	{"roles/run", []string{"blackboard", "roles/loop", "roles/think", "roles/act", "roles/run"}},
	{"roles", []string{"blackboard", "roles/loop", "roles/think", "roles/act", "roles/run/step", "roles/run/config"}},
}

// TestArrows holds the imports of the product to the plan of the house: no room
// reaches up, and no role knows another one.
func TestArrows(t *testing.T) {
	const top = "../.."
	seen := 0
	err := filepath.WalkDir(top, func(file string, entry fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(top, file)
		rel = filepath.ToSlash(rel)
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == ".git" || rel == "cmd" || rel == "scripts" || rel == "examples" || entry.Name() == "internal"):
			return fs.SkipDir
		case !strings.HasSuffix(rel, ".go") || strings.HasSuffix(rel, "_test.go") || strings.HasSuffix(path.Dir(rel), "workspacetest"):
			return nil
		}
		seen++
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, imported := range parsed.Imports {
			name, err := strconv.Unquote(imported.Path.Value)
			if err != nil {
				return err
			}
			if ours, ok := strings.CutPrefix(name, "orch/"); ok && !allowed(path.Dir(rel), ours) {
				t.Errorf("%s imports %s", rel, ours)
			}
		}
		return nil
	})
	if err != nil || seen < 300 {
		t.Fatalf("looked at %d files: %v", seen, err)
	}
}

// allowed tells whether a package may import another one of ours.
func allowed(from, to string) bool {
	for _, row := range may {
		if !below(from, row.folder) {
			continue
		}
		for _, folder := range row.imports {
			if below(to, folder) {
				return true
			}
		}
		return row.folder == "roles" && below(to, "roles/"+strings.Split(from, "/")[1])
	}
	return false
}

func below(name, folder string) bool { return name == folder || strings.HasPrefix(name, folder+"/") }

// TestEveryRoomIsARoleOrShared keeps roles/ to roles and the rooms they share.
func TestEveryRoomIsARoleOrShared(t *testing.T) {
	folders, err := os.ReadDir("..")
	if err != nil || len(folders) < 10 {
		t.Fatal(folders, err)
	}
	names := map[string]bool{"codereviewer": true, "agentvalidator": true, "metavalidator": true, "integrator": true}
	for _, c := range Contracts() {
		names[string(c.Role)] = true
	}
	for _, name := range shared {
		names[name] = true
	}
	for _, folder := range folders {
		if !names[folder.Name()] {
			t.Errorf("roles/%s holds no role", folder.Name())
		}
	}
}
