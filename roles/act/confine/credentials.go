package confine

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// credentials are the files and directories of a home that are there to hold
// keys, logins, or what was typed in a shell. Roots of toolchain managers, such
// as ~/.pyenv, ~/.nvm, ~/.rustup, ~/.asdf and ~/.sdkman, hold none.
var credentials = []string{
	".ssh", ".aws", ".gnupg", ".azure", ".kube", ".docker", ".config/gcloud", ".config/gh", ".password-store", // directories
	".config/hub", ".config/glab-cli", ".config/op", ".config/doctl", ".config/heroku", ".config/rclone", ".config/sops", ".config/containers/auth.json",
	".config/github-copilot", ".oci", ".bluemix", ".fly", ".config/netlify", ".local/share/com.vercel.cli", ".local/share/keyrings", ".local/share/kwalletd",
	".mozilla", ".thunderbird", ".config/google-chrome", ".config/chromium", ".config/BraveSoftware", ".config/microsoft-edge",
	".netrc", "_netrc", ".git-credentials", ".config/git/credentials", ".npmrc", ".yarnrc.yml", ".pypirc", ".config/pypoetry/auth.toml",
	".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials", ".bundle/config", ".composer/auth.json", ".config/composer/auth.json",
	".m2/settings-security.xml", ".gradle/gradle.properties", ".nuget/NuGet/NuGet.Config", ".terraformrc", ".terraform.d/credentials.tfrc.json",
	".vault-token", ".boto", ".s3cfg", ".pgpass", ".my.cnf", ".mylogin.cnf", ".huggingface/token", ".cache/huggingface/token", ".wrangler/config",
	".config/.wrangler", ".config/ngrok", ".ngrok2", ".config/stripe", ".databrickscfg", ".snowsql", ".msmtprc", ".fetchmailrc", ".mailrc",
	".bash_history", ".zsh_history", ".zhistory", ".histfile", ".sh_history", ".ksh_history", ".local/share/fish/fish_history", ".python_history",
	".node_repl_history", ".psql_history", ".mysql_history", ".sqlite_history", ".rediscli_history", ".irb_history", ".lesshst", ".viminfo", ".wget-hsts",
}

// logins are what agent programs log in with. Each is seen by the program that
// keeps it, and by no other command.
var logins = []string{
	".claude/.credentials.json", ".claude.json", ".codex/auth.json", ".gemini/oauth_creds.json", ".gemini/google_accounts.json", ".gemini/.env", ".qwen/oauth_creds.json",
	".qwen/.env", ".local/share/opencode/auth.json", ".copilot", ".pi/agent/auth.json", ".aider.conf.yml", ".config/goose", ".cursor", ".config/cursor", ".codeium", ".continue",
}

// Logins are what the agent programs of a home log in with.
func Logins(home string) (paths []string) {
	for _, name := range logins {
		paths = append(paths, filepath.Join(home, name))
	}
	return paths
}

// Seen is what is hidden from a command that keeps a state of its own in some
// directories and files: of the logins those that lie there are not.
func Seen(hide, logins, keeps []string) []string {
	return slices.DeleteFunc(slices.Clone(hide), func(path string) bool {
		return slices.Contains(logins, path) && anyAbove(keeps, path)
	})
}

// Resolved are the paths with links followed, so that what a link leads to is
// what is hidden. One that is not there stays as it is.
func Resolved(paths []string) []string {
	out := make([]string, 0, len(paths))
	for _, p := range paths {
		if real, err := filepath.EvalSymlinks(p); err == nil {
			p = real
		}
		out = append(out, p)
	}
	return out
}

// Bounds of the looks for files that hold keys.
const (
	keyFileDepth   = 4      // directories below a project
	keyFileEntries = 20_000 // looked at in a project
	holdingFiles   = 500    // of a home that are read
	holdingBytes   = 64 << 10
)

// generated are directories nobody keeps a key in.
var generated = []string{".git", ".orch", "node_modules", "vendor", "target", "dist", "build", ".venv", "venv", "__pycache__", ".tox", ".cache"}

// KeyFiles are the files of a project that are named as those that hold keys: of
// four levels of directories, and 20,000 entries at most.
func KeyFiles(root string) []string {
	var found []string
	entries := 0
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error { // what cannot be read is nobody's
		if entries++; err != nil || entries > keyFileEntries {
			return fs.SkipDir
		}
		rel, _ := filepath.Rel(root, path)
		switch {
		case d.IsDir() && rel != "." && (slices.Contains(generated, d.Name()) || strings.Count(rel, string(filepath.Separator)) >= keyFileDepth-1):
			return fs.SkipDir
		case d.Type().IsRegular() && LooksLikeKey(d.Name()):
			found = append(found, path)
		}
		return nil
	})
	return found
}

// LooksLikeKey tells whether a file is named as one that holds keys.
func LooksLikeKey(name string) bool {
	lower := strings.ToLower(name)
	switch {
	case strings.HasSuffix(lower, ".example"), strings.HasSuffix(lower, ".sample"), strings.HasSuffix(lower, ".template"), strings.HasSuffix(lower, ".pub"):
		return false
	case lower == ".env", strings.HasPrefix(lower, ".env."), strings.HasSuffix(lower, ".env"):
		return true
	}
	for _, end := range []string{".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk", ".ovpn"} {
		if strings.HasSuffix(lower, end) {
			return true
		}
	}
	for _, part := range []string{"id_rsa", "id_ed25519", "id_ecdsa", "credentials", "service-account", "service_account", "secrets."} {
		if strings.HasPrefix(lower, part) {
			return true
		}
	}
	return slices.Contains([]string{".npmrc", ".netrc", ".pypirc", ".git-credentials", ".htpasswd", ".pgpass", "auth.json"}, lower)
}

// Holding are the files of a home that hold one of the values: of the files whose
// names begin with a dot, those in such directories, and those two levels
// below ~/.config, 500 files of at most 64 KiB.
func Holding(home string, values []string) []string {
	var found []string
	read := 0
	look := func(pattern string) {
		paths, _ := filepath.Glob(filepath.Join(home, pattern)) // the patterns are well-formed
		for _, path := range paths {
			info, err := os.Stat(path)
			if err != nil || !info.Mode().IsRegular() || info.Size() > holdingBytes || read >= holdingFiles {
				continue
			}
			read++
			raw, err := os.ReadFile(path)
			if err == nil && slices.ContainsFunc(values, func(v string) bool { return len(v) >= 8 && bytes.Contains(raw, []byte(v)) }) {
				found = append(found, path)
			}
		}
	}
	for _, pattern := range []string{".*", ".config/*", ".config/*/*", ".*/*"} {
		look(pattern)
	}
	return cleaned(found)
}
