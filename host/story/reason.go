package story

import (
	"fmt"
	"regexp"
	"strings"

	"spillway/sdk"
)

// reason is one name, as the plugin or the host records it, in both languages.
type reason struct{ word, en, zh string }

// reasons has the words with which candidates are passed over and requests go
// on or end.
var reasons = []reason{
	{"circuit open", "paused", "已暂停"},
	{"vendor out", "its vendor is paused", "整个供应商已暂停"},
	{"no usable key", "none of its vendor's keys can be used", "供应商没有可用的密钥"},
	{"rate limited", "rate limited with every key", "每把密钥都被限流"},
	{"probe under way", "another request is testing it", "另一个请求正在试探"},
	{"vendor budget", "its vendor was asked often enough for one request", "一个请求问这个供应商的次数已够多"},
	{"vendor unreachable", "its vendor could not be reached", "供应商无法到达"},
	{"window not larger", "its context window is not larger", "它的上下文窗口并不更大"},
	{"local network down", "this machine's network is down", "本机网络不通"},
	{"unknown provider", "no such provider in this profile", "配置里没有这个供应商"},
	{"no model advertised", "its vendor lists no model", "供应商没有列出模型"},
	{"no credential of the caller's", "it is paid for with the client's own credential, and the client showed none that is its", "它用客户端自己的凭证，而客户端没有出示属于它的凭证"},
	{"another provider", "only the chosen provider keeps what the request builds on", "请求所依赖的内容只有被选中的供应商保存着"},
	{"another model", "another model, and only the same one may answer", "是另一个模型，而只许同一个模型作答"},

	{"disabled", "a person has switched it off", "有人把它停用了"},
	{"draining", "a person lets it run out: nothing new begins there", "有人在让它收尾：不再接新请求"},
	{"not pinned", "a person has pinned everything elsewhere", "有人把全部请求固定到了别处"},

	{"no tools", "it cannot call tools", "它不会调用工具"},
	{"no parallel_tools", "it cannot call several tools at once", "它不能同时调用多个工具"},
	{"no vision", "it cannot see images", "它看不了图片"},
	{"no documents", "it cannot read documents", "它读不了文档"},
	{"no reasoning", "it does not reason", "它不会推理"},
	{"no structured", "it does not keep to a JSON schema", "它不能按 JSON 模式作答"},
	{"no streaming", "it does not stream", "它不能流式作答"},

	{"head", "as the caller wished", "调用方指定"},
	{"head is out", "what the caller wished cannot serve now", "调用方指定的现在用不了"},
	{"tool loop", "it serves the tool calls that are under way", "正在进行的工具调用由它作答"},
	{"everything is out", "early, since everything else is paused", "提前试探，因为其余都已暂停"},
	{"moved on: its target went out meanwhile", "other requests found the one before to be out of order", "别的请求发现前一个出了故障"},

	{"attempt budget", "the request has had all its attempts", "一个请求的尝试次数已用完"},
	{"route budget", "the request has asked as many models as it may", "一个请求可问的模型数已用完"},
	{"deadline", "the time for an answer is over", "作答的时间已用完"},
	{"nothing left", "no other candidate can serve it now", "现在没有别的可用"},
	{"nobody can", "no candidate can do what the request asks", "没有哪个候选做得了这个请求"},
	{"caller", "the cause lies in the request itself", "原因在请求本身"},
	{"local", "the cause lies in this machine", "原因在本机"},
	{"a tool may have acted", "a tool that the vendor runs may have done something, and would do it again", "供应商自己运行的工具也许已有动作，重来就会再做一遍"},
	{"the answer had begun", "part of the answer had been handed out", "回答已经交出一部分"},
	{"nobody was there to decide", "the plugin was away, or the caller had left", "当时插件不在，或调用方已离开"},
}

// endings are what a reason may end with; what stands before is a reason too.
var endings = []reason{
	{", next key", "another key may be better off", "另一把密钥也许可用"},
	{", nothing else", "nobody else can serve, so the limit is waited out", "没有别的可用，只能等限流过去"},
	{" (canary)", "by the list of the canary", "按金丝雀名单"},
}

// form is a reason that holds values: %s stands for each group of the
// expression.
type form struct {
	match  *regexp.Regexp
	en, zh string
	inner  bool // the last group is a reason
}

