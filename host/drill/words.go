package drill

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"spillway/host/story"
)

// lexicon has the words of one language. Both take the same in the same order, or
// by name.
type lexicon struct {
	language         story.Language
	colon, semicolon string

	profile, vendors, faster string // folder; -; factor
	absent                   string // provider, why
	alias                    string // name, routes
	after                    string // route: those before it are closed
	ok, failed, alone        string
	heading                  string // of what is broken
	note                     string
	plugin                   string

	answer, resume string // who, duration, attempts
	refusal        string // status, code, duration, attempts
	part           string // code, duration, attempts
	damage         string
	hang           string // duration

	asked    string // of live: folder, requests
	answers  string // question, duration
	unsure   string // question
	ignored  string // duration
	refuses  string // question, code, status, message
	absentIs string // provider, why

	measured   string // folder, tasks, file
	success    string // route, share, of tasks
	valid      string // share, of schemas
	unanswered string // route, count, code, message: nothing is kept
	gate       string // contract, route, shares demanded

	broken   map[BrokenKind]string
	failings map[Failing]string
	notes    map[NoteKind]string
	progress string // done, total
}

func wordsOf(l story.Language) *lexicon {
	if l == story.Chinese {
		return &chinese
	}
	return &english
}

var english = lexicon{
	language: story.English,
	colon:    ": ", semicolon: "; ",

	profile: "profile %s",
	vendors: "Each route fails in each way, one at a time. Simulated vendors on this machine take the vendors' places: no key is used, nothing is sent to a real one.",
	faster:  "Limits on silence, and waits, are %d times as short as in earnest; nothing else is.",
	absent:  "%s is not set up: %s (rehearsed all the same)",
	alias:   "alias %s: %s",
	after:   "%s fails, those before it are closed",
	ok:      "ok", failed: "FAIL", alone: "alone",
	heading: "cannot work as it stands:",
	note:    "note",
	plugin:  "a plugin",

	answer:  "answer from %s after %s (attempts: %d)",
	resume:  "broke off, and %s went on openly, after %s (attempts: %d)",
	refusal: "one clean error, %d %s, after %s (attempts: %d)",
	part:    "part of an answer, then the error %s, after %s (attempts: %d)",
	damage:  "something that is not one whole answer",
	hang:    "nothing for %s",

	asked:    "profile %s: %d requests to real vendors",
	answers:  "%s: answered after %s",
	unsure:   "%s: cut off by the limit of the question before it could be told",
	ignored:  "tool: it answered after %s and called no tool",
	refuses:  "%s: %s (status %d): %s",
	absentIs: "%s was not asked: %s",

	measured:   "profile %s: %d tasks of %s, for each route",
	success:    "%s: task success %s (of %d)",
	valid:      ", schema valid %s (of %d)",
	unanswered: "%s: not measured: %d tasks met a failure of its vendor's, first %s: %s",
	gate:       "contract %s: %s (wanted: task success %s, schema valid %s)",

	broken: map[BrokenKind]string{
		BrokenFault:      "{detail}",
		BrokenModel:      "{about}: its provider does not list that model (it lists {detail}); if the vendor serves it, name it in models of the entry",
		BrokenUnfit:      "{about} can never serve: {reason}",
		BrokenUnled:      "{about}: no request ever leads to it",
		BrokenNoFailover: "{about}: no failover plugin is in the chain: nobody moves a failing call to another vendor (the row {id: failover, name: failover} is missing, disabled, or does not run)",
		BrokenNobody:     "{about}: nobody is asked at all: {skips}",
		BrokenRefused:    "{about} is refused before anybody is asked: {detail}",
		BrokenAlone:      "{about}: nobody may take over: {skips}",
	},
	failings: map[Failing]string{
		FailNotRun:    "the profile could not be run: {detail}",
		FailHang:      "no end after {count} s",
		FailSilent:    "{detail} could have answered and did not",
		FailDamage:    "the answer is not one whole answer, and nobody was told: {detail}",
		FailUnclean:   "part of an answer and an error, where nothing had been answered yet",
		FailRepeated:  "{count} attempts reached its vendor, {most} allowed",
		FailElsewhere: "the request's own fault was taken on to {detail}",
		FailCharged:   "the request's own fault counts against {detail}",
		FailImpatient: "it was asked again before the time that it had named",
		FailFrames:    "{count} beginnings or ends of one answer",
		FailReported:  "the error is told as {detail}, not as the request's own fault",
	},
	notes: map[NoteKind]string{
		NoteAlone:   "nobody takes over from {about}: when it fails, so does the request",
		NoteStrict:  "{about} wants nobody else (strict): when it fails, so does the request",
		NoteLast:    "{about} is the last in the list of {detail}: when it fails too, the request does",
		NoteSkipped: "for {about} somebody is passed over: {skips}",
	},
	progress: "drill: %d of %d",
}

