package playbook

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// maxValueBytes bounds a value taken from an intent.
const maxValueBytes = 4096

// fromIntent takes the parameters a person's words give. A value that does not
// fit its type is left out: the words meant something else.
func (p *Playbook) fromIntent(intent string) Values {
	v := make(Values, len(p.Params))
	for _, param := range p.Params {
		v[param.Name] = Value{Type: param.Type}
		for _, expr := range param.Pattern {
			re, err := regexp.Compile("(?i)" + expr)
			if err != nil {
				continue // Decode has refused it
			}
			text, ok := firstGroup(re, intent)
			if !ok {
				continue
			}
			if text, err = accept(param, text); err == nil {
				v[param.Name] = Value{Text: text, Type: param.Type, Given: true}
				break
			}
		}
	}
	return v
}

// firstGroup returns the first group that took part in the match, or the match.
func firstGroup(re *regexp.Regexp, s string) (string, bool) {
	m := re.FindStringSubmatch(s)
	if m == nil {
		return "", false
	}
	for _, g := range m[1:] {
		if g != "" {
			return g, true
		}
	}
	return m[0], m[0] != ""
}

// accept checks a value against its parameter's type and returns its normal form.
func accept(p Param, text string) (string, error) {
	if strings.ContainsRune(text, 0) || len(text) > maxValueBytes {
		return "", fmt.Errorf("the value of %s is too long or holds a NUL", p.Name)
	}
	switch p.Type {
	case IntParam:
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || n < 0 {
			return "", fmt.Errorf("the value %q of %s is not a whole number", cut(text, 40), p.Name)
		}
		return strconv.Itoa(n), nil
	case PathParam:
		text = strings.TrimSpace(text)
		if text == "" {
			return "", nil
		}
		return text, nil
	}
	return text, nil
}

// values completes the parameters: what the intent gave, then what the
// workspace shows, then the defaults, then the built-in ones. The directories
// are those in which something was found.
func (p *Playbook) values(intent string, f Facts, b builtinValues) (Values, []string, error) {
	v := p.fromIntent(intent)
	v["orch"] = Value{Text: b.Orch, Type: StringParam, Own: true}
	v["goal"] = Value{Text: b.Goal, Type: StringParam, Own: true}
	v["goal_dir"] = Value{Text: ".orch/goals/" + b.Goal + "/files", Type: StringParam, Own: true}
	v["target"] = Value{Type: StringParam, Own: true}
	for _, param := range p.Params {
		v.clean(param, b.Home)
	}
	v, dirs, err := p.detect(f, v)
	if err != nil {
		return nil, nil, err
	}
	for _, param := range p.Params {
		if v[param.Name].Text == "" && param.Default != "" {
			v[param.Name] = v.with(map[string]string{param.Name: param.Default})[param.Name]
			v.clean(param, b.Home)
		}
		if param.Required && v[param.Name].Text == "" {
			return nil, nil, &missingParamError{param, p.lookedFor(param.Name, f, v)}
		}
	}
	return v, dirs, nil
}

// clean gives the value of a path its one form.
func (v Values) clean(param Param, home string) {
	if param.Type == PathParam {
		value := v[param.Name]
		value.Text = cleanPath(value.Text, home)
		v[param.Name] = value
	}
}

// builtinValues are the values of the parameters nobody declares.
type builtinValues struct {
	Orch string
	Goal string
	Home string
}

// cleanPath expands ~/ and makes sure that a path is never read as an option.
func cleanPath(text, home string) string {
	if text == "" {
		return ""
	}
	if home != "" && (text == "~" || strings.HasPrefix(text, "~/")) {
		text = path.Join(home, strings.TrimPrefix(text, "~"))
	}
	text = path.Clean(text)
	if strings.HasPrefix(text, "-") {
		text = "./" + text
	}
	return text
}

// missingParamError says that a required value is neither given nor found.
type missingParamError struct {
	param  Param
	looked []string
}

func (e *missingParamError) Error() string {
	what := e.param.Describe
	if what == "" {
		what = e.param.Name
	}
	text := "found no " + what + " in the workspace"
	if len(e.looked) > 0 {
		text += ": " + strings.Join(e.looked, "; ")
	}
	return text
}

// lookedFor says what no detection found that would have set a parameter.
func (p *Playbook) lookedFor(name string, f Facts, v Values) []string {
	var list []string
	for _, d := range p.Detect {
		if _, sets := d.Set[name]; !sets {
			continue
		}
		if asked, _ := (When{Param: d.When.Param}).Holds(f, v); !asked {
			continue // it is about something else than the words are
		}
		if ok, why := d.When.Holds(f, v); !ok && !slices.Contains(list, why) {
			list = append(list, why)
		}
	}
	return list
}
