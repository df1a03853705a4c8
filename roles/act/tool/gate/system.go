package gate

import (
	"slices"
	"strings"
	"sync"
)

// outside are programs that change this machine, another one, or an account.
// Their listed first operands only look, and are free.
var outside = sync.OnceValue(func() map[string][]string {
	return map[string][]string{
		"ssh": nil, "scp": nil, "sftp": nil, "ftp": nil, "telnet": nil, "nc": nil, "ncat": nil, "netcat": nil, "socat": nil, "mail": nil, "sendmail": nil, "mutt": nil,
		"mount": nil, "umount": nil, "fdisk": nil, "sfdisk": nil, "parted": nil, "wipefs": nil, "swapon": nil, "swapoff": nil, "losetup": nil, "mkswap": nil, "diskutil": {"list", "info"},
		"shutdown": nil, "reboot": nil, "halt": nil, "poweroff": nil, "init": nil, "telinit": nil, "systemctl": {"status", "show", "list-units", "is-active", "cat"}, "service": nil, "launchctl": {"list", "print"}, "loginctl": nil,
		"useradd": nil, "userdel": nil, "usermod": nil, "groupadd": nil, "groupdel": nil, "passwd": nil, "chpasswd": nil, "chsh": nil, "visudo": nil, "adduser": nil, "deluser": nil,
		"crontab": {"-l"}, "at": nil, "batch": nil, "iptables": nil, "nft": nil, "ufw": nil, "sysctl": nil, "modprobe": nil, "insmod": nil, "rmmod": nil, "ldconfig": nil, "update-alternatives": nil, "dmsetup": nil,
		"hostnamectl": nil, "timedatectl": nil, "defaults": {"read"}, "open": nil, "xdg-open": nil, "tmux": nil, "screen": nil, "dtach": nil,
		"apt": {"list", "show", "search", "policy"}, "apt-get": nil, "aptitude": nil, "dpkg": {"-l", "-L", "-s", "-S", "--list", "--status"}, "yum": {"list", "info"}, "dnf": {"list", "info"}, "rpm": {"-q", "-qa", "-qi", "-ql"}, "pacman": {"-Q", "-Qi", "-Ss"},
		"zypper": nil, "apk": {"info", "list"}, "brew": {"list", "info", "search", "--prefix", "outdated"}, "port": nil, "snap": {"list", "info"}, "flatpak": {"list"}, "emerge": nil, "nix-env": nil, "gem": {"list", "env", "environment", "contents"},
		"docker": {"ps", "images", "logs", "inspect", "version", "info"}, "podman": {"ps", "images", "logs", "inspect", "version", "info"}, "nerdctl": nil, "kubectl": {"get", "describe", "logs", "version"}, "helm": {"list", "status", "template", "lint", "version"},
		"terraform": {"fmt", "validate", "version", "plan", "show"}, "tofu": {"fmt", "validate", "version", "plan", "show"}, "ansible": nil, "ansible-playbook": nil, "aws": nil, "gcloud": nil, "gsutil": nil, "az": nil, "heroku": nil, "flyctl": nil, "fly": nil, "vercel": nil, "netlify": nil, "doctl": nil,
		"glab": nil, "twine": {"check"}, "ssh-add": nil, "ssh-keygen": nil, "gpg": {"--list-keys", "--verify", "--version"}, "security": nil, "conda": {"list", "info"}, "mamba": {"list", "info"}, "pipx": {"list"},
	}
})

func outsider(a *analysis, c invocation, st *state) {
	first, _ := firstLit(c.args)
	if slices.Contains(outside()[c.name], first) || (len(c.args) == 1 && (first == "--version" || first == "--help" || first == "-V")) {
		return
	}
	a.report(Outside, c.name, c.name, "%s changes what is outside the workspace", c.name)
}

// gh reads by these verbs.
func github(a *analysis, c invocation, _ *state) {
	words := lits(c.args)
	if len(words) > 1 && slices.Contains([]string{"list", "view", "status", "diff", "checks"}, words[1]) || len(words) == 1 && words[0] == "--version" {
		return
	}
	a.report(Outside, c.name, c.name, "%s may change what is on the server", c.name)
}

// projectHandlers are build and package tools: free, but for what reaches out
// of the workspace.
func projectHandlers() map[string]handler {
	return map[string]handler{
		"go": goTool, "npm": npm, "pnpm": npm, "yarn": npm, "npx": npx, "bunx": npx, "pip": pip, "cargo": cargo, "curl": curl, "wget": wget, "gh": github, "hub": github, "awk": awk, "gawk": awk, "mawk": awk, "nawk": awk,
		"rg": ripgrep, "make": makeTool, "gmake": makeTool,
	}
}

