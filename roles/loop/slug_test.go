package loop

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestSlugs(t *testing.T) {
	for text, want := range map[string]string{
		"Make the tests pass":          "make_the_tests",
		"  make,  THE tests!":          "make_the_tests",
		"db-migration task":            "db_migration_task",
		"Überprüfe die Größe":          "überprüfe_die_größe",
		"исправь падающий тест":        "исправь_падающий_тест",
		"أصلح الاختبار الفاشل الآن":    "أصلح_الاختبار_الفاشل",
		"修复失败的测试":                      "修复失败的测试",
		"修复 失败的 测试":                    "修复失败的测试",
		"请把所有失败的测试都修复好然后提交代码":          "请把所有失败的测试都修复",
		"失敗したテストを直してください":              "失敗したテストを直してく",
		"실패한 테스트를 고쳐줘 지금":              "실패한_테스트를_고쳐줘",
		"แก้ไขการทดสอบที่ล้มเหลว":      "แก้ไขการทดสอ",
		"make the tests 通过":            "make_the_tests",
		"add 中文 support":               "add中文support",
		"go 1.26 upgrade":              "go_1_26",
		"naïve e\u0301tude of résumés": "naïve_e\u0301tude_of",
		"":                             "",
		"!!! ???":                      "",
		"🚀🚀":                           "",
	} {
		if got := Slug(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// Two intents share a space only if they begin alike, whatever they are written in.
func TestIntentsDoNotMeetInAnEmptySpace(t *testing.T) {
	intents := []string{"修复测试", "删除数据库", "テストを直す", "أصلح الاختبار", "احذف قاعدة البيانات", "🚀", "🔥", "!!!", "???", ""}
	seen := map[string]string{}
	for _, intent := range intents {
		space := IntentSpace(intent)
		if other, ok := seen[space]; ok {
			t.Errorf("%q and %q share %q", other, intent, space)
		}
		seen[space] = intent
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "intent")
		space := IntentSpace(text)
		if space == "intent:" && text != "" {
			t.Fatalf("nothing is left of %q", text)
		}
		if !utf8.ValidString(space) || strings.ContainsAny(strings.TrimPrefix(space, "intent:"), " :\n") {
			t.Fatalf("%q becomes %q", text, space)
		}
		if space != IntentSpace(text) {
			t.Fatalf("%q is not always the same", text)
		}
	})
}
