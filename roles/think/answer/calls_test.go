package answer

import (
	"fmt"
	"testing"
)

func tools(name string) bool { return name == "shell" || name == "read_file" }

func TestCalls(t *testing.T) {
	ls := `[{shell {"command":"ls"}}]`
	for text, want := range map[string]string{
		`{"tool":"shell","input":{"command":"ls"}}`:                                                                                 ls,
		"I will look.\n```json\n{\"name\": \"shell\", \"arguments\": {'command':'ls',}}\n```":                                       ls,
		`<tool_call>{"name":"shell","arguments":{"command":"ls"}}</tool_call>`:                                                      ls,
		`{"type":"function","function":{"name":"shell","arguments":"{\"command\":\"ls\"}"}}`:                                        ls,
		`[TOOL_CALLS][{"name":"shell","arguments":{"command":"ls"}}]`:                                                               ls,
		`[TOOL_CALLS]shell[ARGS]{"command":"ls"}`:                                                                                   ls,
		"<｜tool▁call▁begin｜>function<｜tool▁sep｜>shell\n```json\n{\"command\":\"ls\"}\n```":                                          ls,
		`<function=shell>{"command":"ls"}</function>`:                                                                               ls,
		"<tool_call><function=shell>\n<parameter=command>\nls\n</parameter>\n</function></tool_call>":                               ls,
		`<function_calls><invoke name="shell"><parameter name="command">ls</parameter></invoke>`:                                    ls,
		`<｜DSML｜invoke name="shell"><｜DSML｜parameter name="command" string="true">ls</｜DSML｜parameter></｜DSML｜invoke>`:              ls,
		`<｜｜DSML｜｜invoke name=“shell”><｜｜DSML｜｜parameter name=“command” string=“true”>ls</｜｜DSML｜｜parameter></｜｜DSML｜｜invoke>`:      ls,
		`<think>{"tool":"read_file","input":{"path":"x"}}</think>{"tool":"shell","input":{"command":"ls"}}`:                         ls,
		`[{"tool":"shell","input":{"command":"ls"}},{"tool":"read_file","input":{"path":"x"}}]`:                                     `[{shell {"command":"ls"}} {read_file {"path":"x"}}]`,
		`{"tool":"shell","input":{"command":"ls"}} {"status":"completed","output":"x"} {"tool":"shell","input":{"command":"rm x"}}`: ls,

		`{"status":"completed","output":"x"} {"tool":"shell","input":{"command":"ls"}}`:               `[]`,
		`{"tool":"teleport","input":{"to":"x"}}`:                                                      `[]`,
		`{"tool":"shell","input":"ls"}`:                                                               `[]`,
		`{"tool":"shell","input":["ls"]}`:                                                             `[]`,
		`{"tool":"shell","input":{"command":"ls"}`:                                                    `[]`,
		`<think>{"tool":"shell","input":{"command":"ls"}}</think>done`:                                `[]`,
		`<think>{"tool":"shell","input":{"command":"ls"}}`:                                            `[]`,
		`<function=shell><parameter=command>a</parameter><parameter=command>b</parameter></function>`: `[]`,
		`<function=shell>ls</function>`:                                                               `[]`,
		`run shell ls`:                                                                                `[]`,
		``:                                                                                            `[]`,
	} {
		var got []string
		for _, c := range Calls(text, tools) {
			got = append(got, fmt.Sprintf("{%s %s}", c.Name, c.Input))
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%s: got %v, want %s", text, got, want)
		}
	}
}
