package cli

import (
	"slices"
)

// PromptWay says how a program takes its prompt.
type PromptWay string

// Ways.
const (
	Stdin   PromptWay = "stdin"    // on standard input, which is then closed
	LastArg PromptWay = "argument" // as the last argument; standard input is empty
)

// maxArgBytes is the longest argument Linux takes, less some room. A longer
// prompt goes into a file that the argument names.
const maxArgBytes = 120 << 10

// Call is what a preset makes an argv of.
type Call struct {
	Prompt string // empty when it goes over standard input
	Model  string // empty: the program's own
	Access Access
	Schema string   // path of a JSON Schema file; empty: none wanted
	Inline string   // the same schema as text
	Last   string   // path of a file for the final text
	Usage  string   // path of a file for the usage
	More   []string // the person's own arguments
}

// Preset is how one program is driven.
type Preset struct {
	Name    string
	Program string // what is looked for on PATH
	Title   string
	Way     PromptWay
	Args    func(Call) []string
	Parser  func(*Seen) Parser

	Quiet []string // environment that keeps it from updates, telemetry and endless retries
	Pass  []string // names, or globs, of variables it needs, such as its key
	Write []string // directories of its own state, relative to HOME

	WriteEnv   []string // variables that name another directory of its state, where they are set
	WriteFiles []string // JSON files of its own state, relative to HOME

	// Keep is what of its state makes it run something later, relative to HOME:
	// settings with hooks or servers, plugins. A name that ends in a slash is a
	// directory. The program itself may read it and not write it.
	Keep []string

	// Boxes says that it confines its tools itself, which does not work inside of
	// our confinement: there it is told not to.
	Boxes bool

	Interrupt bool // ask it to end with SIGINT: it leaves its tool running on SIGTERM
	SchemaArg bool // it can be told the schema of the answer
	CostTold  bool // its output states a cost
	UsageFile func([]byte, *Seen)

	Status []string // arguments that make it say whether it is logged in, by its exit code, at no cost; nil: it has none
	Login  string   // the command with which a person logs in

	ACP   []string          // arguments of its ACP mode; nil: none
	ACPBy string            // another program that speaks ACP for it
	Modes map[Access]string // ACP session modes
	// TellsUse says that over ACP it always reports what it used: a turn that
	// used nothing is one that no model answered, whatever its text.
	TellsUse bool

	// Aim points it to a model server for a test: environment, and files below HOME.
	Aim func(Server) (env []string, files map[string]string)
}

// Server is a model server that speaks every protocol of the presets.
type Server struct {
	URL   string // without a path
	Key   string
	Model string
}

// Presets lists all, in the order in which one is chosen.
func Presets() []Preset {
	return []Preset{claudePreset(), codexPreset(), geminiPreset(), qwenPreset(), opencodePreset(), copilotPreset(), piPreset()}
}

// Find returns a preset by name.
func Find(name string) (Preset, bool) {
	all := Presets()
	i := slices.IndexFunc(all, func(p Preset) bool { return p.Name == name })
	if i < 0 {
		return Preset{}, false
	}
	return all[i], true
}

// Names lists the names of all presets.
func Names() []string {
	var names []string
	for _, p := range Presets() {
		names = append(names, p.Name)
	}
	return names
}

// Plain is a command of a person's own: its output is the answer, as text or
// as JSON.
func Plain(asJSON bool) Preset {
	p := Preset{Name: "command", Title: "a command", Way: Stdin, Parser: newText, Args: func(c Call) []string { return c.More }}
	if asJSON {
		p.Parser = newJSON
	}
	return p
}

// LongArg tells whether a prompt is too long for one argument.
func LongArg(prompt string) bool { return len(prompt) > maxArgBytes }
