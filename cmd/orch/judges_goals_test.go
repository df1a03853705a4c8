//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"slices"

	"orch/blackboard/message"
)

// scripted is one goal of the table: who judges and how, what the executor
// does, over which transport, towards what, under which policy.
type scripted struct {
	judge     judging
	executor  executing
	transport transport
	shape     shape
	policy    string
}

func (g scripted) String() string {
	return fmt.Sprintf("%s, %s, %s, %s, %s", g.judge.name, g.executor.name, g.transport.name, g.shape.name, g.policy)
}

// truth is what a criterion of the table means: words in a file. Nothing of
// orch takes part in telling whether it holds.
type truth struct{ file, words string }

const (
	isGreeting = "hello.txt greets a friend"
	friendly   = "the greeting sounds friendly"
	isSigned   = "notes.txt names who wrote it"
	chapter    = "chapter %d greets a friend"
)

const friendWords, signWords = "hello dear friend", "written by a good friend"

// truths are the criteria of all shapes.
func truths() map[string]truth {
	all := map[string]truth{isGreeting: {"hello.txt", friendWords}, friendly: {"hello.txt", friendWords}, isSigned: {"notes.txt", signWords}}
	for i := range chapters {
		all[fmt.Sprintf(chapter, i)] = truth{"hello.txt", friendWords}
	}
	return all
}

// chapters are as many criteria as make one that fails beside them little
// enough for the policies that end close to the goal.
const chapters = 8

// criterion is one as a planner writes it.
type criterion struct {
	Text     string `json:"criterion"`
	Check    any    `json:"check,omitempty"`
	Required *bool  `json:"required,omitempty"`
}

func (c criterion) optional() criterion {
	no := false
	c.Required = &no
	return c
}

func weighed(text string) criterion { return criterion{Text: text} }

func checked(text string) criterion {
	t := truths()[text]
	return criterion{Text: text, Check: map[string]any{"file": map[string]any{"path": t.file, "contains": t.words}}}
}

func commanded(text, command string) criterion {
	return criterion{Text: text, Check: map[string]any{"run": map[string]any{"command": command}}}
}

// manyAnd are checked criteria, and one more.
func manyAnd(last criterion) []criterion {
	all := []criterion{checked(isGreeting)}
	for i := range chapters {
		all = append(all, checked(fmt.Sprintf(chapter, i)))
	}
	return append(all, last)
}

// shape is what a goal asks for.
type shape struct {
	name       string
	task, goal []criterion
	before     map[string]string // files that are there already
	writes     []string          // the files of the whole work
	// judged tells that no end is good without what a judge passes; asked that
	// a judge has to say something all the same.
	judged, asked bool
	// close tells that an optional criterion fails, which one policy never
	// takes for good enough; never says why no end of it is a good one.
	close bool
	never string
}

// Why a goal never ends well, whoever works and judges.
const (
	lacking = "a required criterion does not hold"
	fact    = "a check failed, which no threshold waives"
	unasked = "a task failed, so nobody was asked about a required criterion"
)

func shapes() []shape {
	hello, both := []string{"hello.txt"}, []string{"hello.txt", "notes.txt"}
	all := []shape{
		{name: "checks decide", task: []criterion{checked(isGreeting)}, goal: []criterion{checked(isGreeting)}, writes: hello},
		{name: "nothing has a check", task: []criterion{weighed(friendly)}, goal: []criterion{weighed(friendly)}, writes: hello, judged: true},
		{name: "some have a check", task: []criterion{checked(isGreeting), weighed(friendly)}, goal: []criterion{checked(isGreeting), weighed(friendly)}, writes: hello, judged: true},
		{name: "only the goal is weighed", task: []criterion{checked(isGreeting)}, goal: []criterion{weighed(friendly)}, writes: hello, judged: true},
		{name: "two files, one weighed", task: []criterion{checked(isGreeting), checked(isSigned)}, goal: []criterion{checked(isGreeting), weighed(isSigned)}, writes: both, judged: true},
		{name: "hollow checks", task: []criterion{commanded(isGreeting, "test 1 = 1")}, goal: []criterion{commanded(friendly, "true")}, writes: hello, judged: true},
		{name: "a check that echoes", task: []criterion{commanded(isGreeting, "echo "+friendWords)}, goal: []criterion{commanded(isGreeting, "echo "+friendWords)}, writes: hello, judged: true},
		{name: "the check held before", before: map[string]string{"hello.txt": "hello\n"}, writes: hello, judged: true,
			task: []criterion{{Text: isGreeting, Check: map[string]any{"file": map[string]any{"path": "hello.txt", "contains": "hello"}}}},
			goal: []criterion{{Text: friendly, Check: map[string]any{"file": map[string]any{"path": "hello.txt"}}}}},
		{name: "an optional one is weighed and fails", task: manyAnd(weighed(isSigned).optional()), goal: []criterion{checked(isGreeting)}, writes: hello, close: true, asked: true},
		{name: "an optional one of the goal is weighed and fails", task: []criterion{checked(isGreeting)}, goal: manyAnd(weighed(isSigned).optional()), writes: hello, close: true, asked: true},
		{name: "an optional check of a task fails", task: manyAnd(checked(isSigned).optional()), goal: []criterion{checked(isGreeting)}, writes: hello, never: fact},
		{name: "an optional check of the goal fails", task: []criterion{checked(isGreeting)}, goal: manyAnd(checked(isSigned).optional()), writes: hello, never: fact},
		{name: "the required one fails beside an optional one", task: manyAnd(weighed(isSigned).optional()), goal: []criterion{checked(isGreeting), checked(isSigned)}, writes: hello, never: lacking},
		{name: "the required one is weighed beside an optional one", task: manyAnd(weighed(isSigned).optional()), goal: []criterion{weighed(isSigned)}, writes: hello, never: lacking},
		{name: "a task fails and the required one is weighed", task: manyAnd(weighed(isSigned).optional()), goal: []criterion{weighed(friendly)}, writes: hello, never: unasked},
	}
	return all
}

