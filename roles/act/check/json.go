package check

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
)

func compareJSON(ctx context.Context, j *JSON, env Env) Verdict {
	raw, trouble := jsonSource(ctx, j, env)
	if trouble != nil {
		return *trouble
	}
	var doc any
	if err := json.Unmarshal(raw, &doc); err != nil {
		return fails("it is not JSON: %v\n%s", err, endOf(env.clean(string(raw))))
	}
	keys, err := parsePath(j.Path)
	if err != nil {
		return cannot(KindNone, "%v", err)
	}
	have, found := walk(doc, keys)
	if j.Op == "exists" {
		want := true
		if b, ok := j.Value.(bool); ok {
			want = b
		}
		if found != want {
			return fails("%s exists: %t, want %t", j.Path, found, want)
		}
		return passes("%s exists: %t", j.Path, found)
	}
	if !found {
		return fails("there is no %s", j.Path)
	}
	holds, err := holds(have, j.Op, j.Value)
	shown, want := short(env.clean(asJSON(have))), compact(j.Value)
	switch {
	case err != nil:
		return fails("%s is %s: %s", j.Path, shown, err)
	case !holds:
		return fails("%s is %s, want %s %s", j.Path, shown, j.Op, want)
	}
	return passes("%s is %s (%s %s)", j.Path, shown, j.Op, want)
}

func jsonSource(ctx context.Context, j *JSON, env Env) ([]byte, *Verdict) {
	if j.File == "" {
		r := execute(ctx, j.Command, j.Argv, "", 0, env)
		if v, ok := r.trouble(); !ok {
			return nil, &v
		}
		if r.Exit != 0 {
			v := fails("exit %d, want 0%s", r.Exit, r.shown())
			v.Class, v.Kind = Classify(r.Exit, string(r.Output()))
			return nil, &v
		}
		return r.stdout.Bytes(), nil
	}
	root, err := os.OpenRoot(env.Workspace)
	if err == nil {
		defer root.Close()
		var text string
		if text, _, err = readBelow(root, filepath.FromSlash(j.File)); err == nil {
			return []byte(text), nil
		}
	}
	v := cannot(KindTool, "%v", err)
	if os.IsNotExist(err) {
		v = fails("%s does not exist", j.File)
	}
	return nil, &v
}

// parsePath splits a.b[0]["odd key"] into keys (string) and indexes (int).
func parsePath(path string) ([]any, error) {
	if path == "." {
		return nil, nil
	}
	bad := fmt.Errorf("path %q, want for example a.b[0].c, a[\"odd key\"], or . for the whole", path)
	var keys []any
	for rest := path; rest != ""; {
		switch {
		case rest[0] == '[':
			end := strings.IndexByte(rest, ']')
			if strings.HasPrefix(rest, `["`) {
				if q := strings.Index(rest[2:], `"]`); q >= 0 {
					end = q + 3
				} else {
					return nil, bad
				}
			}
			if end < 0 {
				return nil, bad
			}
			key, err := bracket(rest[1:end])
			if err != nil {
				return nil, bad
			}
			keys, rest = append(keys, key), strings.TrimPrefix(rest[end+1:], ".")
		default:
			end := strings.IndexAny(rest, ".[")
			if end < 0 {
				end = len(rest)
			}
			if end == 0 {
				return nil, bad
			}
			keys = append(keys, rest[:end])
			if rest = rest[end:]; strings.HasPrefix(rest, ".") {
				if rest = rest[1:]; rest == "" {
					return nil, bad
				}
			}
		}
	}
	if len(keys) == 0 {
		return nil, bad
	}
	return keys, nil
}

func bracket(s string) (any, error) {
	if strings.HasPrefix(s, `"`) {
		return strconv.Unquote(s)
	}
	n, err := strconv.Atoi(s)
	if err == nil && n < 0 {
		err = errors.New("negative index")
	}
	return n, err
}

func walk(v any, keys []any) (any, bool) {
	for _, k := range keys {
		switch k := k.(type) {
		case string:
			m, ok := v.(map[string]any)
			if !ok {
				return nil, false
			}
			if v, ok = m[k]; !ok {
				return nil, false
			}
		case int:
			l, ok := v.([]any)
			if !ok || k >= len(l) {
				return nil, false
			}
			v = l[k]
		}
	}
	return v, true
}

// holds compares as JSON does: numbers by value, everything else by equality.
func holds(have any, op string, want any) (bool, error) {
	want = normal(want)
	switch op {
	case "==":
		return reflect.DeepEqual(have, want), nil
	case "!=":
		return !reflect.DeepEqual(have, want), nil
	case "contains":
		return contains(have, want)
	case "length":
		n, err := length(have)
		if err != nil {
			return false, err
		}
		return reflect.DeepEqual(float64(n), want), nil
	}
	order, err := compare(have, want)
	if err != nil {
		return false, err
	}
	return map[string]bool{"<": order < 0, "<=": order <= 0, ">": order > 0, ">=": order >= 0}[op], nil
}

// normal gives a value from YAML the types that JSON decoding gives.
func normal(v any) any {
	raw, err := json.Marshal(v)
	if err != nil {
		return v
	}
	var out any
	if json.Unmarshal(raw, &out) != nil {
		return v
	}
	return out
}

func compare(a, b any) (int, error) {
	switch x := a.(type) {
	case float64:
		if y, ok := b.(float64); ok {
			return cmp.Compare(x, y), nil
		}
	case string:
		if y, ok := b.(string); ok {
			return cmp.Compare(x, y), nil
		}
	}
	return 0, errors.New("the two have no order")
}

func contains(have, want any) (bool, error) {
	switch h := have.(type) {
	case string:
		w, ok := want.(string)
		return ok && strings.Contains(h, w), nil
	case []any:
		for _, v := range h {
			if reflect.DeepEqual(v, want) {
				return true, nil
			}
		}
		return false, nil
	case map[string]any:
		w, ok := want.(string)
		_, there := h[w]
		return ok && there, nil
	}
	return false, errors.New("it can contain nothing")
}

func length(v any) (int, error) {
	switch x := v.(type) {
	case string:
		return len([]rune(x)), nil
	case []any:
		return len(x), nil
	case map[string]any:
		return len(x), nil
	}
	return 0, errors.New("it has no length")
}

func compact(v any) string { return short(asJSON(v)) }

func asJSON(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(raw)
}

func short(s string) string {
	if r := []rune(s); len(r) > 200 {
		return string(r[:199]) + "…"
	}
	return s
}
