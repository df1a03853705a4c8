//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// acpAgent speaks the Agent Client Protocol by hand, so that it can also speak
// it badly.
type acpAgent struct {
	mode, write string
	cwd         string
	mu          sync.Mutex
	out         *json.Encoder
	next        int
	waiting     map[int]chan json.RawMessage
	cancelled   chan struct{}
	once        sync.Once
}

type frame struct {
	ID     *int            `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

func playACP(mode, write string) {
	a := &acpAgent{mode: mode, write: write, out: json.NewEncoder(os.Stdout), waiting: map[int]chan json.RawMessage{}, cancelled: make(chan struct{})}
	switch mode {
	case "quiet":
		return
	case "flood":
		flood()
	case "hang", "stubborn":
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT)
	}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 32<<20)
	for in.Scan() {
		var f frame
		if json.Unmarshal(in.Bytes(), &f) != nil {
			continue
		}
		a.take(f)
	}
	if mode == "stays" || mode == "stubborn" || mode == "hang" {
		forever()
	}
}

func (a *acpAgent) take(f frame) {
	switch {
	case f.Method == "" && f.ID != nil:
		a.mu.Lock()
		wait := a.waiting[*f.ID]
		a.mu.Unlock()
		if wait != nil {
			wait <- append(f.Result, f.Error...)
		}
	case f.Method == "initialize":
		if a.mode == "silent" || a.mode == "hang" {
			forever()
		}
		a.answer(f, m{"protocolVersion": 1, "agentInfo": m{"name": "fakeagent", "version": "1.2.3"}, "agentCapabilities": m{}, "authMethods": []any{}})
	case f.Method == "session/new":
		var p struct{ Cwd string }
		_ = json.Unmarshal(f.Params, &p)
		a.cwd = p.Cwd
		if a.mode == "auth" {
			a.refuse(f, -32000, "Authentication required")
			return
		}
		a.answer(f, m{"sessionId": "s-1", "modes": m{"currentModeId": "default", "availableModes": []any{m{"id": "default", "name": "d"}}}})
	case f.Method == "session/cancel":
		a.once.Do(func() { close(a.cancelled) })
	case f.Method == "session/prompt":
		go a.prompt(f)
	case f.ID != nil:
		a.refuse(f, -32601, "Method not found")
	}
}

func (a *acpAgent) send(v any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.out.Encode(v); err != nil {
		os.Exit(1)
	}
}

func (a *acpAgent) answer(f frame, result any) {
	a.send(m{"jsonrpc": "2.0", "id": f.ID, "result": result})
}
func (a *acpAgent) refuse(f frame, code int, text string) {
	a.send(m{"jsonrpc": "2.0", "id": f.ID, "error": m{"code": code, "message": text}})
}
func (a *acpAgent) update(u m) {
	a.send(m{"jsonrpc": "2.0", "method": "session/update", "params": m{"sessionId": "s-1", "update": u}})
}
func (a *acpAgent) text(s string) {
	a.update(m{"sessionUpdate": "agent_message_chunk", "content": m{"type": "text", "text": s}})
}

// ask sends a request of its own and waits for what comes back.
func (a *acpAgent) ask(method string, params any) string {
	a.mu.Lock()
	a.next++
	id := a.next
	wait := make(chan json.RawMessage, 1)
	a.waiting[id] = wait
	a.mu.Unlock()
	a.send(m{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	return string(<-wait)
}

func (a *acpAgent) prompt(f frame) {
	var p struct {
		Prompt []struct{ Text string }
	}
	_ = json.Unmarshal(f.Params, &p)
	asked := ""
	for _, b := range p.Prompt {
		asked += b.Text
	}
	usage := m{"inputTokens": 20, "cachedReadTokens": 5, "outputTokens": 7, "totalTokens": 32}
	end := func(text string) {
		if text != "" {
			a.text(text)
		}
		a.answer(f, m{"stopReason": "end_turn", "usage": usage})
	}
	switch a.mode {
	case "crash":
		fmt.Print(`{"jsonrpc":"2.0","method":"sess`)
		fmt.Fprintln(os.Stderr, "panic: something is nil")
		os.Exit(2)
	case "killed":
		endSelf()
	case "noresult":
		a.text("all done")
		os.Exit(0)
	case "chatty":
		for i := range 3000 {
			a.update(m{"sessionUpdate": "weather", "n": i})
			a.update(m{"sessionUpdate": "available_commands_update", "availableCommands": []any{}})
		}
	case "longline":
		a.text(strings.Repeat("x", 20<<20))
	case "garbage":
		a.mu.Lock()
		fmt.Print("npm warn something\n{\n[1,2]\n\xff\xfe\n{\"jsonrpc\":\"2.0\",\"method\":42}\n")
		a.mu.Unlock()
		a.update(m{"sessionUpdate": "tool_call_update", "toolCallId": "never-announced", "status": "completed"})
		if got := a.ask("qwen/unknown", m{}); !strings.Contains(got, "-32601") {
			fail(fmt.Errorf("an unknown request was answered with %s", got))
		}
	case "babble":
		a.mu.Lock()
		fmt.Print("npm warn something\n{\n[1,2]\n\xff\xfe\n")
		os.Exit(0)
	case "huge":
		end(strings.Repeat("x", 10<<20))
		return
	case "wrong":
		end(wrongForm)
		return
	case "limit-open":
		a.refuse(f, -32603, usedUp)
		return
	case "forbidden":
		a.refuse(f, -32603, notAllowed)
		return
	case "no-credit":
		a.refuse(f, -32603, noCredit)
		return
	case "unreachable":
		a.refuse(f, -32603, notThere)
		return
	case "limit":
		a.refuse(f, -32603, fmt.Sprintf("You've hit your usage limit. resets at %d", time.Now().Add(time.Hour).Unix()))
		return
	case "overloaded":
		a.refuse(f, -32603, "API Error: 529 Overloaded")
		return
	case "server": // as codex does
		usage = m{"inputTokens": 0, "outputTokens": 0, "totalTokens": 0}
		end("unexpected status 500 Internal Server Error: it broke, url: http://127.0.0.1/v1/responses")
		return
	case "error":
		a.refuse(f, -32603, "something did not work")
		return
	case "asks":
		said, err := consult(asked, a.cwd, func(command, output string, failed bool) {
			a.update(m{"sessionUpdate": "tool_call", "toolCallId": command, "title": command, "kind": "execute", "status": "pending", "rawInput": m{"command": command}})
			a.update(m{"sessionUpdate": "tool_call_update", "toolCallId": command, "status": map[bool]string{true: "failed", false: "completed"}[failed],
				"content": []any{m{"type": "content", "content": m{"type": "text", "text": output}}}})
		})
		var down *providerError
		if errors.As(err, &down) {
			a.refuse(f, -32603, err.Error())
			return
		}
		if err != nil {
			fail(err)
		}
		end(said)
		return
	case "echo":
		end(fmt.Sprintf("%d bytes: %s", len(asked), head(asked)))
		return
	case "schema":
		end(`{"status":"completed","output":"it is done"}`)
		return
	case "empty", "cheat":
		if a.mode == "cheat" {
			end("All tests pass now.")
		} else {
			end("")
		}
		return
	case "limit-retry", "lies-on-term":
		<-a.cancelled
		a.answer(f, m{"stopReason": "end_turn"})
		return
	case "slow":
		time.Sleep(100 * time.Millisecond)
	}
	a.work()
	if a.mode == "children" || a.mode == "stubborn" {
		leave()
	}
	end("all done")
}

