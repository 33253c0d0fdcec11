package story

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"spillway/sdk"
)

func TestEveryCodeHasWords(t *testing.T) {
	for _, w := range []*lexicon{&english, &chinese} {
		for _, code := range sdk.Codes() {
			got := w.wording(code, code.Scope(), "")
			if got.is == string(code) || got.is == "" || got.does == "" {
				t.Errorf("%s: no words for %s: %q", w.language, code, got)
			}
		}
		if got, want := w.wording("NEW", sdk.ScopeRoute, ""), (wording{"NEW", "NEW"}); got != want {
			t.Errorf("%s: an unknown code: got %q, want %q", w.language, got, want)
		}
	}
}

// TestNoRowOfVerdictsIsShadowed also holds the order of the table.
func TestNoRowOfVerdictsIsShadowed(t *testing.T) {
	for _, v := range verdicts {
		if got := english.wording(v.code, v.scope, v.cause); got != v.en {
			t.Errorf("%s %s %s: got %q, want %q", v.code, v.scope, v.cause, got, v.en)
		}
	}
}

// TestLexicons compares both languages field by field: nothing is missing, and
// what stands for a value is the same.
func TestLexicons(t *testing.T) {
	var check func(path string, en, zh reflect.Value)
	check = func(path string, en, zh reflect.Value) {
		switch en.Kind() {
		case reflect.Struct:
			for i := range en.NumField() {
				check(path+"."+en.Type().Field(i).Name, en.Field(i), zh.Field(i))
			}
		case reflect.String:
			if en.String() == "" || zh.String() == "" {
				t.Errorf("%s: %q and %q: words are missing", path, en, zh)
			}
			for _, verb := range []string{"%", "%s", "%d"} {
				if strings.Count(en.String(), verb) != strings.Count(zh.String(), verb) {
					t.Errorf("%s: %q and %q take other values", path, en, zh)
				}
			}
		}
	}
	check("", reflect.ValueOf(english), reflect.ValueOf(chinese))
	for _, w := range []*lexicon{&english, &chinese} {
		labels := reflect.ValueOf(w.labels)
		for _, f := range labels.Fields() {
			if f.Kind() == reflect.String && columns(f.String()) >= w.labels.columns {
				t.Errorf("%s: label %q: wider than its column", w.language, f)
			}
		}
	}
}

// TestNoBrokenFormat looks for what fmt writes when a value is missing.
func TestNoBrokenFormat(t *testing.T) {
	paths, _ := filepath.Glob("testdata/*/*.txtar")
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(data), "%!") {
			t.Errorf("%s: holds a broken format", path)
		}
	}
}

func TestRule(t *testing.T) {
	for _, tt := range []struct{ rule, en, zh string }{
		{"", "", ""},
		{"caller", "", ""},
		{"header:retry-after", "the header retry-after", "响应头 retry-after"},
		{"status:429", "the bare status 429", "状态码 429 本身"},
		{"zhipu.code:1302", "its error code 1302", "它的错误 code 1302"},
		{"phrase:banned", "its wording: the account is closed or locked", "它的措辞：账号被封或被锁"},
		{"phrase:plan-window-zh", "its wording: the plan's allowance for a period is used up", "它的措辞：套餐这一周期的额度用完"},
		{"phrase:new", "its wording (rule new)", "它的措辞（规则 new）"},
		{"shape:page", "the form of the answer: a web page", "回答的形态：一个网页"},
		{"shape:page status:403", "the form of the answer: a web page with the status 403", "回答的形态：一个状态码 403 的网页"},
		{"shape:new", "the form of the answer (new)", "回答的形态（new）"},
		{"pattern:a:b", "your pattern /a:b/", "你的模式 /a:b/"},
		{"socket:reset+silence", "the network (reset) after a long silence", "网络（reset），此前长时间没有动静"},
		{"finish:sensitive", "the answer's finish (sensitive)", "回答的结束原因（sensitive）"},
		{"client:econnrefused", "the words econnrefused", "文字 econnrefused"},
		{"limit.idle", "the limit between two pieces of content", "两段内容之间的时限"},
		{"brain.out", "the rule brain.out", "规则 brain.out"},
		{"new:thing", "the rule new:thing", "规则 new:thing"},
	} {
		if got := english.rule(tt.rule); got != tt.en {
			t.Errorf("%q: got %q, want %q", tt.rule, got, tt.en)
		}
		if got := chinese.rule(tt.rule); got != tt.zh {
			t.Errorf("%q: got %q, want %q", tt.rule, got, tt.zh)
		}
	}
}

func TestSkipped(t *testing.T) {
	for _, tt := range []struct{ reason, want string }{
		{"circuit open", "paused"},
		{"QUOTA", "out of quota"},
		{"needs images", "needs images"},
	} {
		if got := english.skipped(tt.reason); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.reason, got, tt.want)
		}
	}
}
