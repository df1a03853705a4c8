package gate

import (
	"slices"
	"strings"
)

// options are a program's arguments taken apart.
type options struct {
	short map[byte]bool
	long  []string         // as written, without a value
	value map[string][]arg // by option, "-x" or "--long"
	ops   []arg            // operands
	vague bool             // something not known may itself be options
}

// syntaxOf says which options of a program take a value.
type syntaxOf struct {
	shorts string   // letters whose value follows or is attached
	longs  []string // long options whose value may be the next argument
	first  bool     // options end at the first operand
}

// parse takes arguments apart the way getopt does.
func (s syntaxOf) parse(args []arg) options {
	o := options{short: map[byte]bool{}, value: map[string][]arg{}}
	for i := 0; i < len(args); i++ {
		text, ok := args[i].lit()
		switch {
		case !ok:
			o.vague = o.vague || (!args[i].known() && args[i].split)
			o.ops = append(o.ops, args[i])
		case text == "--":
			o.ops = append(o.ops, args[i+1:]...)
			return o
		case strings.HasPrefix(text, "--"):
			i = s.longOption(&o, text, args, i)
			continue
		case strings.HasPrefix(text, "-") && text != "-":
			i = s.shortOptions(&o, text, args, i)
			continue
		default:
			o.ops = append(o.ops, args[i])
		}
		if s.first {
			o.ops = append(o.ops, args[i+1:]...)
			return o
		}
	}
	return o
}

func (s syntaxOf) longOption(o *options, text string, args []arg, i int) int {
	name, value, has := strings.Cut(text, "=")
	o.long = append(o.long, name)
	switch {
	case has:
		o.value[name] = append(o.value[name], known(value))
	case slices.Contains(s.longs, name) && i+1 < len(args):
		i++
		o.value[name] = append(o.value[name], args[i])
	}
	return i
}

func (s syntaxOf) shortOptions(o *options, text string, args []arg, i int) int {
	for j := 1; j < len(text); j++ {
		c := text[j]
		o.short[c] = true
		if strings.IndexByte(s.shorts, c) < 0 {
			continue
		}
		name := "-" + string(c)
		switch {
		case j+1 < len(text):
			o.value[name] = append(o.value[name], known(text[j+1:]))
		case i+1 < len(args):
			i++
			o.value[name] = append(o.value[name], args[i])
		}
		return i
	}
	return i
}

// has tells whether any of the options was given: "-x" as a letter, "--long"
// also abbreviated, as getopt lets people do.
func (o options) has(names ...string) bool {
	for _, n := range names {
		if len(n) == 2 && o.short[n[1]] {
			return true
		}
		for _, l := range o.long {
			if strings.HasPrefix(n, "--") && len(l) > 3 && strings.HasPrefix(n, l) {
				return true
			}
		}
	}
	return false
}

// values are what was given to any of the options.
func (o options) values(names ...string) []arg {
	var out []arg
	for _, n := range names {
		out = append(out, o.value[n]...)
	}
	return out
}

// lits are the arguments with known single values.
func lits(args []arg) []string {
	out := make([]string, len(args))
	for i, a := range args {
		out[i], _ = a.lit()
	}
	return out
}