// work asks for leave, and writes the file if it gets it.
func (a *acpAgent) work() {
	command := "echo hi > " + a.write
	a.update(m{"sessionUpdate": "tool_call", "toolCallId": "t1", "title": command, "kind": "execute", "status": "pending", "rawInput": m{"command": command}})
	title, kind := command, "execute"
	if a.mode == "denied" {
		title, kind = "rm -rf /", "delete"
	}
	got := a.ask("session/request_permission", m{"sessionId": "s-1",
		"toolCall": m{"toolCallId": "t1", "title": title, "kind": kind, "rawInput": m{"command": title}},
		"options":  []any{m{"optionId": "yes", "name": "Allow", "kind": "allow_once"}, m{"optionId": "always", "name": "Always", "kind": "allow_always"}, m{"optionId": "no", "name": "Reject", "kind": "reject_once"}}})
	if !strings.Contains(got, `"yes"`) {
		a.update(m{"sessionUpdate": "tool_call_update", "toolCallId": "t1", "status": "failed"})
		return
	}
	if a.write == "through-client" {
		a.ask("fs/write_text_file", m{"sessionId": "s-1", "path": filepath.Join(a.cwd, "client.txt"), "content": "hi\n"})
		a.ask("terminal/create", m{"sessionId": "s-1", "command": "sh", "args": []string{"-c", "echo term > term.txt"}})
	} else {
		c := exec.Command("sh", "-c", command)
		c.Dir = a.cwd
		if out, err := c.CombinedOutput(); err != nil {
			fail(fmt.Errorf("%w: %s", err, out))
		}
	}
	a.update(m{"sessionUpdate": "tool_call_update", "toolCallId": "t1", "status": "completed", "content": []any{m{"type": "content", "content": m{"type": "text", "text": "(no output)"}}}})
}
