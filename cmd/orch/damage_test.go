//go:build !windows

package main

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"orch/blackboard/journal"
)

// How a kind of damage has to be noticed.
type noticed int

const (
	critical  noticed = iota // the audit finds it CRITICAL, and verify refuses
	refused                  // a command refuses; what was acknowledged is all there
	unpromise                // bytes nobody was promised: the audit warns, verify refuses
	audited                  // only the audit's own log is harmed: it says so
	harmless                 // what was harmed comes back by itself, or only remembers
	unseen                   // nothing that could tell is left: docs/safety.md says so
)

// harm is a kind of damage. The damage is done to a board whose live log has
// lines of a real run, behind a closed segment.
type harm struct {
	name string
	want noticed
	do   func(*ward)
	// alone: it leads out without a backup, with nothing lost.
	alone bool
}

// harms are the kinds of damage that are tried.
func harms() []harm {
	flip := func(at func([]byte) int) func([]byte) []byte {
		return func(data []byte) []byte { data[at(data)] ^= 1; return data }
	}
	middle := func(data []byte) int { return bytes.Index(data[len(data)/2:], []byte(`"goal"`)) + len(data)/2 + 2 }
	keep := func(n int) func([][]byte) [][]byte {
		return func(l [][]byte) [][]byte { return l[:len(l)-1-n] } // behind the last line end is nothing
	}
	each := func(f func(string) string) func([][]byte) [][]byte {
		return func(l [][]byte) [][]byte {
			for i, line := range l[:len(l)-1] {
				l[i] = []byte(f(string(line)))
			}
			return l
		}
	}
	behind := func(text string) func(*ward) {
		return func(w *ward) { w.edit(w.log(), func(data []byte) []byte { return append(data, text...) }) }
	}
	fake := func(line string) string { return strings.ReplaceAll(line, "make the tests", "fake the tests") }
	fifo := func(name ...string) func(*ward) {
		return func(w *ward) { w.remove(w.orch(name...)); w.check(syscall.Mkfifo(w.orch(name...), 0o600)) }
	}
	folder := func(name ...string) func(*ward) {
		return func(w *ward) { w.remove(w.orch(name...)); w.check(os.Mkdir(w.orch(name...), 0o755)) }
	}
	loop := func(name ...string) func(*ward) {
		return func(w *ward) { w.remove(w.orch(name...)); w.check(os.Symlink(w.orch(name...), w.orch(name...))) }
	}
	gone := func(name ...string) func(*ward) { return func(w *ward) { w.remove(w.orch(name...)) } }
	older := func(name ...string) func(*ward) {
		return func(w *ward) { w.copyOver(filepath.Join(append([]string{w.older}, name...)...), w.orch(name...)) }
	}
	notes := func(w *ward) { w.remove(filepath.Join(os.Getenv("XDG_STATE_HOME"), "orch", "heads")) }
	all := func(list ...func(*ward)) func(*ward) {
		return func(w *ward) {
			for _, f := range list {
				f(w)
			}
		}
	}
	lines := func(f func([][]byte) [][]byte) func(*ward) { return func(w *ward) { w.lines(f) } }
	segment := func(f func([]byte) []byte) func(*ward) { return func(w *ward) { w.edit(w.segment(), f) } }
	forged := func(w *ward) { w.lines(func(l [][]byte) [][]byte { return rechain(w.T, l, 0, fake) }) }
	unwitnessed := func(w *ward) { w.noWitness() }

	return []harm{
		// the log: what stands in it
		{"a bit flipped in the middle", critical, func(w *ward) { w.edit(w.log(), flip(middle)) }, false},
		{"a bit flipped in the first line", critical, func(w *ward) { w.edit(w.log(), flip(func([]byte) int { return 40 })) }, false},
		{"a bit flipped in the last line", critical, func(w *ward) { w.edit(w.log(), flip(func(d []byte) int { return len(d) - 20 })) }, false},
		{"a bit flipped in a line end", critical, func(w *ward) {
			w.edit(w.log(), flip(func(d []byte) int { return bytes.IndexByte(d[2000:], '\n') + 2000 }))
		}, true},
		{"the last line cut", critical, func(w *ward) { w.edit(w.log(), func(d []byte) []byte { return d[:len(d)-30] }) }, false},
		{"the last line end cut", critical, func(w *ward) { w.edit(w.log(), func(d []byte) []byte { return d[:len(d)-1] }) }, true},
		{"the last line removed", critical, lines(keep(1)), false},
		{"the last ten lines removed", critical, lines(keep(10)), false},
		{"cut in the middle of a line", critical, func(w *ward) { w.edit(w.log(), func(d []byte) []byte { return d[:len(d)/2] }) }, false},
		{"a line removed", critical, lines(func(l [][]byte) [][]byte { return slices.Delete(l, 4, 5) }), false},
		{"the first line removed", critical, lines(func(l [][]byte) [][]byte { return l[1:] }), false},
		{"two lines swapped", critical, lines(func(l [][]byte) [][]byte { l[4], l[5] = l[5], l[4]; return l }), true},
		{"all lines sorted backwards", critical, lines(func(l [][]byte) [][]byte { slices.Reverse(l); return l }), true},
		{"a line doubled", critical, lines(func(l [][]byte) [][]byte { return slices.Insert(l, 4, l[4]) }), true},
		{"the last line doubled", critical, lines(func(l [][]byte) [][]byte { return slices.Insert(l, len(l)-1, l[len(l)-2]) }), true},
		{"an empty line between", critical, lines(func(l [][]byte) [][]byte { return slices.Insert(l, 4, []byte("\n")) }), true},
		{"a line end removed", critical, lines(func(l [][]byte) [][]byte { l[4] = bytes.TrimSpace(l[4]); return l }), true},
		{"a space behind each line", critical, lines(each(func(s string) string { return strings.TrimSuffix(s, "\n") + " \n" })), true},
		{"line ends of another system", critical, lines(each(func(s string) string { return strings.TrimSuffix(s, "\n") + "\r\n" })), true},
		{"a byte order mark in front", critical, func(w *ward) { w.edit(w.log(), func(d []byte) []byte { return append([]byte("\ufeff"), d...) }) }, true},
		{"the marks of a merge conflict", critical, lines(func(l [][]byte) [][]byte {
			l = slices.Insert(l, 9, []byte("=======\n"), l[5], []byte(">>>>>>> theirs\n"))
			return slices.Insert(l, 5, []byte("<<<<<<< ours\n"))
		}), true},
		{"another coding of the text", critical, func(w *ward) {
			w.edit(w.log(), func(d []byte) []byte { return []byte(strings.ReplaceAll(string(d), "", "\x00")) })
		}, false},
		{"formatted by an editor", critical, lines(each(func(s string) string { return strings.ReplaceAll(s, `":"`, `": "`) })), false},
		{"zeros in the middle", critical, func(w *ward) {
			w.edit(w.log(), func(d []byte) []byte { return append(d[:len(d)/2], append(make([]byte, 4096), d[len(d)/2:]...)...) })
		}, false},
		{"all zeros", critical, func(w *ward) { w.edit(w.log(), func(d []byte) []byte { return make([]byte, len(d)) }) }, false},
		{"a line changed, with a hash that fits it", critical, func(w *ward) {
			w.lines(func(l [][]byte) [][]byte {
				prev := aHash.FindSubmatch(l[3])
				l[4] = []byte(reseal(w.T, strings.Replace(strings.TrimSpace(string(l[4])), `"fence":0`, `"fence":7`, 1), string(prev[1])) + "\n")
				return l
			})
		}, false},

		// the log: forged, shortened, replaced
		{"forged with hashes that fit", critical, forged, false},
		{"forged, all witnesses below .orch removed", critical, all(forged, unwitnessed), false},
		{"forged and longer", critical, func(w *ward) {
			forged(w)
			w.lines(func(l [][]byte) [][]byte { return longer(w.T, l) })
		}, false},
		{"replaced by an older copy", critical, older("log.jsonl"), false},
		{"replaced by an older copy, run/head removed", critical, all(older("log.jsonl"), gone("run", "head")), false},
		{"replaced by an older copy, the audit removed", critical, all(older("log.jsonl"), gone("audit")), false},
		{"replaced by an older copy, all witnesses below .orch removed", critical, all(older("log.jsonl"), unwitnessed), false},
		{"shortened, all witnesses below .orch removed", critical, all(lines(keep(3)), unwitnessed), false},
		{"emptied", critical, func(w *ward) { w.write(w.log(), nil) }, false},
		{"emptied, all witnesses below .orch removed", critical, all(func(w *ward) { w.write(w.log(), nil) }, unwitnessed), false},
		{"removed", critical, gone("log.jsonl"), false},
		{"removed, all witnesses below .orch removed", critical, all(gone("log.jsonl"), unwitnessed), false},
		{"the whole .orch removed", refused, func(w *ward) { w.remove(w.orch()) }, false},
		{"the log of another project", critical, func(w *ward) { w.copyOver(filepath.Join(w.other, "log.jsonl"), w.log()) }, false},
		{"the .orch of another project", critical, func(w *ward) { w.copyOver(w.other, w.orch()) }, false},
		{"the whole .orch rolled back", critical, func(w *ward) { w.copyOver(w.older, w.orch()) }, false},
		{"an older commit of .orch checked out", critical, checkedOut, false},

		// the log: no file any more
		{"a fifo as log", critical, fifo("log.jsonl"), false},
		{"a folder as log", critical, folder("log.jsonl"), false},
		{"a circle of links as log", critical, loop("log.jsonl"), false},
		{"a link to nothing as log", critical, func(w *ward) { w.remove(w.log()); w.check(os.Symlink("nowhere", w.log())) }, false},
		{"a socket as log", critical, func(w *ward) {
			w.remove(w.log())
			l, err := net.Listen("unix", w.log())
			w.check(err)
			w.Cleanup(func() { l.Close() })
		}, false},

		// closed segments
		{"a segment removed", critical, func(w *ward) { w.remove(w.segment()) }, false},
		{"the archive removed", critical, gone("archive"), false},
		{"a bit flipped in a segment", critical, segment(flip(middle)), false},
		{"a segment emptied", critical, segment(func([]byte) []byte { return nil }), false},
		{"a segment cut", critical, segment(func(d []byte) []byte { return d[:len(d)-30] }), false},
		{"a segment with other line ends", critical, segment(func(d []byte) []byte { return bytes.ReplaceAll(d, []byte("\n"), []byte("\r\n")) }), true},
		{"the segment of another project", critical, func(w *ward) {
			found, err := filepath.Glob(filepath.Join(w.other, "archive", "log-*.jsonl"))
			w.check(err)
			w.copyOver(found[0], w.segment())
		}, false},
		{"a file as archive", critical, func(w *ward) { w.remove(w.orch("archive")); w.write(w.orch("archive"), nil) }, false},

		// behind the end
		{"words behind the end", unpromise, behind("hello"), true},
		{"a line of words behind the end", unpromise, behind("hello\n"), true},
		{"zeros behind the end", unpromise, behind(strings.Repeat("\x00", 4096)), true},
		{"half a message behind the end", unpromise, behind(`{"seq":99,"ts":"2026`), true},
		{"JSON that is no message behind the end", unpromise, behind("{\"seq\":99}\n"), true},

		// the witnesses
		{"run/head removed", harmless, gone("run", "head"), true},
		{"run removed", harmless, gone("run"), true},
		{"run/head of words", harmless, func(w *ward) { w.write(w.orch("run", "head"), []byte("hello\n")) }, true},
		{"an older run/head", harmless, older("run", "head"), true},
		{"the run/head of another project", critical, func(w *ward) { w.copyOver(filepath.Join(w.other, "run", "head"), w.orch("run", "head")) }, true},
		{"a fifo as run/head", harmless, fifo("run", "head"), true},
		{"a folder as run/head", harmless, folder("run", "head"), true},
		{"the notes outside removed", harmless, notes, true},
		{"the audit removed", harmless, gone("audit"), true},
		{"the audit's log edited", audited, func(w *ward) { w.write(w.orch("audit", "audit.jsonl"), []byte("{}\n")) }, true},
		{"a fifo as the audit's log", audited, fifo("audit", "audit.jsonl"), true},
		{"shortened, every witness removed, those outside as well", unseen, all(lines(keep(3)), unwitnessed, notes), false},
		{"forged, every witness removed, those outside as well", unseen, all(forged, unwitnessed, notes), false},

		// what is made from the log, and what stands in the way
		{"checkpoints damaged", harmless, func(w *ward) {
			found, _ := filepath.Glob(w.orch("cache", "board-*"))
			for _, name := range found {
				w.edit(name, flip(func(d []byte) int { return len(d) / 2 }))
			}
		}, true},
		{"checkpoints removed", harmless, gone("cache"), true},
		{"checkpoints of another project", harmless, func(w *ward) { w.copyOver(filepath.Join(w.other, "cache"), w.orch("cache")) }, true},
		{"state.yaml removed", harmless, gone("state.yaml"), true},
		{"an older state.yaml", harmless, older("state.yaml"), true},
		{"state.yaml edited where nobody may", refused, func(w *ward) {
			w.edit(w.orch("state.yaml"), func(d []byte) []byte { return bytes.Replace(d, []byte("UNCLAIMED"), []byte("MERGED"), 1) })
		}, true},
		{"the state.yaml of another project", harmless, func(w *ward) { w.copyOver(filepath.Join(w.other, "state.yaml"), w.orch("state.yaml")) }, true},
		{"a fifo as state.yaml", refused, fifo("state.yaml"), true},
		{"a folder as state.yaml", refused, folder("state.yaml"), true},
		{"a circle of links as state.yaml", refused, loop("state.yaml"), true},
		{"a sync that failed", harmless, func(w *ward) { w.write(w.orch("run", "poisoned"), []byte("a sync failed\n")) }, true},
		{"a fifo as lock", harmless, fifo("orch.lock"), true},
		{"left over from a repair that was cut short", harmless, func(w *ward) { w.write(w.orch("log.next"), []byte("half")) }, true},
		{"a fifo as config.yaml", refused, fifo("config.yaml"), true},
	}
}

