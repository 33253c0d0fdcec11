package story

import (
	"errors"
	"strings"
	"testing"
	"time"

	"spillway/host/agent/ledger"
	"spillway/host/agent/session"
	"spillway/host/agent/tool"
	"spillway/sdk"
)

// lines are all that is said, of facts in which text stands.
func lines(t Talk, text string) map[string]string {
	f := sdk.NewFailure(sdk.CodeServer, "test", text)
	var sessions strings.Builder
	info := session.Info{ID: text, Folder: text, Title: text, Changed: time.Date(2026, 7, 3, 14, 5, 6, 0, time.UTC)}
	_ = Sessions(&sessions, []session.Info{info}, t.Options) // a builder takes everything
	return map[string]string{
		"failed":       t.Failed(text),
		"broke":        t.Withdrawn(f, false),
		"withdrawn":    t.Withdrawn(f, true),
		"waiting":      t.Waiting(f, 65*time.Second),
		"counting":     t.CountingDown(3 * time.Second),
		"summed up":    t.SummedUp(12),
		"stopped":      t.Stopped(),
		"allow":        t.Allow(text),
		"unknown":      t.Unknown(text),
		"why":          t.Why(text),
		"lost":         t.Why(ledger.LostNote),
		"outcomes":     t.Outcomes(),
		"serving":      t.Serving(text, "s-1", text),
		"nobody":       t.Serving("", "", ""),
		"first":        t.AskedFirst(sdk.Route{Provider: text, Model: "m"}),
		"help":         t.HelpEnd("```"),
		"tools":        t.Tools([]tool.Spec{{Name: text, Description: text, Effect: tool.ReadOnly}}),
		"unadvertised": t.Unadvertised("p", text, []string{text, "y"}),
		"no tools":     t.Tools(nil),
		"left out":     t.LeftOut("shell", errors.New(text)),
		"sessions":     sessions.String(),
		"perhaps":      t.UnknownCommand("/hlp", []string{"/help", "/x"}),
		"unknown /x":   t.UnknownCommand("/x", nil),
		"torn":         t.Torn("s-1", 18),
		"expecting":    t.Expecting(sdk.Route{Provider: text, Model: "m"}, 12*time.Second),
		"starting":     t.Starting([]string{"files", text}),
		"worth":        t.WorthAsking(time.Date(2026, 7, 3, 14, 10, 6, 0, time.UTC)),
		"explains":     t.Explains("spillway explain req_1"),
		"unanswered":   t.Unanswered(f, "req_1", false),
		"broken":       t.Unanswered(f, "req_1", true),
		"undecided":    t.Undecided(ledger.Entry{Action: ledger.Action{Tool: text}, Key: "9f", Note: text}, "settle", ""),
		"here":         t.NoSessionHere(text),
		"no session":   t.NoSession(text),
		"doing":        t.Doing(text, nil, "") + t.Doing("", nil, text),
		"asking":       t.Asking(text) + t.Input([]byte(text)),
	}
}

func TestTalk(t *testing.T) {
	en, zh := lines(Talk{}, "x"), lines(Talk{Options{Language: Chinese}}, "x")
	for _, tt := range []struct{ line, en, zh string }{
		{"failed", "failed: x", "失败：x"},
		{"broke", "the answer broke off (SERVER: x), asking again", "回答中断（SERVER: x），重新发问"},
		{"withdrawn", "── withdrawn: the answer broke off (SERVER: x), asking again ──", "── 撤回：回答中断（SERVER: x），重新发问 ──"},
		{"waiting", "nobody can serve (SERVER: x): asking again in 1m 5s", "暂时没有可用的供应商（SERVER: x）：1 分 5 秒后再问"},
		{"counting", "asking again in 3s (Ctrl-C ends it)", "3 秒后再问（Ctrl-C 结束等待）"},
		{"expecting", "asking x/m (12s)", "正在问 x/m（12 秒）"},
		{"starting", "starting the MCP server files, x ...", "正在启动 MCP 服务器 files、x……"},
		{"explains", "What was tried: spillway explain req_1", "试过什么，请看：spillway explain req_1"},
		{"allow", "allow it? [y]es, [n]o, [a]lways x in this session: ", "允许吗？[y] 是，[n] 否，[a] 本次会话内一律允许 x："},
		{"why", "why: x", "原因：x"},
		{"lost", "why: whoever ran it ended before its outcome was recorded", "原因：执行它的进程在记下结果之前就结束了"},
		{"serving", "x · s-1 · pinned to x", "x · s-1 · 固定到 x"},
		{"nobody", "nobody · not kept", "没有可用的路由 · 不保存"},
		{"tools", "x                    read-only  x\n", "x                    只读       x\n"},
		{"unadvertised", `note: p advertises no model "x" (nearest known: x, y)`, `注意：p 没有列出模型 "x"（最接近的：x, y）`},
		{"no tools", "none\n", "没有\n"},
		{"sessions", "SESSION  USED                 FOLDER  ABOUT\nx        2026-07-03 14:05:06  x       x\n", "会话  上次使用             文件夹  内容\nx     2026-07-03 14:05:06  x       x\n"},
		{"perhaps", `unknown command "/hlp"; did you mean /help or /x? (/help lists them)`, `未知命令 "/hlp"；是不是 /help 或 /x？（/help 可列出全部命令）`},
		{"unknown /x", `unknown command "/x" (/help lists them)`, `未知命令 "/x"（/help 可列出全部命令）`},
	} {
		if en[tt.line] != tt.en {
			t.Errorf("%s: got  %q\nwant %q", tt.line, en[tt.line], tt.en)
		}
		if zh[tt.line] != tt.zh {
			t.Errorf("%s: got  %q\nwant %q", tt.line, zh[tt.line], tt.zh)
		}
	}
}

func TestTalkHarmless(t *testing.T) {
	everyOptions(func(o Options) {
		for _, says := range lines(Talk{o}, attack) {
			checkHarmless(t, says, o)
		}
	})
}

// Tables have both languages.
func TestTables(t *testing.T) {
	for _, table := range [][]reason{reasons, phrases, shapes, commands, notes} {
		for _, r := range table {
			if r.word == "" || r.en == "" || r.zh == "" {
				t.Errorf("%q: words are missing: %q and %q", r.word, r.en, r.zh)
			}
		}
	}
}

func TestUndecided(t *testing.T) {
	e := ledger.Entry{Action: ledger.Action{Tool: "shell", Input: []byte(`{"command":"x"}`)}, Key: "9f", Note: "lost"}
	for _, tt := range []struct {
		language Language
		goOn     string
		want     string
	}{
		{English, "spillway run --resume s-1", "it is not known whether shell happened: a person must decide\n" +
			"  shell {\"command\":\"x\"}\n  key      9f\n  why      lost\nLook whether it was done, say so, and go on:\n" +
			"  spillway ledger settle 9f happened   (or not-happened, or unknown)\n  spillway run --resume s-1"},
		{Chinese, "", "不知道 shell 是否已经发生：须由人来判定\n" +
			"  shell {\"command\":\"x\"}\n  键    9f\n  原因  lost\n请查看它是否已经做了，说明结果，再继续：\n" +
			"  spillway ledger settle 9f happened   （或 not-happened、unknown）\n  （会话没有保存）"},
	} {
		if got := (Talk{Options{Language: tt.language}}).Undecided(e, "spillway ledger settle", tt.goOn); got != tt.want {
			t.Errorf("got  %q\nwant %q", got, tt.want)
		}
	}
}
