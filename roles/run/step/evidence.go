package step

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/act/tool"
	"orch/roles/think"
)

// Bounds of the evidence for one question.
const (
	recordBytes = 6 << 10 // of one record
	fileRecords = 20
	callRecords = 20
)

// Evidence is what a judge gets to see of the work: what orch recorded by
// itself, and what an agent program reports of itself.
type Evidence struct {
	Records  []think.Record
	Observed []string
	// Effect tells whether anything that was done is on record: a file that
	// changed, or a call that orch executed and that does more than look. It is
	// true for tasks that are only to look, and where nobody noted how things
	// stood before.
	Effect bool
	// World tells whether anything on record failed for a reason outside the
	// work: a check, or a call that orch executed.
	World bool

	env   *Env
	named map[string]bool // files that are recorded
}

// Evidence collects what orch saw of the work on tasks since before: the files
// that changed, the calls that it executed, and the files that a task or an
// observed call names.
func (e *Env) Evidence(ctx context.Context, tasks []blackboard.Task, before *Before) (*Evidence, error) {
	v := &Evidence{env: e, named: map[string]bool{}, Effect: before == nil}
	if before != nil {
		v.Effect = !slices.ContainsFunc(tasks, func(t blackboard.Task) bool { return !t.ReadOnly })
		changed := before.Files.Changed(tool.TakeListing(e.Workspace), before.At)
		v.Effect = v.Effect || len(changed) > 0
		v.files(changed, "which the work changed")
	}
	if err := v.calls(tasks); err != nil {
		return nil, err
	}
	for _, t := range tasks {
		v.files(e.matching(append([]string{t.Target}, t.Targets...)), "")
	}
	return v, ctx.Err()
}

// Checked adds what the checks of this step showed, but for those that nobody
// has seen fail: what they say, they say of anything.
func (v *Evidence) Checked(criteria []message.Criterion, verdicts []message.Verdict, before *Before) {
	for i, c := range criteria {
		v.World = v.World || verdicts[i].By == message.ByCode && c.HasCheck() && verdicts[i].FailureClass == message.Environmental
		if c.HasCheck() && (before == nil || before.WasRed(c)) && verdicts[i].By == message.ByCode {
			v.add("a check", string(c.Check)+"\n"+c.Criterion, verdicts[i].Evidence)
		}
	}
}

// Read adds something that orch read.
func (v *Evidence) Read(what, text string, limitBytes int) {
	v.record(think.Record{What: what, Text: text}, limitBytes)
}

func (v *Evidence) add(what, asked, text string) {
	v.record(think.Record{What: what, Asked: asked, Text: text}, recordBytes)
}

func (v *Evidence) record(r think.Record, limitBytes int) {
	if r.Text = v.clean(r.Text); strings.TrimSpace(r.Text) == "" {
		return
	}
	r.Name, r.Asked, r.Text = fmt.Sprintf("R%d", len(v.Records)+1), v.clean(r.Asked), Cut(r.Text, limitBytes)
	v.Records = append(v.Records, r)
}

func (v *Evidence) clean(text string) string {
	if v.env.Redact == nil {
		return text
	}
	return string(v.env.Redact([]byte(text)))
}

// calls adds what the tasks' calls returned, the last ones first to stay.
func (v *Evidence) calls(tasks []blackboard.Task) error {
	type call struct {
		message.ToolCall
		looks bool
	}
	var made []call
	harmless := map[message.CallID]bool{}
	from := uint64(1)
	ids := map[string]bool{}
	for i, t := range tasks {
		ids[string(t.ID)] = true
		if i == 0 || t.Created.Seq < from {
			from = max(t.Created.Seq, 1)
		}
	}
	for m, err := range v.env.Board.Messages(from) {
		if err != nil {
			return fmt.Errorf("read the calls of a task: %w", err)
		}
		if !ids[m.Subject] {
			continue
		}
		switch b := m.Body.(type) {
		case message.ToolStarted:
			harmless[b.Call] = b.Idempotent
		case message.ToolCall:
			made = append(made, call{b, harmless[b.Call]})
		}
	}
	for _, c := range made {
		v.World = v.World || !c.Observed && c.Class == message.Environmental
		switch {
		case c.Observed:
			v.Observed = append(v.Observed, CallLine(c.ToolCall))
		case c.Denied == "" && slices.Contains(tool.Names(), tool.Name(c.Tool)) && !c.looks && c.Exit == 0:
			v.Effect = true
		}
	}
	if len(made) > callRecords {
		made = made[len(made)-callRecords:]
	}
	for _, c := range made {
		if err := v.call(c.ToolCall); err != nil {
			return err
		}
	}
	return nil
}