// plan is the nth plan of a goal. No plan is taken twice.
func (s shape) plan(n int, approach string) string {
	raw, err := json.Marshal(map[string]any{"task_criteria": s.goal, "tasks": []any{map[string]any{
		"slot": "greet", "intent": fmt.Sprintf("write a greeting into hello.txt, try %d", n), "approach": approach, "target": "hello.txt",
		"targets": []string{"hello.txt", "notes.txt"}, "criteria": s.task}}})
	if err != nil {
		panic(err) // the table is no JSON
	}
	return string(raw)
}

// ends tells whether a goal has to end well, and why not otherwise.
func (g scripted) ends() (well bool, why string) {
	switch {
	case !g.executor.done:
		return false, "the work is not done"
	case g.shape.never != "":
		return false, g.shape.never
	case g.shape.judged && g.judge.says != binding:
		return false, "no verdict binds"
	case g.shape.asked && g.judge.says == nothing:
		return false, "nobody judged it"
	case g.shape.close && g.policy == message.V07:
		return false, "v0.7 ends with D = 0 only"
	}
	return true, ""
}

// chosen takes n goals out of the table: first those that each break one
// guard, then always the one of many drawn that shows most pairs of behaviours
// not yet seen together, while about half have to end well. Fewer goals are the
// first of more.
func chosen(n int) []scripted {
	all := sharp()
	seen := map[[2]string]int{}
	good := 0
	for _, g := range all {
		good += g.count(seen)
	}
	rnd := newRandom()
	for len(all) < n {
		var best scripted
		most := -1.0
		for range 200 {
			g := draw(rnd)
			n := g.fresh(seen)
			if well, _ := g.ends(); well && good < len(all)/2 {
				n += 3
			}
			if n > most {
				best, most = g, n
			}
		}
		good += best.count(seen)
		all = append(all, best)
	}
	return all[:n]
}

// names are the behaviours of a goal, by dimension.
func (g scripted) names() []string {
	return []string{"j " + g.judge.name, "e " + g.executor.name, "t " + g.transport.name, "s " + g.shape.name, "p " + g.policy}
}

// count notes what a goal shows; it is 1 if the goal has to end well.
func (g scripted) count(seen map[[2]string]int) int {
	names := g.names()
	for i, a := range names {
		seen[[2]string{a}]++
		for _, b := range names[i+1:] {
			seen[[2]string{a, b}]++
		}
	}
	if well, _ := g.ends(); well {
		return 1
	}
	return 0
}

// fresh is how much of a goal was not seen: a behaviour first, then a pair.
// Work that is done counts more, since talk is refused whoever judges.
func (g scripted) fresh(seen map[[2]string]int) (n float64) {
	names := g.names()
	for i, a := range names {
		n += 12 / float64(1+seen[[2]string{a}]*seen[[2]string{a}])
		for _, b := range names[i+1:] {
			n += 1 / float64(1+seen[[2]string{a, b}])
		}
	}
	if g.executor.done {
		n += 2
	}
	return n
}

func byName[T any](all []T, name string, of func(T) string) T {
	i := slices.IndexFunc(all, func(v T) bool { return of(v) == name })
	if i < 0 {
		panic("no " + name + " is in the table")
	}
	return all[i]
}

// sharp are goals that only one guard keeps from ending well.
func sharp() (all []scripted) {
	for i, c := range [][4]string{
		{"leaves the word out", "half does it", "openai", "nothing has a check"},
		{"gives an old word", "does it", "codex", "only the goal is weighed"},
		{"invents quotes", "half does it", "anthropic", "some have a check"},
		{"quotes the executor", "half does it", "claude", "nothing has a check"},
		{"is honest", "does it", "openai", "the required one fails beside an optional one"},
		{"is honest", "does it and claims more", "acp", "the required one is weighed beside an optional one"},
		{"is honest", "does it", "anthropic whole", "an optional one is weighed and fails"},
		{"is honest", "does it at the second try", "text", "two files, one weighed"},
	} {
		all = append(all, scripted{
			judge:     byName(judges(), c[0], func(j judging) string { return j.name }),
			executor:  byName(executors(), c[1], func(e executing) string { return e.name }),
			transport: byName(transports(), c[2], func(t transport) string { return t.name }),
			shape:     byName(shapes(), c[3], func(s shape) string { return s.name }),
			policy:    message.Policies()[i%2], // the two that end close to a goal
		})
	}
	return all
}
