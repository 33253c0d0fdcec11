package story

import "spillway/sdk"

// reason is one word of the failover plugin's record in both languages.
type reason struct{ word, en, zh string }

// reasons has the words with which candidates are passed over and requests go
// on or end.
var reasons = []reason{
	{"circuit open", "paused", "已暂停"},
	{"vendor out", "its vendor is paused", "整个供应商已暂停"},
	{"probe under way", "another request is testing it", "另一个请求正在试探"},
	{"half-open", "on trial", "试探中"},
	{"vendor budget", "its vendor was asked often enough for one request", "一个请求问这个供应商的次数已够多"},
	{"vendor unreachable", "its vendor could not be reached", "供应商无法到达"},
	{"window not larger", "its context window is not larger", "它的上下文窗口并不更大"},
	{"local network down", "this machine's network is down", "本机网络不通"},
	{"unknown provider", "no such provider in this profile", "配置里没有这个供应商"},
	{"no model advertised", "its vendor lists no model", "供应商没有列出模型"},

	{"head", "as the caller wished", "调用方指定"},
	{"head is out", "what the caller wished is paused", "调用方指定的已暂停"},
	{"everything is out", "early, since everything else is paused", "提前试探，因为其余都已暂停"},

	{"attempt budget", "the request has had all its attempts", "一个请求的尝试次数已用完"},
	{"route budget", "the request has asked as many models as it may", "一个请求可问的模型数已用完"},
	{"deadline", "the time for an answer is over", "作答的时间已用完"},
	{"nothing left", "no other candidate can serve it now", "现在没有别的可用"},
	{"caller", "the cause lies in the request itself", "原因在请求本身"},
	{"local", "the cause lies in this machine", "原因在本机"},
	{"the answer had begun", "part of the answer had been handed out", "回答已经交出一部分"},
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
	for _, r := range reasons {
		if r.word == s {
			return w.pick(r.en, r.zh)
		}
	}
	return s
}