// call adds one call: what orch executed as a record, and of any call the file
// it names, as orch reads it.
func (v *Evidence) call(c message.ToolCall) error {
	if c.Denied != "" {
		return nil
	}
	// A command that is too long for the log can not be held against its output.
	whole := c.Tool != string(tool.Shell) || command(c) != string(c.Input)
	if !c.Observed && whole && slices.Contains(tool.Names(), tool.Name(c.Tool)) {
		out := c.Tail
		if c.Blob != "" {
			raw, err := v.env.Board.Blob(v.env.Goal, c.Blob)
			if err != nil {
				return err
			}
			out = string(raw)
		}
		v.add(fmt.Sprintf("a call of %s, which ended with %d", c.Tool, c.Exit), command(c), out)
	}
	if path := pathOf(c.Input); path != "" {
		if rel, err := filepath.Rel(v.env.Workspace, path); filepath.IsAbs(path) && err == nil {
			path = rel
		}
		v.files([]string{filepath.ToSlash(path)}, "")
	}
	return nil
}

// pathOf is the file that a call is about, where it says so.
func pathOf(input json.RawMessage) string {
	var in map[string]any
	if json.Unmarshal(input, &in) == nil {
		for _, key := range []string{"file_path", "path", "filePath"} {
			if s, ok := in[key].(string); ok {
				return s
			}
		}
	}
	return ""
}

// files adds files of the workspace as they are now.
func (v *Evidence) files(paths []string, why string) {
	root, err := os.OpenRoot(v.env.Workspace)
	if err != nil {
		return // no workspace, no files
	}
	defer root.Close()
	for _, path := range paths {
		if path = filepath.ToSlash(filepath.Clean(path)); v.named[path] || len(v.named) >= fileRecords || private(path) {
			continue
		}
		text, ok := readFile(root, path)
		if !ok && why == "" {
			continue // it is only named
		}
		v.named[path] = true
		what := "the file " + path
		if why != "" {
			what += ", " + why
		}
		if !ok {
			text = path + " is not there any more"
		}
		v.add(what, "", text)
	}
}

// private tells whether a path is none of a judge's business: orch's own
// folder, and what holds secrets by its name.
func private(path string) bool {
	name := strings.ToLower(filepath.Base(path))
	return path == ".orch" || strings.HasPrefix(path, ".orch/") || strings.HasPrefix(name, ".env") || strings.HasSuffix(name, ".pem") ||
		strings.HasSuffix(name, ".key") || strings.HasPrefix(name, "id_rsa") || strings.HasPrefix(name, "id_ed25519") || name == ".netrc" || name == ".npmrc"
}

// readFile reads the beginning and the end of a file below a root; os.Root
// follows no link out of it.
func readFile(root *os.Root, path string) (string, bool) {
	f, err := root.Open(filepath.FromSlash(path))
	if err != nil {
		return "", false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return "", false
	}
	head := make([]byte, min(info.Size(), recordBytes))
	n, err := f.ReadAt(head, 0)
	if err != nil && n < len(head) {
		head = head[:n]
	}
	if bytes.IndexByte(head, 0) >= 0 {
		return fmt.Sprintf("%s is no text, and has %d bytes", path, info.Size()), true
	}
	text := head
	if rest := info.Size() - int64(len(head)); rest > 0 {
		tail := make([]byte, min(rest, recordBytes))
		n, _ := f.ReadAt(tail, info.Size()-int64(len(tail))) // a file that shrinks meanwhile has less
		text = slices.Concat(head, []byte(fmt.Sprintf("\n[… %d bytes left out …]\n", rest-int64(n))), tail[:n])
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return path + " is empty", true
	}
	if !utf8.Valid(text) {
		text = bytes.ToValidUTF8(text, []byte("�"))
	}
	return string(text), true
}

// matching lists the files of the workspace that names or patterns mean.
func (e *Env) matching(patterns []string) (all []string) {
	tree := os.DirFS(e.Workspace)
	for _, p := range patterns {
		p = strings.TrimPrefix(filepath.ToSlash(p), "./")
		if p == "" || !doublestar.ValidatePattern(p) || strings.HasPrefix(p, "/") || p == "." {
			continue
		}
		if strings.HasSuffix(p, "/") {
			p += "**"
		}
		found, err := doublestar.Glob(tree, p, doublestar.WithNoFollow(), doublestar.WithFilesOnly())
		if err == nil {
			all = append(all, found[:min(len(found), fileRecords)]...)
		}
	}
	return all
}
