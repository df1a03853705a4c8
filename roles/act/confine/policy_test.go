package confine

import (
	"io/fs"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func TestCleanKeepsTheMeaning(t *testing.T) {
	p, err := Policy{
		Write:    []string{"/w/", "/w/sub", "/w/.orch/goals/g/files", "/run/user/1/x", "/other"},
		ReadOnly: []string{"/w/.git/hooks", "/w/.orch", "/elsewhere", "/wide"},
		Hide:     []string{"/home/u/.ssh", "/home/u/.ssh/id", "/run/user/1", "/w/key"},
	}.Clean()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what       string
		have, want []string
	}{
		{"write", p.Write, []string{"/other", "/run/user/1/x", "/w", "/w/.orch/goals/g/files"}},
		{"read-only", p.ReadOnly, []string{"/w/.git/hooks", "/w/.orch"}},
		{"hide", p.Hide, []string{"/home/u/.ssh", "/w/key"}}, // not /run/user/1: something in it must be written
		{"pins", p.pins(), []string{"/w/.git"}},
	} {
		if !slices.Equal(c.have, c.want) {
			t.Errorf("%s: %v, want %v", c.what, c.have, c.want)
		}
	}
}

func TestEverythingMayBeWrittenButWhatIsKept(t *testing.T) {
	p, err := Policy{Write: []string{"/", "/w"}, ReadOnly: []string{"/w/.orch"}, Hide: []string{"/home/u/.ssh"}}.Clean()
	if err != nil || !p.Everything() || !slices.Equal(p.Write, []string{"/"}) || len(p.ReadOnly) != 1 || len(p.Hide) != 1 {
		t.Fatalf("%+v %v", p, err)
	}
	if pins := p.pins(); !slices.Equal(pins, []string{"/w"}) {
		t.Errorf("pins %v", pins)
	}
}

func TestARelativePathIsRefused(t *testing.T) {
	if _, err := (Policy{Write: []string{"here"}}).Clean(); err == nil {
		t.Fatal("a relative path means nothing to another process")
	}
}

func TestLayersAreReadAsTheyAreWritten(t *testing.T) {
	for _, l := range []Layers{{}, {Namespace: true}, {Landlock: 5}, {Namespace: true, Landlock: 7}, {Namespace: true, Overlay: true, Landlock: 7}} {
		if back, err := Parse(l.String()); err != nil || back != l {
			t.Errorf("%v became %v, %v", l, back, err)
		}
	}
	for _, bad := range []string{"", "landlock", "landlock2", "namespace+", "overlay", "all"} {
		if l, err := Parse(bad); err == nil {
			t.Errorf("%q became %v", bad, l)
		}
	}
}

func TestSecretsFollowTheEnvironment(t *testing.T) {
	hide := Secrets("/home/u", "7", []string{"SSH_AUTH_SOCK=/tmp/ssh-x/agent.1", "DOCKER_HOST=unix:///run/d.sock", "DBUS_SESSION_BUS_ADDRESS=unix:path=/tmp/bus,guid=1"})
	for _, want := range []string{"/home/u/.ssh", "/home/u/.aws", "/home/u/.gnupg", "/run/user/7", "/tmp/ssh-x/agent.1", "/run/d.sock", "/tmp/bus", "/run/docker.sock"} {
		if !slices.Contains(hide, want) {
			t.Errorf("%s is not hidden: %s", want, strings.Join(hide, " "))
		}
	}
}

func TestARefusedNamespaceIsPutIntoWords(t *testing.T) {
	for _, c := range []struct {
		err  error
		says string
	}{
		{&fs.PathError{Op: "fork/exec", Path: "/bin/orch", Err: syscall.ENOSPC}, "user.max_user_namespaces"},
		{&fs.PathError{Op: "fork/exec", Path: "/bin/orch", Err: syscall.EPERM}, "a container"},
		{&fs.PathError{Op: "fork/exec", Path: "/bin/orch", Err: syscall.ENOENT}, "/bin/orch"},
	} {
		if got := explain(c.err).Error(); !strings.Contains(got, c.says) {
			t.Errorf("%v became %q, which does not say %q", c.err, got, c.says)
		}
	}
	if explain(nil) != nil {
		t.Error("nothing wrong became an error")
	}
}
