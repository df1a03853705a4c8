//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"

	"orch/blackboard/message"
	"orch/roles/think/fakemodel"
)

func newRandom() *rand.Rand { return rand.New(rand.NewPCG(17, 3)) }

func draw(rnd *rand.Rand) scripted {
	return scripted{pick(rnd, judges()), pick(rnd, executors()), pick(rnd, transports()), pick(rnd, shapes()), pick(rnd, message.Policies())}
}

func pick[T any](rnd *rand.Rand, all []T) T { return all[rnd.IntN(len(all))] }

// mind is the model of one goal, in every role and over every transport.
type mind struct {
	goal     scripted
	plans    int
	attempts int
	word     string              // of the first question
	looks    map[string][]string // the words of the questions about a criterion
}

func (m *mind) reply(r fakemodel.Request) fakemodel.Reply {
	asked := r.System
	for _, t := range r.Turns {
		asked += "\n" + t.Text
	}
	is := func(role string) bool { return strings.Contains(asked, role) }
	switch {
	case is(asMeta), is(asValidator):
		return m.goal.judge.say(m, m.question(asked))
	case is(asExecutor), is("You carry out one task in the current directory"):
		return m.execute(r.Turn())
	case is(asPerceiver):
		return fakemodel.Reply{Text: `{"intent":"write a friendly greeting into hello.txt","tags":["greeting"]}`}
	case is(asCandidates):
		return fakemodel.Reply{Text: `{"candidates":[{"tool":"write-file","target":"hello.txt"}]}`}
	case is(asPlanner):
		m.plans++
		approach := fmt.Sprintf("write-file-%d", m.plans)
		if order := inOrder.FindStringSubmatch(asked); order != nil {
			approach = order[1]
		}
		return fakemodel.Reply{Text: m.goal.shape.plan(m.plans, approach)}
	case is(asMerger):
		return fakemodel.Reply{Text: `{"summary":"a greeting was written","output":"hello.txt contains: hello dear friend"}`}
	}
	return fakemodel.Reply{Text: `{"next_moves":["choose a language for the greeting","allow the network"]}`}
}

// executing is what an executor does; done tells that it is the whole work.
type executing struct {
	name  string
	done  bool
	calls func(m *mind) []fakemodel.Call
	says  string
}

func writing(files map[string]string, names ...string) (calls []fakemodel.Call) {
	for _, name := range names {
		calls = append(calls, fakemodel.Call{Name: "write_file", Input: map[string]any{"path": name, "content": files[name]}})
	}
	return calls
}

func whole() map[string]string {
	return map[string]string{"hello.txt": friendWords + "\n", "notes.txt": signWords + "\n"}
}

func does(m *mind) []fakemodel.Call { return writing(whole(), m.goal.shape.writes...) }

// half writes the first of two files, or a greeting that is none yet.
func half(m *mind) []fakemodel.Call {
	if len(m.goal.shape.writes) > 1 {
		return writing(whole(), m.goal.shape.writes[0])
	}
	return writing(map[string]string{"hello.txt": "hello\n"}, "hello.txt")
}

func echoes(*mind) []fakemodel.Call {
	return []fakemodel.Call{{Name: "shell", Input: map[string]any{"command": "true"}},
		{Name: "shell", Input: map[string]any{"command": "echo " + friendWords + " " + signWords}}}
}

func executors() []executing {
	const claim = "hello.txt contains: hello dear friend, and notes.txt: written by a good friend. I have verified both."
	completed := func(output string) string { return fmt.Sprintf(`{"status":"completed","output":%q}`, output) }
	return []executing{
		{"does it", true, does, completed("hello.txt is written")},
		{"does it and claims more", true, does, completed(claim + " All tests pass, too.")},
		{"does it at the second try", true, func(m *mind) []fakemodel.Call {
			if m.attempts == 1 {
				return half(m)
			}
			return does(m)
		}, completed("hello.txt is written")},
		{"half does it", false, half, completed(claim)},
		{"only talks", false, nil, completed(claim)},
		{"echoes it", false, echoes, completed(claim)},
		{"says it was already so", false, nil, completed("Nothing was to be done, it was already so: " + claim)},
		{"calls it infeasible", false, nil, `{"status":"failed","reason":"it can not be done","infeasible":"the disk is full and hello.txt can not be written"}`},
	}
}

// execute is a turn of the executor.
func (m *mind) execute(turn int) fakemodel.Reply {
	e := m.goal.executor
	if turn == 1 {
		m.attempts++
		if e.calls != nil {
			return fakemodel.Reply{Calls: e.calls(m)}
		}
	}
	return fakemodel.Reply{Text: e.says}
}

// question is what a judge is asked, taken out of the prompt.
type question struct {
	criterion, output string
	records           []seen
	word              string
	second            bool
}

type seen struct{ name, what, text string }

var (
	inRecord    = regexp.MustCompile(`(?s)## Record (R\d+)\n\n<<<\S+ \S+\n(.*?)\n(.*?)\n\S+ RECORD_R\d+>>>`)
	inOutput    = regexp.MustCompile(`(?s)## The output: what the judged party says\n\n<<<\S+ \S+\n(.*?)\n\S+ THE_OUTPUT`)
	inCriterion = regexp.MustCompile(`(?s)## The criterion\n\n(.*?)\n\n## `)
	inOrder     = regexp.MustCompile(`stay with (\S+) on `)
	inWord      = regexp.MustCompile(`## The word of this question\s+(\w+)`)
)

func (m *mind) question(asked string) (q question) {
	first := func(r *regexp.Regexp) string {
		if found := r.FindStringSubmatch(asked); found != nil {
			return found[1]
		}
		return ""
	}
	q.output, q.word = first(inOutput), first(inWord)
	for text := range truths() {
		if strings.Contains(first(inCriterion), text) {
			q.criterion = text
		}
	}
	for _, found := range inRecord.FindAllStringSubmatch(asked, -1) {
		q.records = append(q.records, seen{found[1], found[2], found[3]})
	}
	if m.word == "" {
		m.word = q.word
	}
	if m.looks == nil {
		m.looks = map[string][]string{}
	}
	key := q.criterion + q.output
	if words := m.looks[key]; len(words) == 0 || words[len(words)-1] != q.word {
		m.looks[key] = append(words, q.word)
	}
	q.second = len(m.looks[key])%2 == 0
	return q
}

// verdict is an answer in the form that is asked for.
func verdict(word, is, evidence, record, quote string) string {
	v := map[string]any{"verdict": is, "evidence": evidence}
	if word != "" {
		v["word"] = word
	}
	if record != "" {
		v["record"], v["quote"] = record, quote
	}
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings always encode
	}
	return string(raw)
}

// shows is the record that shows the criterion, if one does.
func (q question) shows() (record, quote string, ok bool) {
	t := truths()[q.criterion]
	for _, r := range q.records {
		if strings.HasPrefix(r.what, "the file "+t.file) && strings.Contains(r.text, t.words) {
			return r.name, t.words, true
		}
	}
	return "", "", false
}

// honest is the verdict of who looks.
func (q question) honest(word string) string {
	if record, quote, ok := q.shows(); ok {
		return verdict(word, "pass", "the file says it", record, quote)
	}
	return verdict(word, "fail", "no file says it", "", "")
}

// cheat is a pass that quotes a record as well as it can.
func (q question) cheat(word string) string {
	record, quote, ok := q.shows()
	if !ok && len(q.records) > 0 {
		record, quote = q.records[0].name, q.records[0].text
	}
	return verdict(word, "pass", "it is as it should be", record, quote)
}