// checkedOut puts the log back by git, as who tracks it can.
func checkedOut(w *ward) {
	git := func(args ...string) {
		w.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.org", "-C", w.root}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			w.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	now := w.read(w.log())
	git("init", "-q")
	w.copyOver(filepath.Join(w.older, "log.jsonl"), w.log())
	git("add", "-f", ".orch/log.jsonl")
	git("commit", "-qm", "old")
	w.write(w.log(), now)
	git("add", "-f", ".orch/log.jsonl")
	git("commit", "-qm", "new")
	git("checkout", "-q", "HEAD~1", "--", ".orch/log.jsonl")
}

// TestEveryDamageIsNoticedAndLeadsOut: whatever happens to the record, the audit
// and verify say so, and typing what a message names, as it stands, ends with a
// board that works and has everything that was acknowledged.
func TestEveryDamageIsNoticedAndLeadsOut(t *testing.T) {
	fresh := wards(t)
	if n := len(harms()); n < 60 {
		t.Fatalf("only %d kinds are tried", n)
	}
	t.Run("with a backup", func(t *testing.T) { leadsOutByBackup(t, fresh) })
	t.Run("without one", func(t *testing.T) { leadsOutWithoutBackup(t, fresh) })
	t.Run("with an older one", func(t *testing.T) { olderBackupFillsGaps(t, fresh) })
}

// sampled is what make test has the time for: every sixth kind, and what can
// hang. With ORCH_TORTURE all are tried.
func sampled(all []harm) []harm {
	if os.Getenv("ORCH_TORTURE") != "" {
		return all
	}
	var some []harm
	for i, h := range all {
		if i%6 == 0 || strings.HasPrefix(h.name, "a fifo") {
			some = append(some, h)
		}
	}
	return some
}

// admit makes a project to harm, and says what was acknowledged in it.
type admit func(*testing.T) (*ward, []journal.Head)

func leadsOutByBackup(t *testing.T, fresh admit) {
	for _, h := range sampled(harms()) {
		t.Run(h.name, func(t *testing.T) {
			w, acknowledged := fresh(t)
			h.do(w)
			w.isNoticed(h.want)
			bad, broken := w.complaint()
			if h.want == unseen {
				w.usable()
				return
			}
			if broken {
				copy := w.backup
				if h.alone {
					copy = filepath.Join(w.root, "none")
				}
				t.Logf("typed: %q", w.follow(bad, copy))
			}
			w.whole(acknowledged)
			if o := w.runs("audit"); h.want != audited && strings.Contains(o.text, "CRITICAL") {
				t.Errorf("it works again, and the audit still says:\n%s", o.text)
			}
		})
	}
}

// isNoticed checks what the first look at the damage says.
func (w *ward) isNoticed(want noticed) {
	w.Helper()
	audit, verify := w.runs("audit"), w.runs("verify")
	found := strings.Contains(audit.text, "CRITICAL")
	warned := strings.Contains(audit.text, "WARNING")
	switch want {
	case critical:
		if audit.code != exitFindings || !found || verify.code != exitInternal || !aCommand.MatchString(audit.text) {
			w.Errorf("the audit ends with %d, verify with %d:\n%s%s", audit.code, verify.code, audit.text, verify.text)
		}
	case unpromise:
		if audit.code != exitFindings || !warned || found || verify.code != exitInternal || !strings.Contains(verify.text, "orch board repair") {
			w.Errorf("the audit ends with %d, verify with %d:\n%s%s", audit.code, verify.code, audit.text, verify.text)
		}
	case audited:
		if audit.code != exitFindings || !strings.Contains(audit.text, "audit_log_damaged") || verify.code != exitOK {
			w.Errorf("the audit ends with %d, verify with %d:\n%s%s", audit.code, verify.code, audit.text, verify.text)
		}
	case refused:
		if _, bad := w.complaint(); !bad {
			w.Error("nobody says anything")
		}
	case harmless, unseen:
		if audit.code != exitOK || verify.code != exitOK {
			w.Errorf("the audit ends with %d, verify with %d:\n%s%s", audit.code, verify.code, audit.text, verify.text)
		}
	}
}

// leadsOutWithoutBackup: who has no copy goes on with what is whole, and is told
// what is given up.
func leadsOutWithoutBackup(t *testing.T, fresh admit) {
	for _, h := range sampled(harms()) {
		if h.want != critical {
			continue
		}
		t.Run(h.name, func(t *testing.T) {
			w, acknowledged := fresh(t)
			h.do(w)
			o := w.runs("restore", "--accept")
			if o.code != exitOK {
				t.Fatalf("orch board restore --accept ends with %d:\n%s", o.code, o.text)
			}
			w.usable()
			have := w.records(w.orch())
			lost := !slices.Equal(have[:min(len(have), len(acknowledged))], acknowledged)
			told := strings.Contains(o.text, "given up")
			if lost != told || h.alone == lost {
				t.Errorf("messages are lost: %v; it says:\n%s", lost, o.text)
			}
			audit := w.runs("audit")
			if lost && !strings.Contains(audit.text, "log_restored") || strings.Contains(audit.text, "CRITICAL") {
				t.Errorf("the audit says afterwards:\n%s", audit.text)
			}
		})
	}
}

// olderBackupFillsGaps: messages since the backup are taken from what is
// left of the log.
func olderBackupFillsGaps(t *testing.T, fresh admit) {
	w, acknowledged := fresh(t)
	w.lines(func(l [][]byte) [][]byte { return slices.Delete(l, 3, 5) })
	if o := w.runs("restore", "--from", w.older); o.code != exitOK || !strings.Contains(o.text, "2 messages came from the copy") {
		t.Fatalf("ends with %d:\n%s", o.code, o.text)
	}
	w.whole(acknowledged)
	if o := w.runs("log"); !strings.Contains(o.text, "JournalRepaired") {
		t.Errorf("the log does not say that it was restored:\n%s", o.text)
	}
}
