package confine

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestFilesThatAreNamedAsKeys(t *testing.T) {
	for name, want := range map[string]bool{
		".env": true, ".env.local": true, "prod.env": true, "site.pem": true, "tls.KEY": true, "id_rsa": true, "id_ed25519": true, "credentials.json": true,
		"service-account-1.json": true, ".npmrc": true, "secrets.yaml": true, "app.keystore": true,
		".env.example": false, ".env.sample": false, "id_rsa.pub": false, "main.go": false, "environment.md": false, "keys.go": false, "monkey": false,
	} {
		if LooksLikeKey(name) != want {
			t.Errorf("%s: %t", name, !want)
		}
	}
}

func put(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestKeyFilesOfAProject(t *testing.T) {
	root := t.TempDir()
	want := []string{put(t, root, ".env", ""), put(t, root, "apps/web/.env.local", ""), put(t, root, "conf/a/b/tls.key", "")}
	put(t, root, "node_modules/x/.env", "")
	put(t, root, "a/b/c/d/.env", "") // too deep
	put(t, root, "main.go", "")
	got := KeyFiles(root)
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

func TestFilesOfAHomeThatHoldAKey(t *testing.T) {
	home := t.TempDir()
	const key = "a-key-of-the-person"
	want := []string{put(t, home, ".config/tool/settings.ini", "k="+key), put(t, home, ".toolrc", key), put(t, home, ".tool/conf", key)}
	put(t, home, ".profile", "nothing")
	put(t, home, ".config/other", "short") // a value too short to look for
	put(t, home, "notes.txt", key)         // a person's own files are not read
	slices.Sort(want)
	if got := Holding(home, []string{"short", key}); !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

func TestToolchainsAreSeenWhole(t *testing.T) {
	hide := Secrets("/home/u", "7", nil)
	for _, root := range []string{".pyenv", ".nvm", ".rustup", ".asdf", ".sdkman", ".cargo/bin", ".config/go", "go", ".local/bin", ".local/share/mise", ".volta"} {
		for _, h := range hide {
			if path := filepath.Join("/home/u", root); Within(h, path) || Within(path, h) {
				t.Errorf("%s: %s is hidden", root, h)
			}
		}
	}
}

func TestAProgramSeesItsOwnLogin(t *testing.T) {
	hide := []string{"/h/.claude/.credentials.json", "/h/.codex/auth.json", "/h/.netrc"}
	got := Seen(hide, Logins("/h"), []string{"/work", "/h/.claude", "/h/.netrc"})
	if want := []string{"/h/.codex/auth.json", "/h/.netrc"}; !slices.Equal(got, want) {
		t.Errorf("hidden: %q, want %q", got, want)
	}
}

func TestALinkHidesWhatItLeadsTo(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	real := put(t, dir, "dotfiles/netrc", "")
	link := filepath.Join(dir, ".netrc")
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	gone := filepath.Join(dir, "gone")
	if got, want := Resolved([]string{link, gone}), []string{real, gone}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
