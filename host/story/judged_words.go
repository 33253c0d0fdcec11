package story

// judgedWords are those of Judge.
type judgedWords struct {
	columns                                            int // the widest label, with the gap behind it
	answer, said, decided, words, otherwise, class     string
	concerns, wait, again, nextKey, elsewhere, charged string
	by                                                 string // status, vendor
	unanswered                                         string // vendor
	silent                                             string // no message
	rule                                               string // rule in words, its name
	enough, unknown                                    string // why no wording decided
	alone                                              string // code with words, rule
	classes                                            classWords
	scopes                                             scopeReasons
	noWait                                             string
	waitUntil                                          string // duration, moment
	yes, no                                            string
	once, waited, tooLong, unstated, larger, loopback  string
	ifAny                                              string
	nobody, ownFault, local, nothingSaid               string
	route, vendor, key, keyModel                       string
	atOnce, proof                                      string
	inARow                                             string // count
	out                                                string // duration
	grows                                              string // duration
	named, stated, statedLong                          string // duration; duration; two durations
	halted                                             string
}

type classWords struct{ deterministic, transient, caller, local string }

// scopeReasons say why a failure speaks for what it does.
type scopeReasons struct {
	request, machine   string
	usual              string // code
	money, keyMoney    string
	unreachable        string
	nobody             string
	wording, rule      string
	route, vendor, key string
}

var englishJudged = judgedWords{
	columns:    12,
	answer:     "answer",
	said:       "it said",
	decided:    "decided by",
	words:      "the words",
	otherwise:  "otherwise",
	class:      "class",
	concerns:   "concerns",
	wait:       "wait",
	again:      "same again",
	nextKey:    "next key",
	elsewhere:  "elsewhere",
	charged:    "charged",
	by:         "%s from %s",
	unanswered: "none from %s",
	silent:     "(no message)",
	rule:       "%s (rule %s)",
	enough:     "not looked at: this is specific enough",
	unknown:    "say nothing that is known",
	alone:      "%s, by %s alone",
	classes: classWords{
		deterministic: "it stays so until somebody acts or a period ends",
		transient:     "it may pass by itself",
		caller:        "the request's own fault",
		local:         "this machine's own fault",
	},
	scopes: scopeReasons{
		request:     "this request only: the fault is its own",
		machine:     "no vendor: the fault is this machine's",
		usual:       "as %s does where the answer names nothing else",
		money:       "since money is a matter of the whole account",
		keyMoney:    "since the key has a budget of its own",
		unreachable: "since nothing reaches it",
		nobody:      "nobody: the same vendor and model serve other requests",
		wording:     "as its wording says",
		rule:        "as this answer of this vendor says",
		route:       "this model of the vendor",
		vendor:      "the whole vendor",
		key:         "the key",
	},
	noWait:      "none was named",
	waitUntil:   "%s, until %s",
	yes:         "yes, the candidates in their order",
	no:          "no",
	once:        "once, after a moment",
	waited:      "once, after that wait",
	tooLong:     "no, the wait is too long",
	unstated:    "no, unless nobody else can serve",
	larger:      "only candidates with a larger context window",
	loopback:    "only candidates on this machine",
	ifAny:       "yes, if the vendor has one",
	nobody:      "nobody",
	ownFault:    "the fault is the request's",
	local:       "the fault is this machine's",
	nothingSaid: "it says nothing against the vendor",
	route:       "the model",
	vendor:      "the whole vendor",
	key:         "the key",
	keyModel:    "the key's use of the model",
	atOnce:      "at once",
	proof:       "once another vendor has answered, else it was this machine's network",
	inARow:      "when it happens %d times in a row",
	out:         "paused for %s",
	grows:       "doubled each time up to %s, until a success",
	named:       "paused for the %s that were named",
	stated:      "at least for the %s that were named",
	statedLong:  "for the %s that were named, but for a test %s after each attempt",
	halted:      "when every key is limited, nothing at all is asked for 30s",
}

var chineseJudged = judgedWords{
	columns:    6,
	answer:     "回答",
	said:       "原话",
	decided:    "依据",
	words:      "字句",
	otherwise:  "否则",
	class:      "类别",
	concerns:   "影响",
	wait:       "等待",
	again:      "再问",
	nextKey:    "换钥",
	elsewhere:  "别处",
	charged:    "记在",
	by:         "%s，来自 %s",
	unanswered: "%s 没有回答",
	silent:     "（没有说明）",
	rule:       "%s（规则 %s）",
	enough:     "不看：依据已够具体",
	unknown:    "没有认得的说法",
	alone:      "%s，只凭%s",
	classes: classWords{
		deterministic: "有人处理或周期结束之前都是这样",
		transient:     "可能自己过去",
		caller:        "请求本身的错",
		local:         "本机的错",
	},
	scopes: scopeReasons{
		request:     "只有这个请求：错在它本身",
		machine:     "不涉及供应商：错在本机",
		usual:       "回答没有另外指明时 %s 就是如此",
		money:       "钱是整个账号的事",
		keyMoney:    "这把密钥有自己的额度",
		unreachable: "什么也到不了它那里",
		nobody:      "谁也不影响：同一供应商和模型照常回答别的请求",
		wording:     "它的措辞这么说",
		rule:        "这个供应商的这种回答就是如此",
		route:       "供应商的这个模型",
		vendor:      "整个供应商",
		key:         "这把密钥",
	},
	noWait:      "没有说",
	waitUntil:   "%s，到 %s",
	yes:         "问，按候选的顺序",
	no:          "不",
	once:        "稍等再问一次",
	waited:      "等过之后再问一次",
	tooLong:     "不，要等太久",
	unstated:    "不，除非没有别的可用",
	larger:      "只问上下文窗口更大的候选",
	loopback:    "只问本机上的候选",
	ifAny:       "换，如果供应商还有别的密钥",
	nobody:      "谁也不记",
	ownFault:    "错在请求",
	local:       "错在本机",
	nothingSaid: "这不说明供应商有问题",
	route:       "这个模型",
	vendor:      "整个供应商",
	key:         "这把密钥",
	keyModel:    "这把密钥对这个模型的使用",
	atOnce:      "立即",
	proof:       "等别的供应商答过才算，否则是本机网络的事",
	inARow:      "连续 %d 次时",
	out:         "暂停 %s",
	grows:       "每次加倍，最长 %s，成功为止",
	named:       "暂停它说的 %s",
	stated:      "至少暂停它说的 %s",
	statedLong:  "暂停它说的 %s，但每次尝试后 %s可试探一次",
	halted:      "密钥都被限流时，30 秒内什么也不问",
}
