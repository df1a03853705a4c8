package loop

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"orch/blackboard"
	"orch/blackboard/message"
)

var _ Ledger = (*blackboard.State)(nil)

func TestInvariant_OnlyOneRoleOrdersAndOnlyOneEnds(t *testing.T) {
	for typ, want := range map[message.Type]message.Role{"PlanDirective": message.GGS, "FinalResult": message.GGS, "ReplanRequest": message.MetaValidator, "Megram": message.GGS} {
		for _, c := range Contracts() {
			says := slices.Contains(message.Emits(c.Role), typ)
			if says && c.Role != want && !(typ == "Megram" && c.Role == message.Memory) {
				t.Errorf("%s may say %s", c.Role, typ)
			}
			if !says && c.Role == want {
				t.Errorf("%s may not say %s", c.Role, typ)
			}
		}
	}
}

func TestOnlyWhoDoesTheWorkHoldsTasks(t *testing.T) {
	for _, c := range Contracts() {
		if Holds(c.Role) != (c.Role == message.Executor || c.Role == message.Coder) {
			t.Errorf("%s holds: %v", c.Role, Holds(c.Role))
		}
	}
}

func TestSlug(t *testing.T) {
	for in, want := range map[string]string{
		"Make the tests pass, please": "make_the_tests",
		"db migration":                "db_migration",
		"修复所有失败的测试用例并提交":              "修复所有失败的测试用例并",
		"Überprüfe die Ödnis jetzt":   "überprüfe_die_ödnis",
		"!!!":                         "",
		"日本語 の テスト":                   "日本語のテスト",
	} {
		if got := Slug(in); got != want {
			t.Errorf("Slug(%q) = %q, want %q", in, got, want)
		}
	}
	if IntentSpace("中文一") == IntentSpace("中文二") {
		t.Error("two intents share a space")
	}
	if GoalSlug("!!!") != "goal" {
		t.Error("a goal without a name")
	}
}

func TestFactSpace(t *testing.T) {
	if got := FactSpace("  Always use YARN: never npm\n"); got != "fact:Always use YARN: never npm" {
		t.Errorf("got %q", got)
	}
	spaces := map[string]string{}
	for _, fact := range []string{
		"use GO_FLAGS", "use go_flags", "use go flags", "use go  flags", "use go-flags", "use go flags.", "use go flags!", "use\ngo flags", "use gо flags",
	} {
		if other, taken := spaces[FactSpace(fact)]; taken {
			t.Errorf("%q and %q share a space", fact, other)
		}
		spaces[FactSpace(fact)] = fact
	}
	long := strings.Repeat("wörter ", 40)
	a, b := FactSpace(long+"a"), FactSpace(long+"b")
	if a == b || len(a) > len("fact:")+factSpaceBytes+36 || !utf8.ValidString(a) {
		t.Errorf("long facts: %q and %q", a, b)
	}
	if FactSpace("immer Garn") == FactSpace("总是用纱线") || FactSpace("总是用纱线") == FactSpace("总是用棉线") {
		t.Error("different facts share a space")
	}
}
