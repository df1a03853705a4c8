package playbook

// Playbook is one file: when it fits, what it needs to know, and the plan.
type Playbook struct {
	Name         string      `yaml:"name"`
	Describe     string      `yaml:"describe"`
	Tags         Strings     `yaml:"tags"`
	Examples     Strings     `yaml:"examples"` // intents it is for; each must match
	Match        Match       `yaml:"match"`
	Params       []Param     `yaml:"params"`
	Detect       []Detect    `yaml:"detect"`
	DetectIn     *DetectIn   `yaml:"detect_in"`
	TaskCriteria []Criterion `yaml:"task_criteria"`
	Subtasks     []Subtask   `yaml:"subtasks"`
	NextMoves    []NextMove  `yaml:"next_moves"`

	hash string // SHA-256 of the file, hex
	file string
	own  bool // from the person's folder, not shipped
}

// ID names the playbook together with its content: name@<first 12 hex digits>.
func (p *Playbook) ID() string { return p.Name + "@" + p.hash[:12] }

// File is where the playbook was read from.
func (p *Playbook) File() string { return p.file }

// Own tells whether the playbook is the person's and not a shipped one.
func (p *Playbook) Own() bool { return p.own }

// Match says which intents a playbook is for: any of the patterns, or a word of
// every group; none of unless; and no word that nothing here declares.
type Match struct {
	Words    []Strings `yaml:"words"`    // groups; a trailing * matches the rest of a word
	Patterns Strings   `yaml:"patterns"` // regular expressions, case ignored
	Known    Strings   `yaml:"known"`    // words or, between slashes, regular expressions that change nothing about the wish
	Unless   Strings   `yaml:"unless"`   // words or, between slashes, regular expressions that rule it out
}

// ParamType says what a value may be and how it is put into a command.
type ParamType string

// The parameter types.
const (
	StringParam  ParamType = "string"  // one word of a command, quoted
	WordsParam   ParamType = "words"   // several words, each quoted
	IntParam     ParamType = "int"     // digits only
	PathParam    ParamType = "path"    // one word, never taken for an option; ~/ is the home directory
	CommandParam ParamType = "command" // the playbook's own text as it is; a person's words quoted one by one
)

// Param is a value the plan needs: taken from the intent, detected, or the default.
type Param struct {
	Name     string    `yaml:"name"`
	Type     ParamType `yaml:"type"`
	Describe string    `yaml:"describe"`
	Pattern  Strings   `yaml:"pattern"` // the first group, or the whole match, is the value
	Default  string    `yaml:"default"`
	Required bool      `yaml:"required"` // without a value there is no plan
}

// Detect sets parameters from what the workspace holds. The first entry whose
// condition holds counts, parameter by parameter.
type Detect struct {
	When When              `yaml:"when"`
	Set  map[string]string `yaml:"set"`
}

// DetectIn says where detect looks besides the workspace itself. A command that
// was found in a directory is run there; those of several run one after the
// other and must all succeed.
type DetectIn struct {
	Param string `yaml:"param"` // a path the words may name: its directory comes first
	Depth int    `yaml:"depth"` // how deep below the workspace, when the workspace shows nothing; 0: not at all

	Files Strings `yaml:"files"` // one of these makes a directory a project of its own; none given: every directory is
}

// Criterion is a success criterion that code can judge.
type Criterion struct {
	Criterion string         `yaml:"criterion"`
	Required  *bool          `yaml:"required"`
	When      When           `yaml:"when"`
	Check     map[string]any `yaml:"check"`
}

// Subtask is one slot of the plan: it stays the same over replans.
type Subtask struct {
	Slot       string      `yaml:"slot"`
	Intent     string      `yaml:"intent"`
	When       When        `yaml:"when"` // the slot is left out when it doesn't hold
	Sequence   int         `yaml:"sequence"`
	ReadOnly   bool        `yaml:"read_only"`
	Targets    Strings     `yaml:"targets"` // paths it may change
	Inputs     Strings     `yaml:"inputs"`  // globs; a matched task is done again when they changed
	DependsOn  Strings     `yaml:"depends_on"`
	Criteria   []Criterion `yaml:"criteria"`
	Approaches []Approach  `yaml:"approaches"`
}

// Approach is one way to do a slot. Its name is what the controller blocks and
// the memory remembers, so it says what is done: format:gofmt.
type Approach struct {
	Name     string    `yaml:"name"`
	Describe string    `yaml:"describe"`
	When     When      `yaml:"when"`
	WhenSeen Strings   `yaml:"when_seen"` // a remedy: only after evidence that one of these fits
	Tool     string    `yaml:"tool"`      // of steps that name none; shell
	Target   string    `yaml:"target"`
	Targets  []Target  `yaml:"targets"`  // instead of target: alternatives, in order
	Variants []Variant `yaml:"variants"` // parameter sets, in order
	Steps    []Step    `yaml:"steps"`
	Output   string    `yaml:"output"` // last (default), all, or the name of a step
	Seconds  int       `yaml:"seconds"`
	PerDir   bool      `yaml:"per_dir"` // in each directory that detect found something in, as targets of their own
}

// Target is one thing an approach can act on.
type Target struct {
	Target string            `yaml:"target"`
	When   When              `yaml:"when"`
	Set    map[string]string `yaml:"set"`
}

// Variant is the same approach on the same target with other parameters.
type Variant struct {
	Name string            `yaml:"name"`
	Set  map[string]string `yaml:"set"`
}

// Step is one tool call.
type Step struct {
	Name            string         `yaml:"name"`
	Tool            string         `yaml:"tool"`
	Run             string         `yaml:"run"` // short for tool shell with this command
	Input           map[string]any `yaml:"input"`
	Idempotent      bool           `yaml:"idempotent"`
	Timeout         Duration       `yaml:"timeout"`
	ContinueOnError bool           `yaml:"continue_on_error"`
}

// NextMove is advice for a person when a goal had to be given up.
type NextMove struct {
	Seen string `yaml:"seen"` // regular expression on the failure evidence; empty: always
	Say  string `yaml:"say"`
}

// builtins are the parameters every playbook has without declaring them: the
// path of the running orch, the goal's id, the goal's folder relative to the
// workspace, and the target of the chosen approach.
var builtins = []string{"orch", "goal", "goal_dir", "target"}

func builtinNames() map[string]bool {
	names := map[string]bool{}
	for _, b := range builtins {
		names[b] = true
	}
	return names
}
