package chore

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"orch/blackboard/lazyregexp"
)

// secretRule finds one kind of secret; the last group is what is masked.
type secretRule struct {
	name string
	re   *lazyregexp.Regexp
}

var secretRules = []secretRule{
	{"aws-access-key", lazyregexp.New(`\b((?:AKIA|ASIA)[0-9A-Z]{16})\b`)},
	{"github-token", lazyregexp.New(`\b(gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{50,})\b`)},
	{"gitlab-token", lazyregexp.New(`\b(glpat-[A-Za-z0-9_-]{20,})`)},
	{"slack-token", lazyregexp.New(`\b(xox[abprs]-[A-Za-z0-9-]{10,})`)},
	{"google-api-key", lazyregexp.New(`\b(AIza[0-9A-Za-z_-]{35})`)},
	{"stripe-key", lazyregexp.New(`\b([rs]k_live_[0-9A-Za-z]{20,})`)},
	{"model-api-key", lazyregexp.New(`\b(sk-(?:ant-|proj-)?[A-Za-z0-9_-]{32,})`)},
	{"npm-token", lazyregexp.New(`\b(npm_[A-Za-z0-9]{36})\b`)},
	{"private-key", lazyregexp.New(`-----BEGIN ((?:[A-Z]+ )*PRIVATE KEY)-----`)},
	{"url-password", lazyregexp.New(`[a-z][a-z0-9+.-]*://[^\s:/@"']+:([^\s:/@"'$<{%]{6,})@`)},
	{"assignment", lazyregexp.New(`(?i)(?:password|passwd|secret|api[_-]?key|access[_-]?token|auth[_-]?token)["']?\s*[:=]\s*["']([^"'\s]{8,})["']`)},
}

// harmless are values that only stand for a secret.
var harmless = lazyregexp.New(`(?i)example|changeme|change-me|placeholder|dummy|sample|redacted|x{4,}|\*{3,}|\.{3}|^<|^\$|^%|\{\{|your[_-]|process\.env|os\.environ|getenv|test`)

// secretFiles are names that hold secrets by their nature.
var secretFiles = []string{".env", ".env.*", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "*.p12", "*.pfx", "*.keystore", ".netrc", ".pgpass"}

// secrets lists what looks like a secret. No secret is ever printed whole.
func secrets(c call) (*Part, error) {
	p := newPart(c, "repo-health", "Secrets")
	scan, err := walk(c, true, func(f file) {
		if isSecretFile(path.Base(f.path)) {
			p.add(Item{Path: Name(f.path), What: "secret-file", Text: "a file that usually holds secrets"})
		}
		text, err := readText(f)
		if err != nil {
			return
		}
		for i, line := range strings.Split(string(text), "\n") {
			if rule, value, ok := findSecret(line); ok {
				p.add(Item{Path: Name(f.path), Line: i + 1, What: rule, Text: mask(rule, value)})
			}
		}
	})
	if err != nil {
		return nil, err
	}
	p.Scanned = scan
	p.Notes = append(p.Notes, "found by pattern: some may be harmless, others may be missed; the history was not searched")
	return p, nil
}

func isSecretFile(base string) bool {
	if strings.HasSuffix(base, ".example") || strings.HasSuffix(base, ".sample") || strings.HasSuffix(base, ".template") {
		return false
	}
	return slices.ContainsFunc(secretFiles, func(pattern string) bool {
		ok, err := path.Match(pattern, base)
		return err == nil && ok
	})
}

// findSecret returns the first rule that hits a line, with what it found.
func findSecret(line string) (rule, value string, ok bool) {
	if len(line) > 64<<10 {
		return "", "", false // a minified or generated line
	}
	for _, r := range secretRules {
		m := r.re.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		value := m[len(m)-1]
		loose := r.name == "assignment" || r.name == "url-password"
		if loose && harmless.MatchString(value) {
			continue
		}
		return r.name, value, true
	}
	return "", "", false
}

// mask shows enough of a secret to find it again and too little to use it.
func mask(rule, value string) string {
	if rule == "private-key" {
		return strings.ToLower(value)
	}
	return fmt.Sprintf("%s… (%d characters)", value[:min(4, len(value)/2)], len(value))
}
