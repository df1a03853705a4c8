package config

import "testing"

func TestProgramsOfAgentsAreFoundFromTheProject(t *testing.T) {
	for _, c := range []struct{ root, preset, command, want string }{
		{"/p", "", "./review.sh --all specs/a.md", "/p/review.sh --all specs/a.md"},
		{"/p", "", "tools/review.sh", "/p/tools/review.sh"},
		{"/p q", "", "./review.sh 'a b'", "'/p q/review.sh' 'a b'"},
		{"/p q", "claude", "bin/my claude", "/p q/bin/my claude"},
		{"/p", "", "python3 review.py", "python3 review.py"},
		{"/p", "", "/opt/review", "/opt/review"},
		{"/p", "", "'./a review'", "'./a review'"},
		{"", "", "./review.sh", "./review.sh"},
	} {
		from := Config{Models: map[string]Model{"coder": {Options: map[string]string{"preset": c.preset, "command": c.command}}}}
		got, err := from.Rooted(c.root)
		if err != nil {
			t.Fatal(err)
		}
		if command := got.Models["coder"].Options["command"]; command != c.want {
			t.Errorf("%q in %q became %q, want %q", c.command, c.root, command, c.want)
		}
		if from.Models["coder"].Options["command"] != c.command {
			t.Errorf("%q was changed in place", c.command)
		}
	}
}
