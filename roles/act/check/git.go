package check

import (
	"context"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// lookAtGit asks git, without the hooks and configuration of the repository
// taking part.
func lookAtGit(ctx context.Context, g *Git, env Env) Verdict {
	var seen []string
	if g.Clean {
		out, trouble := ask(ctx, env, "status", "--porcelain=v1", "-z", "--untracked-files=all", "--", ".", ":(exclude).orch")
		if trouble != nil {
			return *trouble
		}
		if out != "" {
			return fails("the tree is not clean: %s", endOf(strings.ReplaceAll(strings.TrimRight(out, "\x00"), "\x00", ", ")))
		}
		seen = append(seen, "the tree is clean")
	}
	if g.Branch != "" {
		r := gitCommand(ctx, env, "merge-base", "--is-ancestor", g.Contains, "refs/heads/"+g.Branch)
		if v, ok := r.trouble(); !ok {
			return v
		}
		switch r.Exit {
		case 0:
			seen = append(seen, g.Branch+" contains "+g.Contains)
		case 1:
			return fails("%s does not contain %s", g.Branch, g.Contains)
		default:
			return cannot(KindTool, "exit %d%s", r.Exit, r.shown())
		}
	}
	if len(g.DiffLimited) > 0 {
		v := limited(ctx, g, env)
		if !v.Pass {
			return v
		}
		seen = append(seen, v.Evidence)
	}
	return passes("%s", strings.Join(seen, "; "))
}

// limited tells whether every changed or new path fits one of the globs.
func limited(ctx context.Context, g *Git, env Env) Verdict {
	base := g.DiffBase
	if base == "" {
		base = "HEAD"
	}
	changed, trouble := ask(ctx, env, "diff", "--name-only", "--no-renames", "--relative", "-z", "--no-ext-diff", "--no-textconv", base, "--", ".", ":(exclude).orch")
	if trouble != nil {
		return *trouble
	}
	fresh, trouble := ask(ctx, env, "ls-files", "-z", "--others", "--exclude-standard", "--", ".", ":(exclude).orch")
	if trouble != nil {
		return *trouble
	}
	n := 0
	for _, path := range strings.Split(changed+fresh, "\x00") {
		if path == "" {
			continue
		}
		n++
		if !fits(path, g.DiffLimited) {
			return fails("%s changed, allowed: %s", path, strings.Join(g.DiffLimited, ", "))
		}
	}
	return passes("%d changed paths, all within %s", n, strings.Join(g.DiffLimited, ", "))
}

func fits(path string, globs []string) bool {
	for _, glob := range globs {
		if ok, err := doublestar.Match(glob, path); ok && err == nil {
			return true
		}
	}
	return false
}

func gitCommand(ctx context.Context, env Env, args ...string) *ran {
	argv := append([]string{"git", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false", "--no-optional-locks"}, args...)
	return execute(ctx, "", argv, "", 0, env)
}

// ask runs git and returns its standard output; a failure is a check that can not run.
func ask(ctx context.Context, env Env, args ...string) (string, *Verdict) {
	r := gitCommand(ctx, env, args...)
	if v, ok := r.trouble(); !ok {
		return "", &v
	}
	if r.Exit != 0 {
		v := cannot(KindTool, "git %s: exit %d%s", args[0], r.Exit, r.shown())
		return "", &v
	}
	return r.stdout.String(), nil
}
