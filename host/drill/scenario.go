package drill

import "fmt"

// expectation is what must come of a scenario.
type expectation uint8

const (
	// expectAnswer: a whole answer from whoever is left, else a clean error.
	expectAnswer expectation = iota
	// expectSame: a whole answer, and the failing route itself may give it.
	expectSame
	// expectBreak: a whole answer, or one that ends in an error for everybody to see.
	expectBreak
	// expectLarger: a whole answer from a model with a larger window, else the error
	// as it came.
	expectLarger
	// expectRefusal: the error as it came, and nobody else is asked.
	expectRefusal
)

// scenario is one way in which a route fails.
type scenario struct {
	name   string
	en, zh string
	step   string // of the simulated vendor's script
	expect expectation
	wide   bool // every model of the vendor fails
	once   bool // one attempt and no more, for each key if keyed
	keyed  bool
	hint   bool // the vendor says how long to wait: hintSeconds
}

// hintSeconds is the Retry-After of the scenario that has one.
const hintSeconds = 1

// words is the length of the simulated answers, cutAt where some of them break.
const (
	words = 20
	cutAt = 8
)

// scenarios are all of them, in the order in which they are told.
func scenarios() []scenario {
	return []scenario{
		{name: "rate-limit-hint", en: "rate limit, come back in a second", zh: "限流，一秒后再来", step: fmt.Sprintf("429 retry-after=%d; ok", hintSeconds), expect: expectSame, hint: true},
		{name: "rate-limit", en: "rate limit, for ever", zh: "一直限流", step: "429", wide: true},
		{name: "usage-limit", en: "the plan's usage limit is reached", zh: "套餐用量已用完", step: "quota", wide: true, once: true, keyed: true},
		{name: "billing", en: "402, no money left", zh: "402，余额不足", step: "402", wide: true, once: true, keyed: true},
		{name: "key-revoked", en: "401, the key is not known", zh: "401，密钥无效", step: "invalid-key", wide: true, once: true, keyed: true},
		{name: "account-banned", en: "the account is closed", zh: "账号被封", step: "ban", wide: true, once: true, keyed: true},
		{name: "model-gone", en: "no such model any more", zh: "模型已下线", step: "model-gone", once: true},
		{name: "server-error", en: "500, for ever", zh: "一直 500", step: "500"},
		{name: "overloaded", en: "503, for ever", zh: "一直 503", step: "503"},
		{name: "refused", en: "connection refused", zh: "连接被拒", step: "refuse", wide: true},
		{name: "reset", en: "connection reset before headers", zh: "响应头之前连接被重置", step: "reset"},
		{name: "silent", en: "takes the request and never answers", zh: "收下请求却从不回答", step: "hang", once: true},
		{name: "headers-only", en: "headers, then silence", zh: "只有响应头，然后沉默", step: "slow=10m", once: true},
		{name: "error-in-200", en: "an error inside status 200", zh: "200 里面是错误", step: "error-event=0"},
		{name: "empty", en: "status 200 without an answer", zh: "200 但没有内容", step: "empty200"},
		{name: "html-502", en: "a proxy's page with 502", zh: "代理的 502 网页", step: "html502"},
		{name: "dies-midway", en: "connection lost in the middle of the answer", zh: "回答中途断线", step: fmt.Sprintf("cut=%d", cutAt), expect: expectBreak},
		{name: "silent-midway", en: "silent in the middle of the answer", zh: "回答中途沉默", step: fmt.Sprintf("stall=%d", cutAt), expect: expectBreak},
		{name: "truncated", en: "ends in the middle, cleanly, without its last event", zh: "中途“正常”结束，缺少结束事件", step: fmt.Sprintf("eof=%d", cutAt), expect: expectBreak},
		{name: "no-terminator", en: "complete, but without its last line", zh: "内容完整，只缺最后一行", step: "nodone", expect: expectSame},
		{name: "too-long", en: "the prompt is too long", zh: "提示词过长", step: "overflow", expect: expectLarger, once: true},
		{name: "policy", en: "the content is not wanted", zh: "内容不被接受", step: "policy", expect: expectRefusal, once: true},
		{name: "malformed", en: "the request is wrong", zh: "请求有误", step: "invalid-request", expect: expectRefusal, once: true},
	}
}

// script is what the vendor of a failing model plays.
func (s scenario) script(model string) string {
	if s.wide || model == "" {
		return s.step
	}
	return "model=" + model + " => " + s.step + "\nok"
}

// Scenario is one way in which routes fail, for people.
type Scenario struct {
	Name    string `json:"name"`
	About   string `json:"about"`
	Chinese string `json:"about_zh"`
}

// Scenarios are the ways in which each route is made to fail.
func Scenarios() []Scenario {
	var all []Scenario
	for _, s := range scenarios() {
		all = append(all, Scenario{s.name, s.en, s.zh})
	}
	return all
}
