package code

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"orch/blackboard/lazyregexp"
	"orch/blackboard/message"
	"orch/roles/act/check"
)

// words are the words of a text, in lower case.
func words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// vaguePhrase finds what can not be shown to be false: praise, and promises
// without a measure.
var vaguePhrase = lazyregexp.New(`(?i)(?:^|[^\w-])(` +
	`(?:is|are|be|was|were|gets?)?\s*(?:\w+\s+)?(?:correctly|properly|appropriately|adequately|nicely|cleanly|reasonably|sensibly|gracefully|robustly|efficiently|smoothly|reliably|satisfactorily|suitably|accordingly|optimally)` +
	`|as (?:expected|intended|needed|required|appropriate|desired|necessary|specified)` +
	`|(?:works?|performs?|behaves?|functions?|runs?|handled|done) (?:well|fine|ok|okay|great)` +
	`|if (?:necessary|needed|appropriate)|and so on|etc|and more` +
	`|(?:is|are|be) (?:good|nice|robust|intuitive|elegant|maintainable|performant|scalable|user[- ]friendly|production[- ]ready|high[- ]quality|better|improved|optimi[sz]ed|fast enough|good enough|complete|done|finished|ready|working|functional)` +
	`|(?:good|high|better|best) (?:quality|practices?|performance)` +
	`|the right (?:thing|way|results?|output|values?)` +
	`|(?:it|everything|all|this|that|which|feature|code|system|implementation) (?:just )?works?` +
	`)(?:$|[^\w-])`)

// concrete finds what makes a statement one about something that can be
// looked at: numbers, quoted text, code, paths, flags, identifiers.
var concrete = lazyregexp.New("\\d|`[^`]+`|\"[^\"]+\"|'[^']{2,}'|\\b(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)\\b|\\B/\\w+|\\w/\\w|--\\w|\\w+\\(|\\w_\\w|[a-z][A-Z]|\\w\\.\\w{1,5}\\b|[<>=≤≥]")

// emptyWords say nothing about a result.
var emptyWords = sync.OnceValue(func() map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(`a all an and are as at be been by can do does for has have in is it its must of on should that the then there they this
		to was were when will with acceptable accurate appropriate complete completed completely correct correctly done everything expected fine finished
		fully functional good great implemented implementation improved nice ok okay perfect proper properly ready right satisfied success successful
		successfully task valid well work working works code feature functionality goal job project requirement requirements result results system thing things`) {
		set[w] = true
	}
	return set
})

// DoneWhenProblem says why nobody could show a done_when to be false; empty if
// somebody might. Words we do not know get the benefit of the doubt.
func DoneWhenProblem(text string) string {
	if strings.TrimSpace(text) == "" {
		return "it does not say when it is done"
	}
	if nothing(text) {
		return fmt.Sprintf("%q names nothing that could be observed to be otherwise", text)
	}
	if m := vaguePhrase.FindStringSubmatch(text); m != nil && !concrete.MatchString(text) {
		return fmt.Sprintf("%q is vague: say what is observed, with the value, status or text that shows it", strings.TrimSpace(m[1]))
	}
	return ""
}

// nothing tells whether a text consists of empty words only.
func nothing(text string) bool {
	for _, w := range words(text) {
		if !emptyWords()[w] {
			return false
		}
	}
	return true
}

// Forms of a done_when that code can check as they stand.
var (
	exitsWith   = lazyregexp.New("`([^`]+)` +(?:exits|ends|returns|fails)(?: with)?(?: (?:exit )?(?:status|code))? (\\d{1,3})\\b")
	succeeds    = lazyregexp.New("`([^`]+)` +(?:passes|succeeds|is green|exits cleanly)\\b")
	prints      = lazyregexp.New("`([^`]+)` +(?:prints|outputs|shows) (?:`([^`]+)`|\"([^\"]+)\")")
	fileThere   = lazyregexp.New("(?:the file |^)`([^`\\s]+)` +exists\\b")
	fileAbsent  = lazyregexp.New("(?:the file |^)`([^`\\s]+)` +(?:does not exist|is gone|is removed)\\b")
	maxExitCode = 255
)

// DeriveCheck writes the check of a done_when where one can be written: a
// command in backquotes that passes, exits with a number or prints something,
// a file that exists or does not. ok is false for anything else, and for a
// statement of which that is only a part a criterion of its own remains.
func DeriveCheck(doneWhen string) (raw json.RawMessage, ok bool) {
	c, ok := derive(doneWhen)
	if !ok || c.Validate() != nil {
		return nil, false
	}
	raw, err := json.Marshal(c)
	return raw, err == nil
}

func derive(text string) (check.Check, bool) {
	if m := exitsWith.FindStringSubmatch(text); m != nil {
		exit, err := strconv.Atoi(m[2])
		if err != nil || exit > maxExitCode {
			return check.Check{}, false
		}
		return check.Check{Run: &check.Command{Command: m[1], Exit: &exit}}, true
	}
	if m := succeeds.FindStringSubmatch(text); m != nil {
		return check.Check{Run: &check.Command{Command: m[1]}}, true
	}
	if m := prints.FindStringSubmatch(text); m != nil {
		return check.Check{Run: &check.Command{Command: m[1], Stdout: &check.Text{Contains: m[2] + m[3]}}}, true
	}
	if m := fileThere.FindStringSubmatch(text); m != nil {
		return check.Check{File: &check.File{Path: m[1]}}, true
	}
	if m := fileAbsent.FindStringSubmatch(text); m != nil {
		return check.Check{File: &check.File{Path: m[1], Absent: true}}, true
	}
	return check.Check{}, false
}

// DoneWhenID is the id, within its task, of the criterion that is its done_when.
const DoneWhenID = "done_when"

// WithCriteria gives a task the criteria its review decides: those it has, its
// done_when in words, which a reviewer weighs, and the check of it where one
// can be written and none is there.
func WithCriteria(t message.SubTask) message.SubTask {
	var out []message.Criterion
	checked := false
	for _, c := range t.SuccessCriteria {
		if c.ID == DoneWhenID || c.ID == DoneWhenID+".check" {
			continue
		}
		checked = checked || c.HasCheck()
		out = append(out, c)
	}
	if raw, ok := DeriveCheck(t.DoneWhen); ok && !checked {
		out = append(out, message.Criterion{ID: DoneWhenID + ".check", Criterion: t.DoneWhen, Mode: message.Verifiable, Required: true, Check: raw})
	}
	if strings.TrimSpace(t.DoneWhen) != "" {
		out = append(out, message.Criterion{ID: DoneWhenID, Criterion: t.DoneWhen, Mode: message.Plausible, Required: true})
	}
	t.SuccessCriteria = out
	return t
}