var forms = []form{
	{match: regexp.MustCompile(`^no (\w+)$`), en: "it does not offer %s", zh: "它不提供 %s"},
	{match: regexp.MustCompile(`^context (\w+), about (\w+) needed$`),
		en: "its context window holds %s tokens, and about %s are needed", zh: "它的上下文窗口是 %s 个 token，约需 %s 个"},
	{match: regexp.MustCompile(`^context unknown, (\w+) wanted$`),
		en: "its context window is not known, and %s tokens are wanted", zh: "它的上下文窗口未知，要求 %s 个 token"},
	{match: regexp.MustCompile(`^context (\w+), (\w+) wanted$`),
		en: "its context window holds %s tokens, and %s are wanted", zh: "它的上下文窗口是 %s 个 token，要求 %s 个"},
	{match: regexp.MustCompile(`^max_output unknown, (\w+) wanted$`),
		en: "how much it writes at most is not known, and %s tokens are wanted", zh: "它最多能写多少未知，要求 %s 个 token"},
	{match: regexp.MustCompile(`^max_output (\w+), (\w+) wanted$`),
		en: "it writes at most %s tokens, and %s are wanted", zh: "它最多写 %s 个 token，要求 %s 个"},
	{match: regexp.MustCompile(`^egress unknown$`), en: "it is not known where its prompts go", zh: "不知道它把提示送到哪里"},
	{match: regexp.MustCompile(`^egress (.+)$`), en: "its prompts go to %s", zh: "它把提示送到 %s"},
	{match: regexp.MustCompile(`^not measured on (.+)$`),
		en: "it was not measured on %s yet (spillway drill --live --eval does)", zh: "它还没有用 %s 测量过（用 spillway drill --live --eval 测量）"},
	{match: regexp.MustCompile(`^task success (\S+) on (.+), (\S+) wanted$`),
		en: "it did a share of %s of the tasks of %s, and %s is wanted", zh: "它完成的任务占 %s（%s），要求 %s"},
	{match: regexp.MustCompile(`^schema valid (\S+) on (.+), (\S+) wanted$`),
		en: "a share of %s of its answers to %s followed their schema, and %s is wanted", zh: "它合乎模式的回答占 %s（%s），要求 %s"},
	{match: regexp.MustCompile(`^contract (.*)@(\d+): (.+)$`), inner: true,
		en: "the contract %s (version %s) rules it out: %s", zh: "契约 %s（第 %s 版）不许：%s"},
}

// causes has the words for failures that the failover plugin makes itself, by
// their rule. One that stands for a vendor's has none.
var causes = []reason{
	{"brain.capability", "no candidate can do what it asks", "没有哪个候选做得到它要的"},
	{"brain.order", "a person's order keeps out what could serve", "能用的被人的指令挡住了"},
	{"brain.budget", "its time or its attempts did not suffice for any", "它的时间或次数不够问任何一个"},
	{"failover.wants", "it names a budget or a contract that is not in the settings", "它指定的预算或契约不在设置里"},
}

// Skipped is why a candidate was passed over, in words.
func Skipped(reason string, l Language) string {
	return Options{Language: l}.words().skipped(reason)
}

// skipped is why a candidate was passed over, in words. Some plugin may give a
// code.
func (w *lexicon) skipped(s string) string {
	if code := sdk.Code(s); code.Known() {
		return w.wording(code, "", "").is
	}
	return w.reason(s)
}

// reason is s in words. A code says nothing that is not said beside it.
func (w *lexicon) reason(s string) string {
	if sdk.Code(s).Known() {
		return ""
	}
	if says := w.find(reasons, s); says != "" {
		return says
	}
	for _, r := range endings {
		if before, ok := strings.CutSuffix(s, r.word); ok && before != "" {
			says := w.pick(r.en, r.zh)
			if first := w.reason(before); first != "" {
				says = first + w.comma + says
			}
			return says
		}
	}
	for i := range forms {
		if says := forms[i].says(w, s); says != "" {
			return says
		}
	}
	return s
}

// says is s in words, "" if it has another form.
func (f *form) says(w *lexicon, s string) string {
	m := f.match.FindStringSubmatch(s)
	if m == nil {
		return ""
	}
	values := make([]any, len(m)-1)
	for i, group := range m[1:] {
		values[i] = group
		if f.inner && i == len(values)-1 {
			values[i] = w.reason(group)
		}
	}
	return fmt.Sprintf(w.pick(f.en, f.zh), values...)
}
