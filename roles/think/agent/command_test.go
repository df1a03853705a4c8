package agent

import "testing"

func TestTheCommandInACall(t *testing.T) {
	for input, want := range map[string]string{
		`{"command":"npm i"}`:                          "npm i",
		`{"cmd":"npm i"}`:                              "npm i",
		`{"command":["npm","i"]}`:                      "npm i",
		`{"command":["rm","a b","$x"]}`:                `rm 'a b' '$x'`,
		`{"command":["bash","-lc","rm -rf x"]}`:        "rm -rf x",
		`{"cmd":["/bin/sh","-c","a; b"]}`:              "a; b",
		`{"command":"/bin/bash -lc 'npm i && npm t'"}`: "npm i && npm t",
		`{"command":"bash -lc \"npm i\""}`:             "npm i",
		`{"command":"bash -lc ls"}`:                    "ls",
		`{"command":"bash -lc \"echo $HOME\""}`:        `bash -lc "echo $HOME"`,
		`{"command":"bash -lc 'npm i' > log"}`:         "bash -lc 'npm i' > log",
		`{"command":"bash -lc 'npm i' x"}`:             "bash -lc 'npm i' x",
		`{"command":"A=1 bash -lc 'npm i'"}`:           "A=1 bash -lc 'npm i'",
		`{"command":"bash -lc 'a'; b"}`:                "bash -lc 'a'; b",
		`{"command":"echo 'open"}`:                     "echo 'open",
		`{"command":["npm",1]}`:                        "",
		`{"command":{"line":"x"}}`:                     "",
		`{"path":"a"}`:                                 "",
		`"npm i"`:                                      "",
		``:                                             "",
	} {
		if got := commandOf([]byte(input)); got != want {
			t.Errorf("%s: %q, want %q", input, got, want)
		}
	}
}
