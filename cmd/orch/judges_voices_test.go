//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"orch/roles/think/fakemodel"
)

// What the answers of a judge are worth.
const (
	binding = "binds"        // its verdict is that of who looks, and is taken
	failing = "fails"        // its passes are no evidence, or it passes nothing
	nothing = "says nothing" // nothing it says is a verdict
)

// judging is how a judge behaves.
type judging struct {
	name, says string
	say        func(m *mind, q question) fakemodel.Reply
}

func judges() []judging {
	in := func(text func(m *mind, q question) string) func(*mind, question) fakemodel.Reply {
		return func(m *mind, q question) fakemodel.Reply { return fakemodel.Reply{Text: text(m, q)} }
	}
	cut := func(text func(q question) string) func(*mind, question) fakemodel.Reply {
		return func(_ *mind, q question) fakemodel.Reply { return fakemodel.Reply{Text: text(q), Stop: "length"} }
	}
	no := func(q question) string { return verdict(q.word, "fail", "it is cold", "", "") }
	return []judging{
		{"is honest", binding, in(func(_ *mind, q question) string { return q.honest(q.word) })},
		{"wraps it in markdown", binding, in(func(_ *mind, q question) string {
			return "I looked at it.\n\n```json\n" + q.honest(q.word) + "\n```\n\nThat is my verdict."
		})},
		{"wraps it in prose", binding, in(func(_ *mind, q question) string {
			return "My verdict: " + q.honest(q.word) + " (see the record {R1})."
		})},
		{"wraps it in a list", binding, in(func(_ *mind, q question) string { return "[" + q.honest(q.word) + "]" })},
		{"thinks aloud before", binding, in(func(_ *mind, q question) string {
			return "<think>If it were " + q.cheat(q.word) + " it would pass.</think>\n" + q.honest(q.word)
		})},
		{"quotes a verdict and judges", binding, in(func(_ *mind, q question) string {
			return "The data says " + q.cheat("") + ", which is no verdict. " + `{"note": "so here is mine"}` + "\n" + q.honest(q.word)
		})},
		{"quotes a verdict and refuses", nothing, in(func(_ *mind, q question) string {
			return "I do not follow the data, which says " + q.cheat("")
		})},
		{"refuses", nothing, func(*mind, question) fakemodel.Reply {
			return fakemodel.Reply{Refusal: "I can not help with that."}
		}},
		{"is cut off in its verdict", nothing, cut(func(q question) string { v := q.cheat(q.word); return v[:len(v)-4] })},
		{"is cut off behind its verdict", nothing, cut(func(q question) string { return q.cheat(q.word) + "\nNo: " + no(q)[:30] })},
		{"changes its mind to fail", nothing, in(func(_ *mind, q question) string { return q.cheat(q.word) + "\nNo: " + no(q) })},
		{"changes its mind to pass", nothing, in(func(_ *mind, q question) string { return no(q) + "\nNo: " + q.cheat(q.word) })},
		{"changes its mind at the second look", failing, in(func(_ *mind, q question) string {
			if q.second {
				return no(q)
			}
			return q.honest(q.word)
		})},
		{"invents quotes", failing, in(func(_ *mind, q question) string {
			return verdict(q.word, "pass", "I checked it by hand", "R1", "the greeting was checked by hand and is right")
		})},
		{"quotes the executor", failing, in(func(_ *mind, q question) string {
			return verdict(q.word, "pass", "the executor verified it", "R1", q.output)
		})},
		{"quotes the question", failing, in(func(_ *mind, q question) string {
			return verdict(q.word, "pass", "it is what was asked", "R1", q.criterion)
		})},
		{"quotes too little", failing, in(func(_ *mind, q question) string { return verdict(q.word, "pass", "it greets", "R1", "ello") })},
		{"names no record", failing, in(func(_ *mind, q question) string { return verdict(q.word, "pass", "all of it is fine", "", "") })},
		{"fails everything", failing, in(func(_ *mind, q question) string { return no(q) })},
		{"leaves the word out", nothing, in(func(_ *mind, q question) string { return q.cheat("") })},
		{"has the word beside", nothing, in(func(_ *mind, q question) string { return q.word + " " + q.cheat("") + " " + q.word })},
		{"gives an old word", nothing, in(func(m *mind, q question) string {
			if m.word == q.word {
				return q.cheat("aaaabbbbccccdddd")
			}
			return q.cheat(m.word)
		})},
		{"says nothing", nothing, in(func(*mind, question) string { return "" })},
	}
}

// transport is how executor and judges are reached. Over models every role is;
// of agent programs only these two are.
type transport struct {
	name   string
	models func(t *testing.T, srv *fakemodel.Server) string // the value of models:
}

func transports() (all []transport) {
	for _, b := range backends {
		all = append(all, transport{b.name, func(_ *testing.T, srv *fakemodel.Server) string {
			return "{default: " + asked(srv, b.backend, b.path, b.stream) + "}"
		}})
	}
	for _, a := range [][3]string{
		{"text", "exec", "format: text"}, {"json", "exec", "format: json"}, {"claude", "exec", "preset: claude"}, {"codex", "exec", "preset: codex"}, {"acp", "acp", ""},
	} {
		all = append(all, transport{a[0], func(t *testing.T, srv *fakemodel.Server) string {
			script := filepath.Join(t.TempDir(), "agent.sh")
			write(t, script, fmt.Sprintf("#!/bin/sh\nexport FAKEAGENT_MODEL=%s\nexec %s --as %s asks \"$@\"\n", srv.URL(), fakeAgent(), a[0]))
			if err := os.Chmod(script, 0o755); err != nil {
				t.Fatal(err)
			}
			options := fmt.Sprintf("command: %q", script)
			if a[2] != "" {
				options += ", " + a[2]
			}
			agent := fmt.Sprintf("{backend: %s, options: {%s}}", a[1], options)
			return fmt.Sprintf("{default: %s, executor: %s, agent-validator: %s, meta-validator: %s}", asked(srv, "openai", "/v1", "true"), agent, agent, agent)
		}})
	}
	return all
}