var chinese = lexicon{
	language: story.Chinese,
	colon:    "：", semicolon: "；",

	profile: "配置 %s",
	vendors: "逐一让每条路由以每种方式出故障。供应商由本机上的模拟供应商代替：不用密钥，不向真实供应商发送任何内容。",
	faster:  "静默时限和等待时间缩短为真实的 1/%d；其余不变。",
	absent:  "%s 尚未配置：%s（照样演练）",
	alias:   "别名 %s：%s",
	after:   "%s 出故障，排在前面的已关闭",
	ok:      "通过", failed: "失败", alone: "无备",
	heading: "现状下无法工作：",
	note:    "注意",
	plugin:  "某个插件",

	answer:  "由 %s 回答，用时 %s（尝试 %d 次）",
	resume:  "中断后由 %s 公开接着回答，用时 %s（尝试 %d 次）",
	refusal: "一个干净的错误，%d %s，用时 %s（尝试 %d 次）",
	part:    "先是部分回答，然后是错误 %s，用时 %s（尝试 %d 次）",
	damage:  "不是一个完整的回答",
	hang:    "%s 没有任何内容",

	asked:    "配置 %s：向真实供应商发出 %d 个请求",
	answers:  "%s：%s 后回答",
	unsure:   "%s：在能看出之前就被这个问题的长度限制截断",
	ignored:  "tool：%s 后回答，却没有调用工具",
	refuses:  "%s：%s（状态 %d）：%s",
	absentIs: "没有询问 %s：%s",

	measured:   "配置 %s：每条路由各做 %d 个任务（%s）",
	success:    "%s：任务成功率 %s（共 %d 个）",
	valid:      "，合乎模式 %s（共 %d 个）",
	unanswered: "%s：没有测成：%d 个任务遇到供应商故障，第一个是 %s：%s",
	gate:       "契约 %s：%s（要求：任务成功率 %s，合乎模式 %s）",

	broken: map[BrokenKind]string{
		BrokenFault:      "{detail}",
		BrokenModel:      "{about}：其 provider 没有列出该模型（列出的有 {detail}）；若供应商确实提供，请写进该条目的 models",
		BrokenUnfit:      "{about} 永远无法作答：{reason}",
		BrokenUnled:      "{about}：没有请求会走到它",
		BrokenNoFailover: "{about}：链中没有 failover 插件：没有谁把失败的调用转给别的供应商（缺少行 {id: failover, name: failover}，或它被停用、未能运行）",
		BrokenNobody:     "{about}：根本没有谁被询问：{skips}",
		BrokenRefused:    "{about} 还没有询问谁就被拒绝：{detail}",
		BrokenAlone:      "{about}：没有谁可以接替：{skips}",
	},
	failings: map[Failing]string{
		FailNotRun:    "配置无法运行：{detail}",
		FailHang:      "{count} 秒后仍未结束",
		FailSilent:    "{detail} 本可以回答却没有",
		FailDamage:    "不是一个完整的回答，却没有告知：{detail}",
		FailUnclean:   "尚未有内容时却给出了部分回答和错误",
		FailRepeated:  "有 {count} 次尝试到达其供应商，最多允许 {most} 次",
		FailElsewhere: "请求自身的错误被转给了 {detail}",
		FailCharged:   "请求自身的错误被记到了 {detail}",
		FailImpatient: "没等到它指定的时间就再次请求",
		FailFrames:    "一个回答有 {count} 个开头或结尾",
		FailReported:  "错误被报告为 {detail}，而不是请求自身的错误",
	},
	notes: map[NoteKind]string{
		NoteAlone:   "没有谁能接替 {about}：它一旦出故障，请求就失败",
		NoteStrict:  "{about} 不要别的路由（strict）：它一旦出故障，请求就失败",
		NoteLast:    "{about} 是 {detail} 的列表中的最后一个：它也出故障时，请求就失败",
		NoteSkipped: "对 {about}，有的路由被跳过：{skips}",
	},
	progress: "演练：%d / %d",
}

// String says it in English.
func (f Fault) String() string { return f.in(&english) }

func (f Fault) in(l *lexicon) string {
	return strings.NewReplacer("{count}", strconv.Itoa(f.Count), "{most}", strconv.Itoa(f.Most), "{detail}", plain(f.Detail)).Replace(l.failings[f.Failing])
}

// plain is a text on one line without control characters: it may be a stranger's.
func plain(s string) string {
	drop := func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}
	return strings.Map(drop, strings.Join(strings.Fields(s), " "))
}

// seen is what the user saw, in words.
func (v Verdict) seen(l *lexicon) string {
	took := time.Duration(v.Took).Round(time.Millisecond).String()
	by := v.By.String()
	if by == "" {
		by = l.plugin
	}
	switch v.Saw {
	case SawAnswer:
		return fmt.Sprintf(l.answer, by, took, v.Attempts)
	case SawResume:
		return fmt.Sprintf(l.resume, by, took, v.Attempts)
	case SawError:
		return fmt.Sprintf(l.refusal, v.Status, v.Code, took, v.Attempts)
	case SawBreak:
		return fmt.Sprintf(l.part, v.Code, took, v.Attempts)
	case SawDamage:
		return l.damage
	case SawHang:
		return fmt.Sprintf(l.hang, took)
	}
	return ""
}