func goTool(a *analysis, c invocation, st *state) {
	o := syntaxOf{first: true, shorts: "C"}.parse(c.args)
	verb, _ := firstLit(o.ops)
	if verb == "" {
		return
	}
	rest := o.ops[1:]
	for i, x := range rest {
		text, _ := x.lit()
		name, value, set := strings.Cut(strings.TrimLeft(text, "-"), "=")
		v := known(value)
		if !set && i+1 < len(rest) {
			v = rest[i+1]
		}
		if !strings.HasPrefix(text, "-") {
			continue
		}
		switch name {
		case "exec", "toolexec", "vettool":
			a.argCode(c.name, v, st, "sh")
		case "o", "coverprofile", "cpuprofile", "memprofile", "trace", "outputdir":
			if verb != "run" {
				a.goOutput(c.name, v, st)
			}
		}
	}
	switch {
	case verb == "install":
		a.report(Outside, c.name, "go install", "go install writes programs outside the workspace")
	case verb == "env" && hasLit(rest, "-w", "-u"):
		a.report(Outside, c.name, "go env -w", "go env -w changes the settings of every project")
	case verb == "clean" && hasLit(rest, "-modcache", "--modcache"):
		a.report(Outside, c.name, "go clean -modcache", "go clean -modcache deletes what every project downloaded")
	case verb == "run" && len(rest) > 0 && strings.Contains(strings.Join(lits(rest), " "), "@"):
		a.report(InlineCode, c.name, strings.Join(lits(rest), " "), "go run downloads and runs a program")
	}
}

// goOutput: a directory is a place to put programs in.
func (a *analysis) goOutput(program string, to arg, st *state) {
	if to.known() && a.isDir(to, st) {
		a.change(program, to, st)
		return
	}
	a.write(program, to, st, true)
}

func hasLit(args []arg, any ...string) bool {
	return slices.ContainsFunc(lits(args), func(s string) bool { return slices.Contains(any, s) })
}

func npm(a *analysis, c invocation, st *state) {
	o := syntaxOf{longs: []string{"--prefix", "--workspace", "-w"}}.parse(c.args)
	words := lits(o.ops)
	verb := ""
	if len(words) > 0 {
		verb = words[0]
	}
	switch {
	case slices.Contains([]string{"publish", "unpublish", "login", "logout", "adduser", "owner", "access", "deprecate", "dist-tag", "star", "token", "profile", "team", "org", "link", "global"}, verb):
		a.report(Outside, c.name, c.name+" "+verb, "%s %s changes what is outside the workspace", c.name, verb)
	case o.has("-g", "--global") && verb != "list" && verb != "ls":
		a.report(Outside, c.name, c.name+" -g", "%s -g changes what every project uses", c.name)
	case verb == "exec" || verb == "x" || verb == "dlx":
		npx(a, invocation{name: c.name, args: o.ops[1:]}, st)
	case verb == "config" && len(words) > 1 && words[1] != "get" && words[1] != "list":
		a.report(Outside, c.name, c.name+" config", "%s config changes settings of every project", c.name)
	}
}

// npx runs a package: one that the project has installed is its own.
func npx(a *analysis, c invocation, st *state) {
	o := syntaxOf{shorts: "pc", longs: []string{"--package", "--call"}, first: true}.parse(c.args)
	for _, code := range o.values("-c", "--call") {
		a.argCode(c.name, code, st, "sh")
	}
	name, ok := firstLit(o.ops)
	if len(o.ops) == 0 && len(c.args) > 0 {
		return
	}
	for _, p := range st.paths("node_modules/.bin/" + name) {
		if ok && a.inspect(p, st, true).Exists && !st.lost {
			return
		}
	}
	a.report(InlineCode, c.name, name, "%s may download and run a package that the project has not installed: %s", c.name, name)
}

// pip changes the environment that holds it: one inside the workspace is free.
func pip(a *analysis, c invocation, st *state) {
	o := syntaxOf{shorts: "rtc", longs: []string{"--target", "--prefix", "--root", "--requirement"}}.parse(c.args)
	verb, _ := firstLit(o.ops)
	if verb != "install" && verb != "uninstall" {
		return
	}
	for _, p := range st.paths(c.path) {
		if strings.Contains(c.path, "/") && a.installed(p, st) {
			return
		}
	}
	if into := o.values("-t", "--target", "--prefix", "--root"); len(into) > 0 {
		for _, d := range into {
			a.change(c.name, d, st)
		}
		return
	}
	a.report(Outside, c.name, "pip "+verb, "pip %s changes the Python installation (a virtual environment in the workspace is free: .venv/bin/pip)", verb)
}

func cargo(a *analysis, c invocation, _ *state) {
	if verb, _ := firstLit(c.args); slices.Contains([]string{"install", "uninstall", "publish", "yank", "owner", "login", "logout"}, verb) {
		a.report(Outside, c.name, "cargo "+verb, "cargo %s changes what is outside the workspace", verb)
	}
}

func makeTool(a *analysis, c invocation, st *state) {
	o := syntaxOf{shorts: "fCIjlo", longs: []string{"--file", "--makefile", "--directory", "--eval"}}.parse(c.args)
	for _, f := range o.values("-f", "--file", "--makefile") {
		name, ok := f.lit()
		if !ok || name == "-" {
			a.report(InlineCode, c.name, f.src, "make reads rules that are not read beforehand: %s", f.src)
			continue
		}
		for _, p := range st.paths(name) {
			if e := a.inspect(p, st, true); a.made[p] || e.Created || (e.Exists && !e.Inside) {
				a.report(InlineCode, c.name, a.rel(p), "make reads rules that the project did not come with: %s", a.rel(p))
			}
		}
	}
	if len(o.values("--eval")) > 0 {
		a.report(InlineCode, c.name, "--eval", "make --eval reads rules from the command line")
	}
}

func ripgrep(a *analysis, c invocation, st *state) {
	o := syntaxOf{shorts: "efgtTmABCjMrdE", longs: []string{"--pre", "--hostname-bin"}}.parse(c.args)
	for _, code := range o.values("--pre", "--hostname-bin") {
		a.argCode(c.name, code, st, "sh")
	}
}
