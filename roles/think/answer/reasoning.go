package answer

import "strings"

// block is how a model marks what it says to itself.
type block struct{ open, close string }

// blocks are the marks of reasoning that models are known to leave in their
// answers. All letters are small: the case of a mark does not matter.
var blocks = []block{
	{"<think>", "</think>"}, {"<thinking>", "</thinking>"}, {"<thought>", "</thought>"}, {"<thoughts>", "</thoughts>"},
	{"<reasoning>", "</reasoning>"}, {"<reflection>", "</reflection>"}, {"<scratchpad>", "</scratchpad>"},
	{"<analysis>", "</analysis>"}, {"<inner_monologue>", "</inner_monologue>"}, {"<seed:think>", "</seed:think>"},
	{"<antthinking>", "</antthinking>"}, {"<think_never_used>", "</think_never_used>"},
	{"◁think▷", "◁/think▷"}, {"[think]", "[/think]"}, {"<|begin_of_thought|>", "<|end_of_thought|>"},
	{"<|start_thinking|>", "<|end_thinking|>"}, {"<|channel|>analysis", "<|end|>"}, {"<|channel>thought", "<channel|>"},
	{"<unused94>thought", "<unused95>"},
}

// longestMark bounds how much of the text is looked at for a mark.
const longestMark = 32

type reasoningKind int

const (
	notReasoning reasoningKind = iota
	enclosed
	orphan  // a closing mark without an opening one: the prompt had opened it
	endless // an opening mark that nothing closes
)

// reasoning tells whether a mark stands at a place, and where what it marks ends.
func reasoning(text string, at int) (end int, what reasoningKind) {
	if c := text[at]; c != '<' && c != '[' && c != "◁"[0] {
		return 0, notReasoning
	}
	head := lower(text[at:min(len(text), at+longestMark)])
	for _, b := range blocks {
		switch {
		case strings.HasPrefix(head, b.open):
			return b.end(text, at+len(b.open))
		case strings.HasPrefix(head, b.close) && b.close != "<|end|>":
			return at + len(b.close), orphan
		}
	}
	return 0, notReasoning
}

// end is where the block closes whose content begins at a place. Blocks of one
// kind may be nested.
func (b block) end(text string, at int) (int, reasoningKind) {
	depth := 1
	for at < len(text) {
		i := strings.IndexByte(text[at:], b.open[0])
		j := strings.IndexByte(text[at:], b.close[0])
		if i < 0 && j < 0 {
			break
		}
		if i < 0 || j >= 0 && j < i {
			i = j
		}
		at += i
		head := lower(text[at:min(len(text), at+longestMark)])
		switch {
		case strings.HasPrefix(head, b.close):
			at += len(b.close)
			if depth--; depth == 0 {
				return at, enclosed
			}
		case strings.HasPrefix(head, b.open):
			depth++
			at += len(b.open)
		default:
			at++
		}
	}
	return len(text), endless
}

// lower makes ASCII letters small and keeps every length.
func lower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}
