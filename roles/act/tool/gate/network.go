package gate

import (
	"net/url"
	"path"
	"strings"
)

// curl may write files and send data.
func curl(a *analysis, c invocation, st *state) {
	o := syntaxOf{
		shorts: "AbcCdDeEFhHKmoPQrtTuUwxXyYz",
		longs: []string{"--output", "--request", "--data", "--data-raw", "--data-binary", "--data-urlencode", "--form", "--upload-file", "--json", "--header", "--user", "--cookie", "--cookie-jar",
			"--dump-header", "--output-dir", "--config", "--max-time", "--connect-timeout", "--retry", "--proxy", "--user-agent", "--url", "--trace", "--trace-ascii", "--stderr", "--write-out", "--cacert", "--cert", "--key", "--resolve", "--etag-save", "--hsts", "--alt-svc", "--libcurl"},
	}.parse(c.args)
	for _, f := range o.values("-o", "--output", "-D", "--dump-header", "-c", "--cookie-jar", "--trace", "--trace-ascii", "--stderr", "--etag-save", "--hsts", "--alt-svc", "--libcurl") {
		if text, _ := f.lit(); text != "-" {
			a.write(c.name, f, st, true)
		}
	}
	for _, d := range o.values("--output-dir") {
		a.fill(c.name, d, st)
	}
	if o.has("-O", "--remote-name") {
		for _, u := range o.ops {
			a.write(c.name, lastOf(u), st, true)
		}
	}
	if len(o.values("-K", "--config")) > 0 || o.vague {
		a.report(Unknown, c.name, "options", "curl is given options that can not be known beforehand")
	}
	sends := len(o.values("-d", "--data", "--data-raw", "--data-binary", "--data-urlencode", "-F", "--form", "-T", "--upload-file", "--json", "-Q")) > 0 && !o.has("-G", "--get")
	for _, m := range o.values("-X", "--request") {
		text, _ := m.lit()
		sends = sends || (text != "GET" && text != "HEAD" && text != "OPTIONS")
	}
	a.sends(c.name, append(o.ops, o.values("--url")...), sends)
}

// sends reports sending data to anything but this machine.
func (a *analysis) sends(program string, urls []arg, sends bool) {
	a.readOnly = false
	if !sends {
		return
	}
	for _, u := range urls {
		text, ok := u.lit()
		if !ok || !local(text) {
			a.report(Outside, program, text, "%s sends data to %s", program, u.src)
		}
	}
}

func local(raw string) bool {
	if !strings.Contains(raw, "://") {
		raw = "http://" + raw
	}
	u, err := url.Parse(raw)
	if err != nil {
		return false
	}
	h := u.Hostname()
	return h == "localhost" || h == "127.0.0.1" || h == "::1"
}

// lastOf is the file name that a URL ends in.
func lastOf(u arg) arg {
	text, ok := u.lit()
	if !ok {
		return arg{src: u.src}
	}
	p, err := url.Parse(text)
	if err != nil {
		return arg{src: u.src}
	}
	return known(path.Base(p.Path))
}

// wget writes what it gets into the working directory under a free name.
func wget(a *analysis, c invocation, st *state) {
	o := syntaxOf{
		shorts: "OoaPUtTQeiBAXRDlw",
		longs:  []string{"--output-document", "--output-file", "--append-output", "--directory-prefix", "--post-data", "--post-file", "--method", "--body-data", "--header", "--user-agent", "--execute", "--input-file", "--timeout", "--tries", "--save-cookies", "--warc-file"},
	}.parse(c.args)
	for _, f := range o.values("-O", "--output-document", "-o", "--output-file", "--save-cookies") {
		if text, _ := f.lit(); text != "-" {
			a.write(c.name, f, st, true)
		}
	}
	for _, f := range o.values("-a", "--append-output") {
		a.write(c.name, f, st, false)
	}
	dirs := o.values("-P", "--directory-prefix")
	if len(dirs) == 0 {
		dirs = []arg{known(".")}
	}
	for _, d := range dirs {
		a.change(c.name, d, st)
	}
	if o.has("-r", "--recursive", "-m", "--mirror", "-N", "-x") {
		a.fill(c.name, dirs[0], st)
	}
	if len(o.values("-e", "--execute", "-i", "--input-file")) > 0 || o.has("--use-askpass") || o.vague {
		a.report(Unknown, c.name, "options", "wget is given options that can not be known beforehand")
	}
	sends := len(o.values("--post-data", "--post-file", "--body-data")) > 0
	for _, m := range o.values("--method") {
		text, _ := m.lit()
		sends = sends || (text != "GET" && text != "HEAD")
	}
	a.sends(c.name, o.ops, sends)
}
