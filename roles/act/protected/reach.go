package protected

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"orch/blackboard/lazyregexp"
)

// reached is what the commands of a project come to.
type reached struct {
	scripts map[string]bool // files that are run
	targets map[string]bool // of make
	npm     map[string]bool // scripts of package.json
}

// usual are commands by which people test a project, whatever is configured.
var usual = []string{"make test", "make check", "npm test"}

// mostReached bounds how many scripts are followed.
const mostReached = 200

// reach follows the commands to what they run, through the files as they were.
func (p Project) reach() reached {
	r := reached{map[string]bool{}, map[string]bool{}, map[string]bool{}}
	texts := append(slices.Clone(p.Commands), usual...)
	for n := 0; len(texts) > 0 && n < mostReached; n++ {
		text := texts[0]
		texts = texts[1:]
		for _, words := range commandsIn(text) {
			texts = append(texts, r.follow(p, words)...)
		}
	}
	return r
}

// follow notes what one command runs, and returns the texts of that.
func (r reached) follow(p Project, words []string) (texts []string) {
	name, rest := path.Base(words[0]), words[1:]
	switch {
	case slices.Contains([]string{"make", "gmake"}, name):
		for _, w := range rest {
			if !strings.HasPrefix(w, "-") && !strings.Contains(w, "=") && !r.targets[w] {
				r.targets[w] = true
				texts = append(texts, p.recipes(w)...)
			}
		}
	case slices.Contains([]string{"npm", "yarn", "pnpm", "bun"}, name):
		for _, w := range rest {
			if w == "t" {
				w = "test"
			}
			texts = append(texts, r.npmScript(p, w)...)
		}
	case slices.Contains([]string{"npm-run-all", "run-s", "run-p", "concurrently"}, name):
		for _, w := range rest {
			texts = append(texts, r.npmScript(p, strings.TrimPrefix(w, "npm:"))...)
		}
	}
	for _, file := range programs(words) {
		if text, ok := p.Before(file); ok && !r.scripts[file] {
			r.scripts[file] = true
			if isShell(file, text) {
				texts = append(texts, string(text))
			}
		}
	}
	return texts
}

// npmScript is the text of a script of package.json, with what runs around it.
func (r reached) npmScript(p Project, name string) (texts []string) {
	raw, ok := p.Before("package.json")
	var file struct{ Scripts map[string]string }
	if !ok || json.Unmarshal(raw, &file) != nil {
		if name == "test" {
			r.npm[name], r.npm["pretest"], r.npm["posttest"] = true, true, true
		}
		return nil
	}
	if _, there := file.Scripts[name]; !there && name != "test" || r.npm[name] {
		return nil
	}
	for _, n := range []string{name, "pre" + name, "post" + name} {
		r.npm[n] = true
		texts = append(texts, file.Scripts[n])
	}
	return texts
}

// recipes are the texts of a target, wherever a Makefile at the top has it.
func (p Project) recipes(target string) (texts []string) {
	for _, name := range []string{"GNUmakefile", "makefile", "Makefile"} {
		if text, ok := p.Before(name); ok {
			m := readMake(text)
			for _, t := range m.closure(target) {
				texts = append(texts, m.recipe[t])
			}
		}
	}
	return texts
}

// interpreters run the file that is their first argument.
var interpreters = lazyregexp.New(`^(?:sh|bash|dash|zsh|ksh|python[\d.]*|node|deno|ruby|perl|php|tsx|ts-node|source|\.)$`)

// wrappers run the command behind them.
var wrappers = []string{"exec", "env", "time", "nice", "nohup", "sudo", "command", "if", "then", "else", "elif", "do", "while", "until", "!", "{", "@", "-", "+", "cross-env", "poetry", "uv", "pipenv", "pdm", "run", "xvfb-run", "npx", "bunx", "deno", "timeout"}

// programs are the files that a command runs, as paths of the project.
func programs(words []string) (files []string) {
	add := func(w string) {
		if w = path.Clean(strings.Trim(w, `"'`)); w != "." && !path.IsAbs(w) && !strings.HasPrefix(w, "..") && !slices.Contains(files, w) {
			files = append(files, w)
		}
	}
	add(words[0])
	if interpreters.MatchString(path.Base(words[0])) {
		for _, w := range words[1:] {
			if !strings.HasPrefix(w, "-") && w != "run" {
				add(w)
				break
			}
		}
	}
	return files
}

var assignment = lazyregexp.New(`^[A-Za-z_]\w*=`)

// commandsIn splits what a shell would run into commands, roughly: what stands
// in quotes is looked at as if it did not.
func commandsIn(text string) (all [][]string) {
	text = strings.ReplaceAll(text, "\\\n", " ")
	for _, part := range strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune("\n;&|()`\"'", c) }) {
		words := strings.Fields(part)
		for len(words) > 0 && (assignment.MatchString(words[0]) || slices.Contains(wrappers, strings.TrimLeft(words[0], "@-+")) && len(words) > 1 && !isScript(words[0])) {
			words = words[1:]
		}
		if len(words) > 0 {
			if first := strings.TrimLeft(words[0], "@-+"); first != "" {
				words[0] = first
			}
			all = append(all, words)
		}
	}
	return all
}

func isScript(word string) bool { return strings.ContainsRune(word, '/') }

func isShell(name string, text []byte) bool {
	first, _, _ := strings.Cut(string(text[:min(len(text), 200)]), "\n")
	ext := path.Ext(name)
	return ext == ".sh" || ext == ".bash" || strings.HasPrefix(first, "#!") && strings.Contains(first, "sh")
}
